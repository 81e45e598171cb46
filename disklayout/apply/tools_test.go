package apply_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
)

// tools are the programs that judge an installed disk, and their Debian packages.
var tools = map[string]string{"sgdisk": "gdisk", "sfdisk": "fdisk", "fsck.fat": "dosfstools", "blkid": "util-linux", "losetup": "util-linux"}

// need skips where a program is missing, unless everything is to be tested.
func need(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		lacking(t, program+" is missing: install "+tools[program])
	}
}

func lacking(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("INGOT_TEST_ALL") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

func run(t testing.TB, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %q: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// sparse is a file of d's size that plays d.
func sparse(t testing.TB, d disklayout.Disk) apply.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(d.Size)); err != nil {
		lacking(t, fmt.Sprintf("no sparse file of %d bytes here (%v): set TMPDIR to a file system that has them", d.Size, err))
	}
	return apply.File{Path: path, Disk: d}
}

// announced plans on a source as a machine announces it.
func announced(t testing.TB, s apply.Source, req disklayout.Request) apply.Order {
	t.Helper()
	disks, missed := apply.Inventory([]apply.Source{s})
	if len(missed) > 0 {
		t.Fatal(missed[0])
	}
	stamp := stampOf(own, 0)
	p, err := disklayout.Realize(req, disks, stamp)
	if err != nil {
		t.Fatal(err)
	}
	stamp.Epoch = 7
	return apply.Order{Plan: p, Stamp: stamp, Approved: p.Digest}
}

var sizes = []uint64{64 * mib, 2 * gib, 240_057_409_536 + 7*512, 3 << 40, 5 << 40}

func sized(size uint64, sector uint32) (disklayout.Disk, disklayout.Request) {
	req := disklayout.Request{Layout: disklayout.GPT, Disks: []disklayout.Selector{{Serial: "S1"}}}
	if size <= gib {
		req.ESP, req.Root = disklayout.MinESP, 4*mib
	} else {
		req.Root = 512 * mib
	}
	return described("S1", size, sector), req
}

// TestToolsAgreeOnFiles lets the tools read installed disks.
func TestToolsAgreeOnFiles(t *testing.T) {
	for _, size := range sizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			d, req := sized(size, 512)
			f := sparse(t, d)
			o := announced(t, f, req)
			if _, err := install(t, o, nil, f); err != nil {
				t.Fatal(err)
			}
			judge(t, f.Path, &o.Plan)
		})
	}
}

func judge(t *testing.T, device string, p *disklayout.Plan) {
	t.Helper()
	esp := &p.Table.Parts[0]
	t.Run("sgdisk", func(t *testing.T) {
		need(t, "sgdisk")
		out := run(t, "sgdisk", "-v", device)
		if !strings.Contains(out, "No problems found") || strings.Contains(strings.ToLower(out), "warning") || strings.Contains(out, "aution") {
			t.Errorf("sgdisk finds a problem: %s", out)
		}
	})
	t.Run("sfdisk", func(t *testing.T) {
		need(t, "sfdisk")
		out := run(t, "sfdisk", "-d", device)
		for _, part := range p.Table.Parts {
			want := fmt.Sprintf(`start=\s*%d, size=\s*%d, type=%s, uuid=%s, name="%s"`, part.First, part.Last-part.First+1,
				strings.ToUpper(part.Type.String()), strings.ToUpper(part.UUID.String()), part.Name)
			if !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("no %s in %s", want, out)
			}
		}
		if want := "label-id: " + strings.ToUpper(p.Table.DiskGUID.String()); !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out)
		}
	})
	t.Run("fsck.fat", func(t *testing.T) {
		need(t, "fsck.fat")
		out := run(t, "fsck.fat", "-n", "-v", extract(t, device, esp))
		if strings.Contains(out, "differences") || strings.Contains(out, "wrong") || !strings.Contains(out, "0 files, ") && !strings.Contains(out, "1 files, ") {
			t.Errorf("fsck.fat finds a problem: %s", out)
		}
	})
	t.Run("blkid", func(t *testing.T) {
		need(t, "blkid")
		if out := run(t, "blkid", "-p", "-o", "export", device); !strings.Contains(out, "PTTYPE=gpt") || !strings.Contains(out, "PTUUID="+p.Table.DiskGUID.String()) {
			t.Errorf("blkid sees %s", out)
		}
		out := run(t, "blkid", "-p", "-o", "export", "-O", fmt.Sprint(esp.Start), "-S", fmt.Sprint(esp.Size), device)
		if !strings.Contains(out, "TYPE=vfat") || !strings.Contains(out, "VERSION=FAT32") || !strings.Contains(out, "LABEL=ESP") {
			t.Errorf("blkid sees %s", out)
		}
	})
}

// extract copies a partition into a file.
func extract(t *testing.T, device string, p *disklayout.Part) string {
	t.Helper()
	in, err := os.Open(device)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(filepath.Join(t.TempDir(), "esp"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := out.Truncate(int64(p.Size)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, mib)
	for at := int64(0); at < min(int64(p.Size), 64*mib); at += mib { // the rest is zero
		n, err := in.ReadAt(buf, int64(p.Start)+at)
		if err != nil && err != io.EOF {
			t.Fatal(err)
		}
		if strings.Trim(string(buf[:n]), "\x00") == "" {
			continue
		}
		if _, err := out.WriteAt(buf[:n], at); err != nil {
			t.Fatal(err)
		}
	}
	return out.Name()
}
