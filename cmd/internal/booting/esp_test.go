package booting

import (
	"slices"
	"testing"

	"github.com/ingotmetal/ingot/booter/bootscript"
	"github.com/ingotmetal/ingot/booter/images"
)

// The boot program of an image is offered and served as its disk image is, by content,
// and no other file is.
func TestABootProgramIsServed(t *testing.T) {
	s := staged(t)
	stage(t, s, images.Manifest{Name: "boots", ESP: "uki.efi"}, "uki.efi", "other")
	d := NewDesk(place(), s, newKey(), still)
	d.Change(func(*World) *World { return NewWorld(snapshot(enrolling())) })
	i, err := s.Image("boots")
	if err != nil {
		t.Fatal(err)
	}
	mac, ok := parseMAC(known)
	if !ok {
		t.Fatal(known)
	}
	for name, want := range map[string]bool{"uki.efi": true, "other": false} {
		f, _ := i.File(name)
		if got := slices.Contains(d.disks(), "sha256:"+f.SHA256); got != want {
			t.Errorf("%s is offered: %t", name, got)
		}
		open, err := d.fetch(stageHTTP, path(d, known, bootscript.Path{Leaf: bootscript.Disk, Name: f.SHA256}), nobody)
		if (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			open.blob.Close()
		}
		if url := d.diskURL(mac, "sha256:"+f.SHA256); url != d.pointer.URL(bootscript.Path{Token: d.key.Token(mac), Leaf: bootscript.Disk, Name: f.SHA256}) || d.diskURL(mac, "") != "" {
			t.Errorf("%s is at %s", name, url)
		}
	}
}
