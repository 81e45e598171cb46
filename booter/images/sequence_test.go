package images

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Two processes on one folder: whatever they do in turns, each shows what was last
// staged once it looked, and the folder has what that needs and nothing else.
func TestSequences(t *testing.T) {
	names, contents := rapid.SampledFrom([]string{"a", "b", "c"}), rapid.SampledFrom([]string{"x", "yy", "zz", "xyz"})
	rapid.Check(t, func(t *rapid.T) {
		dir := memory(t)
		defer os.RemoveAll(dir)
		stores := []*Store{reopened(t, nil, dir), reopened(t, nil, dir)}
		defer func() { _, _ = stores[0].Close(), stores[1].Close() }()
		want := map[string][2]string{} // kernel and initrd
		who := rapid.IntRange(0, 1)
		actions := map[string]func(*rapid.T){
			"stage": func(t *rapid.T) {
				name, kernel, initrd := names.Draw(t, "name"), contents.Draw(t, "kernel"), contents.Draw(t, "initrd")
				m, sources := a(name, kernel, initrd)
				_, err := stores[who.Draw(t, "who")].Stage(t.Context(), m, sources, nil)
				must(t, err)
				want[name] = [2]string{kernel, initrd}
			},
			"refused": func(t *rapid.T) {
				m, sources := a(names.Draw(t, "name"), "new", "newer")
				m.Files[rapid.IntRange(0, 1).Draw(t, "file")].SHA256 = sum("other")
				if _, err := stores[who.Draw(t, "who")].Stage(t.Context(), m, sources, nil); code(err) != "INVALID_INPUT" {
					t.Fatal(err)
				}
			},
			"remove": func(t *rapid.T) {
				name := names.Draw(t, "name")
				_, is := want[name]
				if _, err := stores[who.Draw(t, "who")].Remove(t.Context(), name); (err == nil) != is {
					t.Fatalf("%s is there: %t; %v", name, is, err)
				}
				delete(want, name)
			},
			"open again": func(t *rapid.T) {
				n := who.Draw(t, "who")
				stores[n] = reopened(t, stores[n], dir)
			},
		}
		steps := rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(actions))), 1, 8).Draw(t, "steps")
		for _, step := range steps {
			actions[step](t)
			needed := map[string]bool{}
			for name, has := range want {
				needed["images/"+name+".json"], needed[blobsDir+"/"+sum(has[0])], needed[blobsDir+"/"+sum(has[1])] = true, true, true
			}
			if got := tree(t, dir); !slices.Equal(got, slices.Sorted(maps.Keys(needed))) {
				t.Fatalf("the folder has %v for %v", got, want)
			}
			for _, s := range stores {
				_, err := s.Reload()
				must(t, err)
				for name, has := range want {
					if got := text(t, s, name, "vmlinuz") + " " + text(t, s, name, "initrd"); got != strings.Join(has[:], " ") {
						t.Fatalf("%s has %q, want %v", name, got, has)
					}
				}
				if len(s.Staged()) != len(want) || len(s.List()) != len(want) {
					t.Fatalf("%v, want %v", s.Staged(), want)
				}
			}
		}
	})
}

// memory is a folder in memory, where one is: there, what is made durable is so at
// once.
func memory(t *rapid.T) string {
	base := "/dev/shm"
	if fi, err := os.Stat(base); err != nil || !fi.IsDir() {
		base = ""
	}
	dir, err := os.MkdirTemp(base, "images")
	must(t, err)
	return dir
}

func reopened(t *rapid.T, s *Store, dir string) *Store {
	if s != nil {
		must(t, s.Close())
	}
	s, err := Open(dir)
	must(t, err)
	return s
}
