package vmlab

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/disklayout/probe"
)

// The pool that the lab makes is one to whoever looks, at both ends of the disk.
func TestPutPool(t *testing.T) {
	const size = 64<<20 + 100<<10
	d := disk(t, size, nil)
	if err := putPool(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(d.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found, err := probe.Look(f, size, 512)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range found.Signatures {
		got = append(got, fmt.Sprintf("%s %s %s %d", s.Type, s.Label, s.UUID, s.Offset>>10))
	}
	want := fmt.Sprintf("zfs_member tank %d 0,zfs_member tank %[1]d 256,zfs_member tank %[1]d 65024,zfs_member tank %[1]d 65280", uint64(foreignGUID))
	if strings.Join(got, ",") != want {
		t.Errorf("%q", got)
	}
}
