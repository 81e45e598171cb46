package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// keys are some that meet often, of which some stand at the edges of the log.
var keys = rapid.OneOf(rapid.StringMatching(`[ab~ ]{1,3}`), rapid.SampledFrom([]string{"lof", "log", "log.", "log/1", "log/~", "log0", "meta/head"}))

// bounds are whatever a closure may give to Range.
var bounds = rapid.OneOf(keys, rapid.StringMatching(`[ab~]{0,2}`), rapid.StringOf(rapid.RuneFrom([]rune{'a', 'b', '~', 0, 1, 0x1f, 0x7f, 'é'})),
	rapid.Map(keys, func(k string) string { return k + "\x00" }), rapid.Just("a\xff"))

// A bound parts the keys as what it was made of does, and is text.
func TestBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, key := bounds.Draw(t, "bound"), keys.Draw(t, "key")
		b := bound(s)
		if (key < s) != (key < b) {
			t.Errorf("%q is on another side of %q than of %q", key, s, b)
		}
		if strings.ContainsFunc(b, func(r rune) bool { return r == 0 || r > 0x7f }) {
			t.Errorf("%q is no plain text", b)
		}
	})
}

// An index holds what a set holds, in order, whatever page it is read by.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x index
		set := map[string]bool{}
		size := rapid.SampledFrom([]int{10, 3000}).Draw(t, "size")
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			from, n := rapid.IntRange(0, size).Draw(t, "from"), rapid.IntRange(1, size).Draw(t, "n")
			out := rapid.Bool().Draw(t, "remove")
			for i := range n {
				k := fmt.Sprintf("%05d", (from+i*7)%size)
				if out {
					x.remove(k)
					delete(set, k)
				} else {
					x.add(k)
					set[k] = true
				}
			}
		}
		lo := fmt.Sprintf("%05d", rapid.IntRange(0, size).Draw(t, "lo"))
		var got []string
		for at := lo; at < "\xff\xff"; {
			p := x.page(span{at, "\xff\xff"})
			got, at = append(got, within(p.keys, span{at, p.end})...), p.end
		}
		want := slices.DeleteFunc(slices.Sorted(maps.Keys(set)), func(k string) bool { return k < lo })
		if !slices.Equal(got, want) {
			t.Fatalf("got %d keys, want %d", len(got), len(want))
		}
		for _, c := range x {
			if len(c) == 0 || len(c) > maxChunk {
				t.Fatalf("a chunk of %d", len(c))
			}
		}
	})
}

// A cache says what is so, or nothing. One that is whole says all, and none grows
// above its limit.
func TestCache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCache(rapid.SampledFrom([]int{0, 1000, 3000, 1 << 20}).Draw(t, "limit"))
		rows := map[string]store.Change{}
		if rapid.Bool().Draw(t, "load") {
			c.whole = true
			for _, k := range []string{"a", "aa", "b"} {
				rows[k] = store.Change{Val: []byte(k)}
				c.whole = c.whole && c.load(k, rows[k].Val)
			}
			if !c.whole {
				c.drop()
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k := keys.Draw(t, "key")
				rows[k] = store.Change{Val: make([]byte, rapid.SampledFrom([]int{0, 1, 50, 500}).Draw(t, "size"))}
				if rapid.Bool().Draw(t, "gone") {
					rows[k] = store.Change{Gone: true}
				}
				c.put(k, rows[k])
			},
			"get": func(t *rapid.T) {
				k := keys.Draw(t, "key")
				got, ok := c.get(k)
				want, there := rows[k]
				if ok && (got.Gone == (there && !want.Gone) || string(got.Val) != string(want.Val)) {
					t.Fatalf("%q: got %v, want %v", k, got, want)
				}
				if !ok && c.whole && !uncached(k) {
					t.Fatalf("%q is unknown to a whole cache", k)
				}
			},
			"range": func(t *rapid.T) {
				at, hi := bounds.Draw(t, "lo"), rapid.SampledFrom([]string{"b", "log0", "\xff", "\xff\xff"}).Draw(t, "hi")
				p, ok := c.page(span{at, hi})
				if !ok || at >= hi {
					return
				}
				if p.end <= at {
					t.Fatalf("a page of %q ends at %q", at, p.end)
				}
				var want []string
				for _, k := range slices.Sorted(maps.Keys(rows)) {
					if at <= k && k < p.end && !rows[k].Gone {
						want = append(want, k)
					}
				}
				if got := within(p.keys, span{at, p.end}); !slices.Equal(got, want) {
					t.Fatalf("%q to %q: got %q, want %q", at, p.end, got, want)
				}
			},
			"": func(t *rapid.T) {
				size := 0
				for k, v := range c.young {
					size += cost(k, v)
				}
				if size != c.size || size > max(c.limit, 0) {
					t.Fatalf("%d bytes, counted %d of %d", size, c.size, c.limit)
				}
				for k := range c.old {
					if _, twice := c.young[k]; twice {
						t.Fatalf("%q is there twice", k)
					}
				}
			},
		})
	})
}

func TestUnsafe(t *testing.T) {
	for _, c := range []struct {
		version            int
		fsync, pages, sync string
		faults             int
	}{
		{150000, "on", "on", "on", 0},
		{140000, "on", "on", "remote_apply", 0},
		{130009, "on", "on", "on", 1},
		{150000, "off", "on", "on", 1},
		{150000, "on", "off", "on", 1},
		{150000, "on", "on", "off", 1},
		{150000, "on", "on", "local", 1},
		{150000, "on", "on", "remote_write", 1},
		{130000, "off", "off", "off", 4},
	} {
		if why := unsafe(c.version, c.fsync, c.pages, c.sync); len(why) != c.faults {
			t.Errorf("%+v: %q", c, why)
		}
	}
}
