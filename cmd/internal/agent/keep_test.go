package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// own is the machine as rows and stamps name it: the lesser of its UUID's byte orders.
var own = func() (u disklayout.UUID) {
	_ = u.UnmarshalText([]byte(uuid))
	return disklayout.UUID(registration.ServerID(u).Key())
}()

// installed is a disk that a setup wrote.
func installed(t testing.TB, serial string, epoch uint64) *disk {
	t.Helper()
	d := newDisk(serial)
	h := handle{d, 1}
	disks, _ := apply.Inventory([]apply.Source{h})
	p, err := disklayout.Realize(disklayout.Request{Layout: disklayout.GPT, Disks: []disklayout.Selector{{Serial: serial}}, ESP: disklayout.MinESP, Root: 4 * mib, Data: disklayout.Rest}, disks, disklayout.Stamp{Server: own})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := apply.Install(context.Background(), apply.Order{Plan: p, Stamp: disklayout.Stamp{Server: own, Epoch: epoch}, Approved: p.Digest}, []apply.Source{h}, nil); err != nil {
		t.Fatal(err)
	}
	return d
}

func keepOn(disks ...*disk) agent.DiskKeep {
	return agent.DiskKeep{Machine: own, Disks: func() (out []apply.Source, _ error) {
		for _, d := range disks {
			out = append(out, handle{d, 1})
		}
		return out, nil
	}}
}

func loads(t *testing.T, k agent.Keep, want string) {
	t.Helper()
	if got, err := k.Load(); err != nil || string(got) != want {
		t.Errorf("kept is %q, %v, want %q", got, err, want)
	}
}

// What is kept on a disk is found again, the newest of the newest setup, and neither
// the table nor the mark is touched.
func TestDiskKeep(t *testing.T) {
	d := installed(t, "A1", 7)
	before := fmt.Sprint(apply.Inventory([]apply.Source{handle{d, 1}}))
	k := keepOn(newDisk("B2"), d)
	loads(t, k, "")
	for _, text := range []string{"first", "second", strings.Repeat("x", agent.MaxKept)} {
		if err := k.Save([]byte(text)); err != nil {
			t.Fatal(err)
		}
		loads(t, k, text)
	}
	if after := fmt.Sprint(apply.Inventory([]apply.Source{handle{d, 1}})); after != before {
		t.Errorf("the disk was %s, is %s", before, after)
	}
	newer := installed(t, "C3", 8)
	both := keepOn(d, newer)
	if err := both.Save([]byte("newer")); err != nil {
		t.Fatal(err)
	}
	loads(t, both, "newer")
	loads(t, keepOn(newer, d), "newer")
	loads(t, k, strings.Repeat("x", agent.MaxKept))
}

// Wherever a write is cut, in whatever sector, what was kept or what was to be kept is
// there: also where an earlier cut has left only one copy whole.
func TestDiskKeepIsCut(t *testing.T) {
	first, second := strings.Repeat("old ", 1000), strings.Repeat("new ", 1500)
	fresh := installed(t, "A1", 7)
	if err := keepOn(fresh).Save([]byte(first)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []int64{0, agent.KeepFirst, agent.KeepSecond} {
		held := map[string]int{}
		for cut := range 2 * agent.KeepSize / 512 {
			d := newDisk("A1")
			for at, b := range fresh.medium {
				d.medium[at] = b
			}
			if bad != 0 {
				d.medium[bad+1024] = make([]byte, 512)
			}
			d.torn = cut + 1
			if err := keepOn(d).Save([]byte(second)); err == nil {
				t.Fatal("a save that was cut succeeds")
			}
			d.torn, d.held = 0, 0
			got, err := keepOn(d).Load()
			if err != nil || string(got) != first && string(got) != second {
				t.Errorf("%d is bad, cut after %d sectors: %.20q, %v", bad, cut, got, err)
			}
			held[string(got)]++
			if err := keepOn(d).Save([]byte(second)); err != nil {
				t.Error(err)
			}
			loads(t, keepOn(d), second)
		}
		if held[first] == 0 || held[second] == 0 {
			t.Error("one of them never held: nothing was cut")
		}
	}
}

// A medium that returns something else is noticed, and a disk that is not one that
// setup wrote for this machine is neither written nor read.
func TestDiskKeepRefuses(t *testing.T) {
	a := installed(t, "A1", 7)
	other := keepOn(a)
	other.Machine[0] ^= 1
	twin := newDisk("B2")
	twin.medium = a.medium
	half := installed(t, "A1", 7)
	half.lies = agent.KeepSecond + 100
	for name, c := range map[string]struct {
		keep agent.DiskKeep
		text string
		why  string
	}{
		"no disk":         {keepOn(), "x", "no disk"},
		"an empty disk":   {keepOn(newDisk("B2")), "x", "no disk"},
		"another machine": {other, "x", "no disk"},
		"a clone":         {keepOn(a, twin), "x", "two disks"},
		"a lying disk":    {keepOn(half), "x", "something else"},
		"too much":        {keepOn(a), strings.Repeat("x", agent.KeepSize), "too long"},
	} {
		writes := a.writes
		err := c.keep.Save([]byte(c.text))
		if unkept, ok := errors.AsType[*agent.Unkept](err); !ok || !strings.Contains(unkept.Error(), c.why) || a.writes != writes {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := keepOn(a).Save([]byte("x")); err != nil {
		t.Fatal(err)
	}
	loads(t, other, "")
}

func TestFolder(t *testing.T) {
	f := agent.Folder{Dir: filepath.Join(t.TempDir(), "a", "b")}
	loads(t, f, "")
	if err := f.Save([]byte("key")); err != nil {
		t.Fatal(err)
	}
	loads(t, f, "key")
	path := filepath.Join(f.Dir, "key")
	for name, want := range map[string]os.FileMode{path: 0o600, f.Dir: 0o700} {
		if s, err := os.Stat(name); err != nil || s.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, s.Mode(), err)
		}
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Load(); err == nil || strings.Contains(err.Error(), "key\n") {
		t.Error("a key that others may read is used")
	}
	if err := errors.Join(os.WriteFile(path, bytes.Repeat([]byte("x"), agent.MaxKept+1), 0o600), os.Chmod(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Load(); err == nil {
		t.Error("a long one is read")
	}
}

// What is read as a block is written as the same block, but for what lies behind it.
func FuzzParseBlock(f *testing.F) {
	d := installed(f, "A1", 7)
	if err := keepOn(d).Save([]byte("text")); err != nil {
		f.Fatal(err)
	}
	raw := make([]byte, agent.KeepSize)
	if _, err := (handle{d, 1}).ReadAt(raw, agent.KeepFirst); err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(raw[:100])
	f.Fuzz(func(t *testing.T, raw []byte) {
		text, again, ok := agent.ParseBlock(raw, own)
		if !ok {
			return
		}
		if got, _, ok := agent.ParseBlock(again, own); !ok || !bytes.Equal(got, text) || len(text) == 0 {
			t.Errorf("%q comes back as %q", text, got)
		}
	})
}
