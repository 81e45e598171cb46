package vmlab

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/internal/imagebuild"
)

// kernelArgs let a machine without a screen be followed, and come back after a panic.
const kernelArgs = "console=ttyS0 panic=10"

// Where Debian's package ipxe has the first boot programs.
const (
	ipxeUEFI = "/usr/lib/ipxe/snponly.efi"
	ipxeBIOS = "/usr/lib/ipxe/undionly.kpxe"
)

// prepare stages what the machines boot: iPXE, the image that enrolls, made of Debian's
// kernel and noded, and the same one as the image of rescue.
func (l *Lab) prepare(ctx context.Context) error {
	began := l.Now()
	deb, err := os.Open(l.Kernel)
	if err != nil {
		return &Missing{"a kernel package", "apt-get download linux-image-cloud-amd64's newest and name it with --kernel (" + err.Error() + ")"}
	}
	defer deb.Close()
	kernel, err := imagebuild.FromPackage(deb)
	if err != nil {
		return err
	}
	noded, err := os.ReadFile(filepath.Join(l.Bin, "noded"))
	if err != nil {
		return &Missing{"noded in " + l.Bin, buildNext(l.Bin)}
	}
	initrd, modules, err := imagebuild.Enroll{Kernel: kernel, Noded: noded}.Initrd()
	if err != nil {
		return err
	}
	l.say("site", "built", fmt.Sprintf("kernel %s of %d KiB, RAM disk of %d KiB with %d modules, in %.1f s", kernel.Release, len(kernel.Image)>>10, len(initrd)>>10, len(modules), l.Now().Sub(began).Seconds()))
	return l.stage(ctx, kernel.Image, initrd)
}

func buildNext(bin string) string {
	return "CGO_ENABLED=0 go build -trimpath -o " + bin + " ./cmd/ingotd ./cmd/booterd ./cmd/noded"
}

func (l *Lab) stage(ctx context.Context, kernel, initrd []byte) error {
	began := l.Now()
	s, err := images.Create(l.Images)
	if err != nil {
		return err
	}
	defer s.Close()
	var total int64
	put := func(name string, boots map[booter.Platform]images.Boots, content map[string][]byte) error {
		m, sources := images.Manifest{Name: name, Boots: boots}, map[string]images.Source{}
		for _, file := range slices.Sorted(maps.Keys(content)) {
			m.Files = append(m.Files, images.File{Name: file})
			sources[file] = images.Source{Reader: bytes.NewReader(content[file])}
			total += int64(len(content[file]))
		}
		_, err := s.Stage(ctx, m, sources, nil)
		return err
	}
	first := map[string][]byte{}
	for _, path := range []string{ipxeUEFI, ipxeBIOS} {
		if first[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			return &Missing{path, "apt-get install ipxe"}
		}
	}
	if err := put("ipxe", map[booter.Platform]images.Boots{booter.X64: {Loader: filepath.Base(ipxeUEFI)}, booter.BIOS: {Loader: filepath.Base(ipxeBIOS)}}, first); err != nil {
		return err
	}
	for _, name := range []string{"enroll", "rescue"} {
		boots := map[booter.Platform]images.Boots{images.Any: {Kernel: "vmlinuz", Initrds: []string{"initrd.img"}, Args: kernelArgs}}
		if err := put(name, boots, map[string][]byte{"vmlinuz": kernel, "initrd.img": initrd}); err != nil {
			return err
		}
	}
	l.say("site", "staged", fmt.Sprintf("images ipxe, enroll and rescue, %d MiB in %.1f s", total>>20, l.Now().Sub(began).Seconds()))
	return nil
}
