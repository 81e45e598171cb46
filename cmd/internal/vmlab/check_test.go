package vmlab

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// full is a host with all that a lab needs, but for one thing.
func full(lacks string) host {
	look := func(what string) error {
		if what == lacks {
			return fs.ErrNotExist
		}
		return nil
	}
	return host{look, look, look}
}

// Whatever is missing is named before anything is made, with what to do.
func TestMissing(t *testing.T) {
	o := Options{Dir: "lab", Bin: "bin", Kernel: "linux.deb", Firmware: DebianFirmware()}
	must(t, o.check(full("nothing")))
	all := map[string]string{"/dev/net/tun": "modprobe tun", "linux.deb": "--kernel", "bin/noded": "go build", "bin/ingotd": "go build", "bin/booterd": "go build"}
	for _, n := range append(programs(), o.Firmware.files()...) {
		all[n.what] = "apt-get install " + n.debian
	}
	if len(all) != 17 {
		t.Errorf("%d things are needed", len(all))
	}
	for what, next := range all {
		err := o.check(full(what))
		if m, ok := errors.AsType[*Missing](err); !ok || m.Code() != "UNSUPPORTED" || !strings.Contains(m.What, filepath.Base(what)) || !strings.Contains(m.Next, next) {
			t.Errorf("%s: %v", what, err)
		}
	}
	locked := full("nothing")
	locked.device = func(string) error { return syscall.EPERM }
	if err := o.check(locked); err == nil || !strings.Contains(err.Error(), "chmod 0666 /dev/net/tun (operation not permitted)") {
		t.Errorf("%v", err)
	}
}

// This host is looked at in earnest.
func TestMissingHere(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Open(t.Context(), Options{Dir: filepath.Join(t.TempDir(), "lab"), Now: time.Now})
	if m, ok := errors.AsType[*Missing](err); !ok || m.What != "qemu-system-x86_64" {
		t.Errorf("%v", err)
	}
	if thisHost().file("/nowhere") == nil || thisHost().device("/") == nil {
		t.Error("what is not there is found")
	}
}

// A folder that sockets or QEMU could not live with is refused; so is one that is there.
func TestFolder(t *testing.T) {
	for dir, want := range map[string]string{strings.Repeat("x", 100): "at most 93", "a,b": "no comma"} {
		err := Options{Dir: dir}.check(full("nothing"))
		if i, ok := errors.AsType[*Invalid](err); !ok || !strings.Contains(i.Want, want) {
			t.Errorf("%v", err)
		}
	}
	must(t, Options{Dir: strings.Repeat("x", 93), Firmware: DebianFirmware()}.check(full("nothing")))
	dir := t.TempDir()
	if e, ok := errors.AsType[*Exists](Folder(dir)); !ok || e.Code() != "CONFLICT" || !strings.Contains(e.Error(), dir) {
		t.Errorf("%v", e)
	}
	if i, ok := errors.AsType[*Invalid](Folder(filepath.Join(dir, "no", "lab"))); !ok {
		t.Errorf("%v", i)
	}
}

// The daemons' configuration wants absolute paths, whatever --out was given.
func TestRooted(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	must(t, err)
	if o := (Options{Dir: "lab", Images: "lab/images"}).rooted(); o.Dir != here+"/lab" || o.Images != here+"/lab/images" {
		t.Errorf("%+v", o)
	}
	if o := (Options{Dir: "/x/lab"}).rooted(); o.Dir != "/x/lab" {
		t.Errorf("%+v", o)
	}
}

// deb is a Debian package with one file.
func deb(t *testing.T, name string, body []byte) []byte {
	var data bytes.Buffer
	z := gzip.NewWriter(&data)
	w := tar.NewWriter(z)
	must(t, w.WriteHeader(&tar.Header{Name: "./" + name, Mode: 0o644, Size: int64(len(body))}))
	_, err := w.Write(body)
	must(t, errors.Join(err, w.Close(), z.Close()))
	var out bytes.Buffer
	out.WriteString("!<arch>\n")
	for _, m := range []struct {
		name string
		body []byte
	}{{"debian-binary", []byte("2.0\n")}, {"data.tar.gz", data.Bytes()}} {
		fmt.Fprintf(&out, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", m.name, 0, 0, 0, "100644", len(m.body))
		out.Write(m.body)
		if len(m.body)%2 == 1 {
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}

// A package that gives no kernel is named, with what is wrong with it, and the folder is
// gone.
func TestBadKernel(t *testing.T) {
	whole := deb(t, "boot/vmlinuz-6.1", bytes.Repeat([]byte("kernel"), 10000))
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"no package":       {[]byte("MZ\x90"), "deb: the package"},
		"empty":            {nil, "deb: the package"},
		"cut short":        {whole[:len(whole)-30], "deb: the package"},
		"a page of a site": {[]byte("<!doctype html><title>404</title>"), "deb: the package"},
		"another package":  {deb(t, "usr/bin/true", []byte("x")), "no kernel"},
		"a bad kernel":     {whole, "kernel"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "linux.deb")
			must(t, os.WriteFile(file, c.raw, 0o600))
			l := &Lab{Options: Options{Dir: filepath.Join(dir, "lab"), Kernel: file, Out: io.Discard, Now: time.Now}}
			must(t, Folder(l.Dir))
			err := l.making(t.Context(), l.prepare)
			if b, ok := errors.AsType[*BadKernel](err); !ok || b.Code() != "INVALID_INPUT" || !strings.Contains(err.Error(), "taking the kernel of "+file) || !strings.Contains(b.Err.Error(), c.want) || !strings.Contains(err.Error(), "apt-get download") {
				t.Errorf("%v", err)
			}
			if _, err := os.Stat(l.Dir); !errors.Is(err, fs.ErrNotExist) {
				t.Error("the folder is left")
			}
		})
	}
}

// A step that met what has no code gets one, and its name; a full disk gets what to do.
func TestOpening(t *testing.T) {
	plain := opening("signing in", io.ErrClosedPipe)
	if f, ok := errors.AsType[*Failed](plain); !ok || f.Error() != "signing in: io: read/write on closed pipe" {
		t.Errorf("%v", plain)
	}
	if err := opening("x", &Missing{"ip", "apt-get install iproute2"}); err.Error() != "the lab needs ip: apt-get install iproute2" {
		t.Errorf("%v", err)
	}
}
