package imagebuild_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/imagebuild"
	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/rootfs"
)

func TestInstalledRoot(t *testing.T) {
	make := func(i imagebuild.Installed) ([]byte, error) {
		f, err := os.Create(filepath.Join(t.TempDir(), "root"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := i.Root(f); err != nil {
			return nil, err
		}
		return os.ReadFile(f.Name())
	}
	i := imagebuild.Installed{Name: "server-1", RootSize: 8 << 20, Boot: []byte("a program")}
	one, err := make(i)
	if err != nil || !bytes.Contains(one, []byte("NAME=\"server-1\"")) || !bytes.Contains(one, []byte("sha256:")) {
		t.Errorf("%d bytes, %v", len(one), err)
	}
	if two, err := make(i); err != nil || !bytes.Equal(one, two) {
		t.Errorf("the same inputs give other bytes, %v", err)
	}
	i.Boot = []byte("another")
	if two, err := make(i); err != nil || bytes.Equal(one, two) {
		t.Errorf("another program gives the same bytes, %v", err)
	}
	for _, size := range []int64{0, -1, 1, 8<<20 + 1, 1 << 50} {
		i.RootSize = size
		if _, err := make(i); !errors.As(err, new(*rootfs.Invalid)) {
			t.Errorf("%d: %v", size, err)
		}
	}
}
