package vmlab

import (
	"bytes"
	"context"
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/internal/imagebuild"
	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/uki"
)

// kernelArgs let a machine without a screen be followed, and come back after a panic.
const kernelArgs = "console=ttyS0 panic=10"

// fromDisk is an argument of the kernel on the written disk, which its agent repeats on
// the console, and so says that it came from there.
const fromDisk = "lab.from=disk"

// fromMedium is the same of the kernel on a medium for a virtual drive.
const fromMedium = "lab.from=medium"

// rootSize is that of the installed root, in bytes.
const rootSize = 256 << 20

// Where Debian's packages have what the lab boots.
const (
	ipxeUEFI     = "/usr/lib/ipxe/snponly.efi"                   // ipxe
	ipxeBIOS     = "/usr/lib/ipxe/undionly.kpxe"                 // ipxe
	stubFile     = "/usr/lib/systemd/boot/efi/linuxx64.efi.stub" // systemd-boot-efi
	snakeoilKey  = "/usr/share/ovmf/PkKek-1-snakeoil.key"        // ovmf: its firmware with Secure Boot trusts this key, which the world knows
	snakeoilCert = "/usr/share/ovmf/PkKek-1-snakeoil.pem"        // ovmf
	snakeoilPass = "snakeoil"                                    // as its package says
)

// made is what was built for the machines.
type made struct {
	kernel, initrd []byte
	enroll         []byte // unified kernel image, signed, which takes its arguments from whoever starts it
	disk           []byte // the same with arguments of its own, for the written disk
	medium         []byte // and with others, for a virtual drive
	loader         []byte // iPXE for UEFI, signed
	unsigned       []byte // the same, as its package has it
	root           string // file of the root to install
	noded          int    // size, in bytes
}

// prepare builds and stages what the machines boot and are written with.
func (l *Lab) prepare(ctx context.Context) error {
	began := l.Now()
	m, err := l.build()
	if err != nil {
		return err
	}
	l.say("site", "built", fmt.Sprintf("noded of %d KiB, kernel of %d KiB, RAM disk of %d KiB, unified kernel images of %d KiB, root of %d MiB, in %.1f s",
		m.noded>>10, len(m.kernel)>>10, len(m.initrd)>>10, len(m.enroll)>>10, rootSize>>20, l.Now().Sub(began).Seconds()))
	return l.stage(ctx, m)
}

func (l *Lab) build() (m made, err error) {
	deb, err := os.Open(l.Kernel)
	if err != nil {
		return m, err
	}
	defer deb.Close()
	kernel, err := imagebuild.FromPackage(deb)
	if err != nil {
		return m, &BadKernel{l.Kernel, err}
	}
	noded, err := os.ReadFile(filepath.Join(l.Bin, "noded"))
	if err != nil {
		return m, err
	}
	m.kernel, m.noded, l.usb = kernel.Image, len(noded), kernel.Modules.Has("usb_storage")
	if m.initrd, _, err = (imagebuild.Enroll{Kernel: kernel, Noded: noded}).Initrd(); err != nil {
		return m, err
	}
	if err := m.signed(kernel); err != nil {
		return m, err
	}
	m.root = filepath.Join(l.Dir, "root.img")
	f, err := os.OpenFile(m.root, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return m, err
	}
	defer f.Close()
	return m, imagebuild.Installed{Name: "server", RootSize: rootSize, Boot: m.disk}.Root(f)
}

// signed makes what UEFI starts, signed with the key that Debian's firmware trusts.
func (m *made) signed(kernel imagebuild.Kernel) error {
	files := map[string][]byte{}
	for _, path := range []string{stubFile, snakeoilKey, snakeoilCert, ipxeUEFI} {
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files[path] = raw
	}
	key, err := uki.ParseKey(files[snakeoilKey], []byte(snakeoilPass))
	if err != nil {
		return err
	}
	cert, err := uki.ParseCertificate(files[snakeoilCert])
	if err != nil {
		return err
	}
	s := signer{key, cert, imagebuild.Unified{Stub: files[stubFile], Kernel: kernel, Initrd: m.initrd, Name: "ingot lab"}}
	if m.enroll, err = s.unified(""); err != nil {
		return err
	}
	if m.disk, err = s.unified(kernelArgs + " " + fromDisk); err != nil {
		return err
	}
	if m.medium, err = s.unified(kernelArgs + " " + fromMedium); err != nil {
		return err
	}
	m.unsigned = files[ipxeUEFI]
	m.loader, err = uki.Sign(files[ipxeUEFI], key, cert)
	return err
}

