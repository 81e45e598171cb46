package imagebuild

import (
	"io"
	"io/fs"
	"strings"

	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/deb"
	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/kmod"
)

// A Kernel is one that boots, with its modules.
type Kernel struct {
	Image   []byte
	Release string // such as 6.1.0-57-amd64; "" where the image does not say
	Arch    Arch
	Modules kmod.Set
}

// MaxKernel bounds a kernel, in bytes.
const MaxKernel = deb.MaxFile

// FromPackage takes the kernel of a Debian package, such as linux-image-6.1.0-57-amd64,
// which takes as much memory as its modules, unpacked: 90 to 330 MiB. The error is an
// *Invalid, one of deb's or kmod's, or that of reading.
func FromPackage(r io.Reader) (Kernel, error) {
	var image []byte
	found := kernels{}
	var p parts
	err := deb.Walk(r, func(name string) bool {
		return strings.HasPrefix(name, "boot/vmlinuz") || strings.HasPrefix(name, "boot/vmlinux") || p.wants(name)
	}, func(name string, body []byte) error {
		if strings.HasPrefix(name, "boot/") {
			found = append(found, name)
			image = body
			return nil
		}
		return p.take(name, body)
	})
	if err != nil {
		return Kernel{}, err
	}
	if len(found) != 1 {
		return Kernel{}, &Invalid{"package", found.String(), "want a package with one kernel, such as Debian's linux-image-6.1.0-57-amd64 (not linux-image-amd64, which holds none)"}
	}
	return p.kernel(image)
}

// kernels are the names of those that were found.
type kernels []string

func (k kernels) String() string {
	if len(k) == 0 {
		return "no kernel"
	}
	return strings.Join(k, " and ")
}

// FromFiles takes a kernel and the folder with its modules, lib/modules/RELEASE of the
// system that it was built for; modules may be nil. The errors are those of
// FromPackage.
func FromFiles(image []byte, modules fs.FS) (Kernel, error) {
	var p parts
	if modules == nil {
		return p.kernel(image)
	}
	err := fs.WalkDir(modules, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !p.wants("lib/modules/x/"+name) {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Size() > deb.MaxFile {
			return &kmod.Invalid{Path: name, Why: "is too large"}
		}
		body, err := fs.ReadFile(modules, name)
		if err != nil {
			return err
		}
		return p.take("lib/modules/x/"+name, body)
	})
	if err != nil {
		return Kernel{}, err
	}
	return p.kernel(image)
}

// parts are what a kernel is put together from.
type parts struct {
	modules []kmod.Module
	builtin string
	release string // as a module says
}

// wants reports whether a file belongs to a kernel's modules. Debian 13 has them below
// usr.
func (*parts) wants(name string) bool {
	name = strings.TrimPrefix(name, "usr/")
	return strings.HasPrefix(name, "lib/modules/") && (kmod.IsModule(name) || strings.HasSuffix(name, "/modules.builtin"))
}

// take takes in such a file.
func (p *parts) take(name string, body []byte) error {
	below := strings.TrimPrefix(strings.TrimPrefix(name, "usr/"), "lib/modules/")
	_, below, _ = strings.Cut(below, "/") // the release
	if below == "modules.builtin" {
		p.builtin = string(body)
		return nil
	}
	m, err := kmod.Read(below, body)
	if err != nil {
		return err
	}
	if p.release != "" && m.Release != "" && m.Release != p.release {
		return &Invalid{"modules", m.Path + " of " + m.Release, "want those of one kernel, and others are of " + p.release}
	}
	p.release = m.Release
	p.modules = append(p.modules, m)
	return nil
}

// kernel holds the parts against each other.
func (p *parts) kernel(image []byte) (Kernel, error) {
	arch, release, err := inspect(image)
	if err != nil {
		return Kernel{}, err
	}
	if release != "" && p.release != "" && release != p.release {
		return Kernel{}, &Invalid{"modules", "of " + p.release, "want those of the kernel, which is " + release}
	}
	return Kernel{Image: image, Release: release, Arch: arch, Modules: kmod.NewSet(p.modules, p.builtin)}, nil
}
