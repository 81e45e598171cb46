package httpboot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path"
	"strings"
	"time"
)

// Content is what a client is served.
type Content struct {
	// Body is read from 0 to Size. If it is an io.ReadSeeker too, it is read through
	// that, by this request alone: so the kernel sends an *os.File, or what is like
	// one, without a copy. If it is an io.Closer, it is closed after the transfer.
	Body io.ReaderAt
	Size int64

	Digest   string    // the SHA-256 in hexadecimal digits, which makes the ETag; "" for none
	Type     string    // of MIME; "" is application/octet-stream
	Modified time.Time // when the content came to be, for If-Unmodified-Since; zero for not known
}

// Text is content that was made for a request, such as a script.
func Text(mime string, body []byte) Content {
	sum := sha256.Sum256(body)
	return Content{Body: bytes.NewReader(body), Size: int64(len(body)), Digest: hex.EncodeToString(sum[:]), Type: mime}
}

func (c Content) close() {
	if closer, ok := c.Body.(io.Closer); ok {
		_ = closer.Close()
	}
}

// reader is the body to be read and sought in.
func (c Content) reader() io.ReadSeeker {
	if rs, ok := c.Body.(io.ReadSeeker); ok {
		return rs
	}
	return io.NewSectionReader(c.Body, 0, c.Size)
}

// A Role is what a file is for.
type Role string

// The roles.
const (
	Program Role = "program" // what UEFI firmware starts
	Disk    Role = "disk"    // what it starts as a disk, or what is installed
	Script  Role = "script"  // text that a loader obeys
	Data    Role = "data"    // everything else: kernels, initrds, programs for BIOS
)

// TypeOf is the MIME type of a file: UEFI's HTTP boot chooses by it how to start what it
// loaded, before the name's end (UEFI 2.10 section 24.7.3.2).
func TypeOf(name string, role Role) string {
	end := strings.ToLower(path.Ext(name))
	switch {
	case end == ".efi", role == Program:
		return "application/efi"
	case role == Disk && end == ".iso":
		return "application/vnd.efi-iso"
	case role == Disk && end == ".img":
		return "application/vnd.efi-img"
	case role == Script, end == ".ipxe", end == ".cfg", end == ".txt":
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}
