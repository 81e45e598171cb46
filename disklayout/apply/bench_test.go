package apply_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/ingotmetal/ingot/disklayout/apply"
	"github.com/ingotmetal/ingot/disklayout/probe"
)

// BenchmarkInstall installs on a sparse file of 2 GiB: a table, an ESP of 512
// MiB, and everything read back. The peers are sgdisk and mkfs.vfat, which read
// nothing back.
func BenchmarkInstall(b *testing.B) {
	d, req := sized(2*gib, 512)
	b.Run("ingot", func(b *testing.B) {
		f := sparse(b, d)
		o := announced(b, f, req)
		for b.Loop() {
			blank(b, f)
			if _, err := install(b, o, nil, f); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sgdisk and mkfs.vfat", func(b *testing.B) {
		need(b, "sgdisk")
		if _, err := exec.LookPath("mkfs.vfat"); err != nil {
			lacking(b, "mkfs.vfat is missing: install dosfstools")
		}
		f := sparse(b, d)
		for b.Loop() {
			blank(b, f)
			run(b, "sgdisk", "--clear", "--new=1:2048:+512M", "--typecode=1:EF00", "--new=2:0:+512M", "--new=3:0:0", f.Path)
			run(b, "mkfs.vfat", "-F", "32", "--offset", fmt.Sprint(2048), f.Path, fmt.Sprint(512<<10))
		}
	})
}

// blank makes the file empty again.
func blank(b *testing.B, f apply.File) {
	b.Helper()
	for _, size := range []int64{0, int64(f.Disk.Size)} {
		if err := os.Truncate(f.Path, size); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLook probes an installed disk: all of it and three partitions.
func BenchmarkLook(b *testing.B) {
	d, req := sized(2*gib, 512)
	f := sparse(b, d)
	if _, err := install(b, announced(b, f, req), nil, f); err != nil {
		b.Fatal(err)
	}
	r, err := f.Look()
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := probe.Look(r, int64(d.Size), 512); err != nil {
			b.Fatal(err)
		}
	}
}
