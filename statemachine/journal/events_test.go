package journal

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCursors(t *testing.T) { // EVENT-1
	nines := strings.Repeat("9", 20)
	for in, want := range map[string]*Cursor{
		"0:0":  {0, 0},
		"12:3": {12, 3},
		"18446744073709551615:18446744073709551615": {1<<64 - 1, 1<<64 - 1},
		"00000000000000000012:03":                   {12, 3},
		"000000000000000000012:3":                   nil, // 21 digits
		"12:000000000000000000003":                  nil,
		nines + ":0":                                nil,
		"0:" + nines:                                nil,
		"":                                          nil,
		":":                                         nil,
		"12":                                        nil,
		"12:":                                       nil,
		":3":                                        nil,
		"12:3:4":                                    nil,
		"+12:3":                                     nil,
		"-1:3":                                      nil,
		"1_2:3":                                     nil,
		"0x1:3":                                     nil,
		" 12:3":                                     nil,
		"12:3\n":                                    nil,
		"\uff11\uff12:3":                            nil,
		strings.Repeat("0", 1<<20) + ":0":           nil,
	} {
		got, err := ParseCursor(in)
		bad, refused := errors.AsType[*Malformed](err)
		switch {
		case want != nil && (err != nil || got != *want):
			t.Errorf("ParseCursor(%q) = %v, %v, want %v", in, got, err, want)
		case want == nil && (!refused || bad.Code() != "INVALID_INPUT" || got != Cursor{}):
			t.Errorf("ParseCursor(%.40q) = %v, %v, want it refused", in, got, err)
		}
	}
}

func FuzzParseCursor(f *testing.F) {
	for _, s := range []string{"0:0", "12:3", "18446744073709551615:0", "00012:1", "1:", "+1:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCursor(s)
		if err != nil {
			return
		}
		if strings.Trim(s, "0123456789:") != "" || len(s) > 41 {
			t.Fatalf("%q is no cursor", s)
		}
		if again, err := ParseCursor(c.String()); err != nil || again != c {
			t.Fatalf("%q reads as %v, which reads as %v, %v", s, c, again, err)
		}
	})
}

func TestPrefixes(t *testing.T) { // EVENT-1
	for prefix, ok := range map[string]bool{
		"": true, "n": true, "node.": true, "node.pxe-mac": true, "a1": true, strings.Repeat("a", 64): true,
		strings.Repeat("a", 65): false, "registration.awaiting_setup": true, "_a": false, "Node": false, "1a": false, ".a": false, "-a": false, "a b": false, "a\n": false, "é": false,
	} {
		err := Filter{Prefix: prefix}.Validate()
		if _, refused := errors.AsType[*Malformed](err); refused == ok {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
}

// Against a naive twin: list all, drop what is not wanted. Reading on from any
// event seen gives the rest, no event twice and none left out.
func TestEventsAreTheOnesAskedFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var entries []Entry
		for n := range rapid.IntRange(1, 6).Draw(t, "rows") {
			e := entry(n)
			e.Facts = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Fact {
				return Fact{
					Type:    rapid.SampledFrom([]string{"node.drained", "node.draining", "boot.enrolled", "nod"}).Draw(t, "type"),
					Subject: rapid.SampledFrom([]string{"node_a", "node_b"}).Draw(t, "subject"),
				}
			}), 1, 4).Draw(t, "facts")
			entries = append(entries, e)
		}
		rows, _ := build(t, Start(""), entries...)
		f := Filter{
			Subject: rapid.SampledFrom([]string{"", "node_a", "node_c"}).Draw(t, "of"),
			Prefix:  rapid.SampledFrom([]string{"", "node.", "node.drain", "node.drained", "x"}).Draw(t, "prefix"),
		}
		var want []Event
		for _, r := range rows {
			for i, fact := range r.Facts {
				if (f.Subject == "" || fact.Subject == f.Subject) && strings.HasPrefix(fact.Type, f.Prefix) {
					want = append(want, Event{Cursor{r.Revision, uint64(i)}, r.Time, r.Actor, fact})
				}
			}
		}
		for n := 0; ; n++ {
			page := collect(t, f, rows, 2)
			if !slices.Equal(page, want[:min(2, len(want))]) {
				t.Fatalf("page %d after %s: %v, want of %v", n, f.After, page, want)
			}
			if len(page) == 0 {
				return
			}
			want, f.After = want[len(page):], page[len(page)-1].At
		}
	})
}

// collect reads at most n events.
func collect(t interface{ Fatal(...any) }, f Filter, rows []Row, n int) []Event {
	var page []Event
	for e, err := range f.Events(of(rows)) {
		if err != nil {
			t.Fatal(err)
		}
		if page = append(page, e); len(page) == n {
			break
		}
	}
	return page
}

func TestEventsEndWithTheRowsError(t *testing.T) {
	rows, _ := plain(t, 3)
	bad := forms(t, rows)
	bad[1] = nil
	var got []Event
	var last error
	for e, err := range (Filter{}).Events(parsed(bad)) {
		if last != nil {
			t.Fatal("goes on after an error")
		}
		if last = err; err == nil {
			got = append(got, e)
		}
	}
	if _, ok := errors.AsType[*Malformed](last); !ok || len(got) != 1 || got[0].At != (Cursor{1, 0}) {
		t.Errorf("%v, then %v", got, last)
	}
}
