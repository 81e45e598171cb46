package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// tiny keeps the files of a test small: bbolt makes them as large as the map.
const tiny = 32 << 10

// sample is a closed store of some pages, as bytes, without its mark.
func sample(t testing.TB) []byte {
	path := filepath.Join(t.TempDir(), "db")
	s := open(t, path, Options{InitialMmapSize: tiny})
	for i := range 60 {
		if _, err := s.Update(context.Background(), put(fmt.Sprintf("node/%03d", i), fmt.Sprintf("%0200d", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// place writes a file, with no mark beside it.
func place(t testing.TB, raw []byte) string {
	path := filepath.Join(t.TempDir(), "db")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// typed reports whether err says what it is.
func typed(err error) bool {
	var r *Refused
	var d *store.Damaged
	return errors.As(err, &r) || errors.As(err, &d)
}

// exercise opens a file that may be damaged, and uses it where it opens. It must
// not panic, and every error must say what it is.
func exercise(t testing.TB, path string) (opened bool) {
	if _, err := Verify(path); err != nil && !typed(err) {
		t.Fatalf("Verify: %T %v", err, err)
	}
	s, err := Open(path, Options{InitialMmapSize: tiny})
	if err != nil {
		if !typed(err) {
			t.Fatalf("Open: %T %v", err, err)
		}
		return false
	}
	defer s.Close()
	_ = s.View(context.Background(), func(r store.Reader) error {
		for _, v := range r.Range("", "~") {
			_ = string(v)
		}
		return nil
	})
	for i := range 3 {
		_, err = s.Update(context.Background(), put(fmt.Sprintf("node/%03d", 20*i), "changed"))
	}
	if err != nil {
		t.Logf("opened, then: %v", err)
	}
	return true
}

func TestDamagedFilesAreNamed(t *testing.T) {
	raw := sample(t)
	for name, content := range map[string][]byte{
		"garbage":    []byte("this is not a store, and shorter than a page"),
		"zeros":      make([]byte, 64<<10),
		"one byte":   raw[:1],
		"no pages":   raw[:8<<10],
		"cut off":    raw[:12<<10],
		"metas gone": append(make([]byte, 8<<10), raw[8<<10:]...),
	} {
		path := place(t, content)
		var d *store.Damaged
		if _, err := Open(path, Options{InitialMmapSize: tiny}); !errors.As(err, &d) || !strings.Contains(err.Error(), "ingotd restore") {
			t.Errorf("%s: Open: %v", name, err)
		}
		if _, err := Verify(path); !errors.As(err, &d) {
			t.Errorf("%s: Verify: %v", name, err)
		}
		if after, _ := os.ReadFile(path); !slices.Equal(after, content) {
			t.Errorf("%s: a refusal changed the file", name)
		}
	}
}

// TestEveryPointerIsFollowed breaks what bbolt trusts, one page at a time.
func TestEveryPointerIsFollowed(t *testing.T) {
	raw := sample(t)
	m, err := readMeta(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]int{"id": 0, "kind": 8, "count": 11, "further pages": 13, "offset": 22, "key's length": 26, "value's length": 30} {
		b := slices.Clone(raw)
		b[int(m.root)*m.pageSize+at] ^= 0x5f
		if err := follow(bytes.NewReader(b), int64(len(b))); err == nil {
			t.Errorf("%s: a broken root passes", name)
		}
		if exercise(t, place(t, b)) {
			t.Errorf("%s: opened", name)
		}
	}
	if err := follow(bytes.NewReader(raw), int64(len(raw))); err != nil {
		t.Error(err)
	}
}

func TestMutatedFilesDoNoHarm(t *testing.T) {
	raw := sample(t)
	r := rand.New(rand.NewPCG(1, 2))
	opened := 0
	const rounds = 100
	for range rounds {
		b := append([]byte{}, raw...)
		mutate(b, func() uint32 { return r.Uint32() }, 1+r.IntN(4))
		if exercise(t, place(t, b)) {
			opened++
		}
	}
	t.Logf("%d of %d opened", opened, rounds)
	if opened == 0 || opened == rounds {
		t.Error("the mutations are too rough or too gentle to tell anything")
	}
}

// mutate changes n places of a file, half of them among the headers and elements of
// its pages, where bbolt keeps what it trusts.
func mutate(b []byte, draw func() uint32, n int) {
	const page = 4096
	for range n {
		at := int(draw() % uint32(len(b)))
		if draw()%2 == 0 {
			at = at/page*page + at%48
		}
		b[at] = byte(draw())
	}
}

// TestATreeThatMeetsItself would keep bbolt walking until its stack overflows.
func TestATreeThatMeetsItself(t *testing.T) {
	raw := sample(t)
	found := 0
	for at := 0; at < len(raw); at += 4096 {
		if raw[at+8] != branchPage || raw[at+10] < 2 || raw[at+11] != 0 {
			continue
		}
		for twig, to := range map[string][]byte{"its neighbour's": raw[at+24 : at+32], "its own": raw[at : at+8]} {
			b := slices.Clone(raw)
			copy(b[at+40:], to) // of the second twig
			err := follow(bytes.NewReader(b), int64(len(b)))
			if err == nil { // nobody comes by here any more
				continue
			}
			if found++; !strings.Contains(err.Error(), "two places") || exercise(t, place(t, b)) {
				t.Errorf("%s: %v", twig, err)
			}
		}
	}
	if found < 2 {
		t.Error("the sample has no branch")
	}
}

// TestSoundFilesPass: no refusal is false. Values of many sizes, deletions and
// trims give pages of every kind.
func TestSoundFilesPass(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n))
		keys := rapid.StringMatching(`node/[0-9]{1,2}(x{900})?|zone/[a-c]`)
		sizes := rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(0, 5000), rapid.IntRange(0, 40000))
		for range rapid.IntRange(1, 3).Draw(t, "openings") {
			s, err := Open(path, Options{InitialMmapSize: smallMap, NoSync: true})
			if err != nil {
				t.Fatal(err)
			}
			for range rapid.IntRange(0, 20).Draw(t, "updates") {
				_, err := s.Update(context.Background(), func(tx store.Tx) error {
					for range rapid.IntRange(0, 20).Draw(t, "writes") {
						if k := keys.Draw(t, "key"); rapid.IntRange(0, 2).Draw(t, "delete") == 0 {
							tx.Delete(k)
						} else {
							tx.Put(k, make([]byte, sizes.Draw(t, "size")))
						}
					}
					if at := tx.Head().Revision; at > 1 && rapid.IntRange(0, 5).Draw(t, "trim") == 0 {
						tx.Trim(store.Rev(rapid.Uint64Range(0, at-1).Draw(t, "to")))
					}
					return put("a", "1")(tx)
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := Verify(path); err != nil {
				t.Fatal(err)
			}
		}
		_ = os.Remove(path)
	})
}

func FuzzOpen(f *testing.F) {
	raw := sample(f)
	f.Add([]byte{0, 0, 32, 0, 1})
	f.Add([]byte{0, 0, 16, 8, 1, 0, 0, 16, 9, 2})
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) > 100 {
			return
		}
		b := append([]byte{}, raw...)
		for ; len(ops) >= 5; ops = ops[5:] {
			at := int(ops[0])<<24 | int(ops[1])<<16 | int(ops[2])<<8 | int(ops[3])
			b[at%len(b)] = ops[4]
		}
		exercise(t, place(t, b))
	})
}

// TestAFileThatAnotherToolWrote has a list of free pages in it, as bbolt's own
// compaction leaves it.
func TestAFileThatAnotherToolWrote(t *testing.T) {
	path := place(t, sample(t))
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	to, err := bbolt.Open(path+"2", 0o600, nil)
	if err != nil || bbolt.Compact(to, db, 0) != nil {
		t.Fatal(err)
	}
	if db.Close() != nil || to.Close() != nil {
		t.Fatal("not closed")
	}
	for _, p := range []string{path, path + "2"} {
		if h, err := Verify(p); h.Revision != 60 || err != nil {
			t.Error(h, err)
		}
		if !exercise(t, p) {
			t.Error("refused")
		}
	}
}
