package rootfs_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/rootfs"
)

var files = map[string][]byte{"etc/os-release": []byte("ID=ingot\n"), "etc/ingot/image": bytes.Repeat([]byte("marker\n"), 1000), "readme": []byte("hello\n")}

// made is an image.
func made(t *testing.T, size int64) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "root.img"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := rootfs.Write(f, size, [16]byte{1, 2, 3}, "ingot-root", files); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

func tool(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	for _, dir := range []string{"", "/usr/sbin/", "/sbin/"} {
		if path, err := exec.LookPath(dir + name); err == nil {
			out, err := exec.Command(path, args...).CombinedOutput()
			return string(out), err
		}
	}
	if os.Getenv("INGOT_TEST_ALL") == "1" {
		t.Fatal(name + " is missing: apt-get install e2fsprogs")
	}
	t.Skip(name + " is missing: apt-get install e2fsprogs")
	return "", nil
}

// Another's tools find in an image what was put there, and nothing to repair.
func TestImage(t *testing.T) {
	for _, size := range []int64{4 << 20, 64 << 20, 300 << 20} {
		path := made(t, size)
		if out, err := tool(t, "e2fsck", "-fn", path); err != nil {
			t.Errorf("%d: %v\n%s", size, err, out)
		}
		for name, body := range files {
			if out, err := tool(t, "debugfs", "-R", "cat /"+name, path); err != nil || !strings.HasSuffix(out, string(body)) {
				t.Errorf("%d: %s is %.100q, %v", size, name, out, err)
			}
		}
	}
}

func TestTheSameBytes(t *testing.T) {
	for _, size := range []int64{4 << 20, 300 << 20} {
		one, err := os.ReadFile(made(t, size))
		two, err2 := os.ReadFile(made(t, size))
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one, two) || int64(len(one)) != size {
			t.Errorf("%d: two images differ", size)
		}
	}
}
