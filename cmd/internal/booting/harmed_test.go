package booting

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
	"github.com/ingotmetal/ingot/booter/images"
)

// storeAt is a store of one image to enroll with, and where its files are.
func storeAt(t *testing.T) (*images.Store, string) {
	dir := t.TempDir()
	s, err := images.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	stageEnroll(t, s)
	return s, filepath.Join(dir, "blobs", "sha256")
}

func stageEnroll(t *testing.T, s *images.Store) {
	stage(t, s, images.Manifest{Name: "enroll", Disk: "disk.img", Boots: map[booter.Platform]images.Boots{images.Any: {Kernel: "vmlinuz"}, booter.X64: {Loader: "ipxe"}}}, "vmlinuz", "ipxe", "disk.img")
}

// A file that is gone or cut while machines load it fails for them, in whatever way
// they ask, and is the reason for the silence that follows; who loads it already goes
// on. Staged again, it is served.
func TestAFileVanishes(t *testing.T) {
	for _, file := range []string{"vmlinuz", "disk.img", "ipxe"} {
		for what, harm := range map[string]func(string) error{"gone": os.Remove, "cut": func(p string) error { return os.Truncate(p, 3) }} {
			for _, stage := range []string{stageTFTP, stageHTTP} {
				t.Run(file+"/"+what+"/"+stage, func(t *testing.T) { vanishes(t, file, what, harm, stage) })
			}
		}
	}
}

func vanishes(t *testing.T, file, what string, harm func(string) error, stage string) {
	s, blobs := storeAt(t)
	p := place()
	p.Loader = "enroll"
	d := NewDesk(p, s, newKey(), still)
	d.Change(func(*World) *World { return NewWorld(snapshot(enrolling())) })
	i, err := s.Image("enroll")
	if err != nil {
		t.Fatal(err)
	}
	f, _ := i.File(file)
	at := bootscript.Path{Leaf: bootscript.File, Image: "enroll", Name: file}
	switch file {
	case "disk.img":
		at = bootscript.Path{Leaf: bootscript.Disk, Name: f.SHA256}
	case "ipxe":
		at = bootscript.Path{Leaf: bootscript.Loader, Platform: booter.X64}
	}
	name := path(d, known, at)
	open, err := d.fetch(stage, name, nobody)
	if err != nil || open.blob == nil {
		t.Fatal(open, err)
	}
	defer open.blob.Close()
	if err := os.Chmod(filepath.Join(blobs, f.SHA256), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := harm(filepath.Join(blobs, f.SHA256)); err != nil {
		t.Fatal(err)
	}
	whole := make([]byte, f.Size)
	if _, err := open.blob.ReadAt(whole, 0); what == "gone" && err != nil {
		t.Errorf("who has it open: %v", err)
	}
	for len(d.wake) > 0 {
		<-d.wake
	}
	_, err = fetched(d, stage, name, nobody)
	if coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err); err == nil || stage == stageHTTP && !ok {
		t.Errorf("%v, %v", err, coded)
	}
	if len(d.wake) == 0 || d.policy.Staged["enroll"] || len(d.disks()) != 0 {
		t.Errorf("the image is offered still: staged %v, disks %v, told %d", d.policy.Staged, d.disks(), len(d.wake))
	}
	a := d.Why(mac(known))
	if _, _, ok := d.Answer(came(message(mac(known), 1, pxe...))); ok || len(a.Silences) != 1 || a.Silences[0].Silence != string(booter.ImageUnstaged) || !strings.Contains(a.Silences[0].Means, file) {
		t.Errorf("answered %t, %+v", ok, a.Silences)
	}
	stageEnroll(t, s)
	if changed, err := d.Restage(); !changed || err != nil {
		t.Errorf("%t %v", changed, err)
	}
	if text, err := fetched(d, stage, name, nobody); err != nil || text != "this is enroll "+file {
		t.Errorf("staged again: %q %v", text, err)
	}
}

// Firmware asks for many names that are nothing here; those cost no look at the folder.
func TestStrangeNamesCostNothing(t *testing.T) {
	d := newDesk(t, place(), still, enrolling())
	d.staged = map[string]string{} // a look would find them again
	for _, at := range []bootscript.Path{{Leaf: bootscript.File, Image: "enroll", Name: "none"}, {Leaf: bootscript.Loader, Platform: "other"}, {Leaf: bootscript.Disk, Name: strings.Repeat("0", 64)}} {
		if _, err := fetched(d, stageHTTP, path(d, known, at), nobody); err == nil {
			t.Errorf("%v is served", at)
		}
	}
	if len(d.staged) != 0 {
		t.Error("the folder was looked at")
	}
}
