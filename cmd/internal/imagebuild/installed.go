package imagebuild

import (
	"crypto/sha256"
	"fmt"
	"os"

	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/rootfs"
)

// An Installed is what a disk is written with.
type Installed struct {
	Name     string // of the image, in its os-release
	RootSize int64  // bytes, a whole number of MiB
	Boot     []byte // the program that firmware starts from the disk; it is put onto the ESP, not into the root
}

// BootDigestFile is the file of the root that names the boot program it was made with.
const BootDigestFile = "etc/ingot/boot"

// Root makes the image of the root partition in the empty file f: an ext4 with
// /etc/os-release and the digest of the boot program. The error is a *rootfs.Invalid,
// or f's.
func (i Installed) Root(f *os.File) error {
	sum := sha256.Sum256(i.Boot)
	id := sha256.Sum256(append([]byte("ingot root "+i.Name+" "), sum[:]...))
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // a UUID of version 8
	return rootfs.Write(f, i.RootSize, [16]byte(id[:16]), "root", map[string][]byte{
		"etc/os-release": []byte(osRelease(i.Name, fmt.Sprintf("%x", sum[:8]))),
		BootDigestFile:   fmt.Appendf(nil, "sha256:%x\n", sum),
	})
}
