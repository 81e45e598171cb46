package deb_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/deb"
)

// tarred is an archive with files, a folder and a link.
func tarred(files map[string]string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	_ = w.WriteHeader(&tar.Header{Name: "./boot/", Typeflag: tar.TypeDir, Mode: 0o755})
	_ = w.WriteHeader(&tar.Header{Name: "./vmlinuz", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"})
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_ = w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(files[name]))})
		_, _ = io.WriteString(w, files[name])
	}
	_ = w.Close()
	return b.Bytes()
}

// arred is an archive of ar's.
func arred(members ...string) []byte {
	b := bytes.NewBufferString("!<arch>\n")
	for i := 0; i < len(members); i += 2 {
		fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", members[i], 0, 0, 0, "100644", len(members[i+1]), members[i+1])
		if len(members[i+1])%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

func gz(raw []byte) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(raw)
	_ = w.Close()
	return b.String()
}

func xzed(raw []byte) string {
	var b bytes.Buffer
	w, err := xz.NewWriter(&b)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(raw)
	_ = w.Close()
	return b.String()
}

func zst(raw []byte) string {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return string(w.EncodeAll(raw, nil))
}

var files = map[string]string{"./boot/vmlinuz-6": "kernel", "./lib/modules/6/a.ko": strings.Repeat("a", 100_001), "./../outside": "no", "/usr/b": "b"}

// walk is what a walk finds.
func walk(r io.Reader) (map[string]string, error) {
	out := map[string]string{}
	err := deb.Walk(r, func(name string) bool { return name != "usr/b" }, func(name string, body []byte) error {
		out[name] = string(body)
		return nil
	})
	return out, err
}

func TestWalk(t *testing.T) {
	data := tarred(files)
	want := map[string]string{"boot/vmlinuz-6": "kernel", "lib/modules/6/a.ko": files["./lib/modules/6/a.ko"]}
	for end, body := range map[string]string{"": string(data), ".gz": gz(data), ".xz": xzed(data), ".zst": zst(data)} {
		raw := arred("debian-binary", "2.0\n", "control.tar.xz", "odd", "data.tar"+end, body)
		if got, err := walk(bytes.NewReader(raw)); err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %v, %v", end, got, err)
		}
		for _, n := range []int{0, 7, 8, 60, 100, 140, 200, len(raw) - len(body)/2, len(raw) - len(body) + 1} {
			if _, err := walk(bytes.NewReader(raw[:n])); !errors.As(err, new(*deb.Invalid)) {
				t.Errorf("%s cut at %d: %v", end, n, err)
			}
		}
		broken := errors.New("the disk is broken")
		if _, err := walk(io.MultiReader(bytes.NewReader(raw[:len(raw)-200]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
			t.Errorf("%s with a broken disk: %v", end, err)
		}
		mine := errors.New("mine")
		if err := deb.Walk(bytes.NewReader(raw), func(string) bool { return true }, func(string, []byte) error { return mine }); err != mine {
			t.Errorf("%s: the visit's error is %v", end, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	many := make([]string, 0, 40)
	for range 20 {
		many = append(many, "m", "")
	}
	size := func(s string) []byte {
		return bytes.Replace(arred("debian-binary", "2.0\n", "data.tar", ""), []byte("4         `"), []byte(s), 1)
	}
	for name, raw := range map[string][]byte{
		"no archive": []byte("this is no package at all, though it is long enough for one"), "no data": arred("debian-binary", "2.0\n"), "many members": arred(many...),
		"a negative size": size("-4        `"), "no size": size("          `"), "a size in words": size("four      `"), "no end": size("4         '"),
		"a size beyond": size("9999999999`"), "another compression": arred("data.tar.lzma", "x"), "no tar": arred("data.tar", strings.Repeat("x", 1024)),
		"no xz": arred("data.tar.xz", "xxxxxxxxxxxxxxxxxxxxxxxx"), "no zst": arred("data.tar.zst", "xxxxxxxxxxxxxxxxxxxxxxxx"), "no gz": arred("data.tar.gz", "xxxxxxxxxxxxxxxxxxxxxx"),
	} {
		if got, err := walk(bytes.NewReader(raw)); !errors.As(err, new(*deb.Invalid)) || len(got) > 0 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// A file that says to be larger than one may be is not read.
func TestTooLarge(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	_ = w.WriteHeader(&tar.Header{Name: "./boot/vmlinuz", Typeflag: tar.TypeReg, Size: deb.MaxFile + 1})
	if _, err := walk(bytes.NewReader(arred("data.tar", b.String()))); !errors.As(err, new(*deb.Invalid)) || !strings.Contains(err.Error(), "at most") {
		t.Error(err)
	}
}

// What dpkg-deb makes is read.
func TestOfDpkg(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		if os.Getenv("INGOT_TEST_ALL") == "1" {
			t.Fatal(err)
		}
		t.Skip("dpkg-deb is missing: apt-get install dpkg")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"DEBIAN/control": "Package: k\nVersion: 1\nArchitecture: all\nMaintainer: m <m@example.org>\nDescription: d\n", "boot/vmlinuz-6": "kernel"} {
		path := filepath.Join(dir, "k", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, z := range []string{"xz", "gzip", "zstd", "none"} {
		if out, err := exec.Command("dpkg-deb", "-Z"+z, "--build", filepath.Join(dir, "k"), filepath.Join(dir, z)).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", z, err, out)
		}
		f, err := os.Open(filepath.Join(dir, z))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got, err := walk(f); err != nil || len(got) != 1 || got["boot/vmlinuz-6"] != "kernel" {
			t.Errorf("%s: %v, %v", z, got, err)
		}
	}
}

func FuzzWalk(f *testing.F) {
	data := tarred(map[string]string{"./boot/vmlinuz": "k"})
	for end, body := range map[string]string{"": string(data), ".gz": gz(data), ".xz": xzed(data), ".zst": zst(data)} {
		f.Add(arred("debian-binary", "2.0\n", "data.tar"+end, body))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 1<<14 {
			return
		}
		got, err := walk(bytes.NewReader(raw))
		if err != nil && !errors.As(err, new(*deb.Invalid)) {
			t.Error(err)
		}
		for name := range got {
			if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "../") {
				t.Errorf("%q is outside", name)
			}
		}
	})
}
