package tftp

import (
	"io"
	"net/netip"
)

// A Request is a client's wish for a file.
type Request struct {
	Client netip.AddrPort // source of the request; IPv4 in its 4-byte form
	Local  netip.Addr     // the address that was asked, from which the answer comes; invalid if unknown
	Name   string         // a path that passes fs.ValidPath, at most 255 bytes without control characters
}

// A File is what a transfer sends. Size is asked once and must hold until
// Close. ReadAt is called by one goroutine at a time. *os.File needs a Size of
// its own; *io.SectionReader and *bytes.Reader a Close.
type File interface {
	io.ReaderAt
	io.Closer
	Size() int64
}