type signer struct {
	key  crypto.Signer
	cert *x509.Certificate
	base imagebuild.Unified
}

func (s signer) unified(args string) ([]byte, error) {
	s.base.Args = args
	raw, err := s.base.Build()
	if err != nil {
		return nil, err
	}
	return uki.Sign(raw, s.key, s.cert)
}

func buildNext(bin string) string {
	return "CGO_ENABLED=0 go build -trimpath -o " + bin + " ./cmd/ingotd ./cmd/booterd ./cmd/noded"
}

// stage stages the images.
func (l *Lab) stage(ctx context.Context, m made) error {
	bios, err := os.ReadFile(ipxeBIOS)
	if err != nil {
		return err
	}
	root, err := os.ReadFile(m.root)
	if err != nil {
		return err
	}
	if err := l.stageAll(ctx, bios, root, m); err != nil {
		return err
	}
	return os.Remove(m.root)
}

// stageAll stages first boot programs, what enrolls, rescue, what is installed, and one
// that starts the machine's own disk.
func (l *Lab) stageAll(ctx context.Context, bios, root []byte, m made) error {
	began := l.Now()
	s, err := images.Create(l.Images)
	if err != nil {
		return err
	}
	defer s.Close()
	enroll := map[booter.Platform]images.Boots{booter.BIOS: {Kernel: "vmlinuz", Initrds: []string{"initrd.img"}, Args: kernelArgs}, booter.X64: {EFI: "enroll.efi", Args: kernelArgs}}
	files := map[string][]byte{"vmlinuz": m.kernel, "initrd.img": m.initrd, "enroll.efi": m.enroll}
	var total int64
	for _, i := range []struct {
		m       images.Manifest
		content map[string][]byte
	}{
		{images.Manifest{Name: "ipxe", Boots: map[booter.Platform]images.Boots{booter.X64: {Loader: "ipxe.efi"}, booter.BIOS: {Loader: "undionly.kpxe"}}}, map[string][]byte{"ipxe.efi": m.loader, "undionly.kpxe": bios}},
		{images.Manifest{Name: unsignedLoader, Boots: map[booter.Platform]images.Boots{booter.X64: {Loader: "ipxe.efi"}}}, map[string][]byte{"ipxe.efi": m.unsigned}},
		{images.Manifest{Name: "enroll", Boots: enroll}, files},
		{images.Manifest{Name: "rescue", Boots: enroll}, files},
		{images.Manifest{Name: "server", Disk: "root.img", ESP: "server.efi"}, map[string][]byte{"root.img": root, "server.efi": m.disk}},
		{images.Manifest{Name: "local", Boots: map[booter.Platform]images.Boots{images.Any: {Local: true}}}, nil},
	} {
		n, err := put(ctx, s, i.m, i.content)
		if err != nil {
			return err
		}
		total += n
	}
	l.root, l.boot = digest(root), digest(m.disk)
	l.local, l.medium = m.disk, m.medium
	l.say("site", "staged", fmt.Sprintf("images ipxe, enroll, rescue, server and local, %d MiB in %.1f s", total>>20, l.Now().Sub(began).Seconds()))
	return nil
}

func digest(b []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(b)) }

// put stages one image, and returns how many bytes it has.
func put(ctx context.Context, s *images.Store, m images.Manifest, content map[string][]byte) (n int64, err error) {
	sources := map[string]images.Source{}
	for _, file := range slices.Sorted(maps.Keys(content)) {
		m.Files = append(m.Files, images.File{Name: file})
		sources[file] = images.Source{Reader: bytes.NewReader(content[file])}
		n += int64(len(content[file]))
	}
	_, err = s.Stage(ctx, m, sources, nil)
	return n, err
}
