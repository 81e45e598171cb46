package journal

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestVerifyReachesTheHead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, heads := genLog(t, 0)
		last := len(rows)
		known := rapid.SliceOf(rapid.SampledFrom(heads)).Draw(t, "known")
		if got, err := Verify(heads[0], parsed(forms(t, rows)), known...); err != nil || got != heads[last] {
			t.Fatalf("reached %v, %v, want %v", got, err, heads[last])
		}
		from := rapid.IntRange(0, last).Draw(t, "from")
		to := rapid.IntRange(from, last).Draw(t, "to")
		if got, err := Verify(heads[from], of(rows[from:to]), heads[to], heads[from]); err != nil || got != heads[to] {
			t.Fatalf("from %d to %d: reached %v, %v", from, to, got, err)
		}
	})
}

// Each harm that can be done to a log of eight rows, the end known, is named
// with its revision.
func TestVerifyNamesTheHarm(t *testing.T) {
	alter := func(n int, change func(*Row)) func([]Row) []Row {
		return func(rows []Row) []Row {
			change(&rows[n-1])
			return rows
		}
	}
	actor, prev := func(r *Row) { r.Actor = "eve" }, func(r *Row) { r.Prev[31] ^= 1 }
	another, _ := build(t, Start("site_b"), entry(1), entry(2), entry(3))
	for _, c := range []struct {
		name        string
		do          func([]Row) []Row
		harm        Harm
		first, last uint64
	}{
		{"first altered", alter(1, actor), Altered, 1, 1},
		{"one altered", alter(4, actor), Altered, 4, 4},
		{"one but last altered", alter(7, actor), Altered, 7, 7},
		{"last altered or all made anew", alter(8, actor), Altered, 1, 8},
		{"first hash altered", alter(1, prev), Altered, 1, 1},
		{"one hash altered", alter(4, prev), Altered, 4, 4},
		{"last hash altered", alter(8, prev), Altered, 8, 8},
		{"revision raised", alter(4, func(r *Row) { r.Revision = 40 }), Altered, 4, 4},
		{"revision lowered", alter(4, func(r *Row) { r.Revision = 2 }), Altered, 4, 4},
		{"last revision altered", alter(8, func(r *Row) { r.Revision = 9 }), Altered, 8, 8},
		{"time altered by a nanosecond", alter(4, func(r *Row) { r.Time = r.Time.Add(1) }), Altered, 4, 4},
		{"fact taken out", alter(4, func(r *Row) { r.Facts = nil }), Altered, 4, 4},
		{"key taken out", alter(4, func(r *Row) { r.Keys = r.Keys[1:] }), Altered, 4, 4},
		{"first removed", func(r []Row) []Row { return r[1:] }, Missing, 1, 1},
		{"one removed", func(r []Row) []Row { return slices.Delete(r, 3, 4) }, Missing, 4, 4},
		{"three removed", func(r []Row) []Row { return slices.Delete(r, 3, 6) }, Missing, 4, 6},
		{"last removed", func(r []Row) []Row { return r[:7] }, Truncated, 8, 8},
		{"end removed", func(r []Row) []Row { return r[:3] }, Truncated, 4, 8},
		{"all removed", func([]Row) []Row { return nil }, Truncated, 1, 8},
		{"neighbours swapped", func(r []Row) []Row { r[3], r[4] = r[4], r[3]; return r }, Reordered, 4, 5},
		{"last two swapped", func(r []Row) []Row { r[6], r[7] = r[7], r[6]; return r }, Reordered, 7, 8},
		{"moved to the end", func(r []Row) []Row { return append(slices.Delete(slices.Clone(r), 3, 4), r[3]) }, Missing, 4, 4},
		{"doubled", func(r []Row) []Row { return slices.Insert(r, 4, r[3]) }, Repeated, 4, 4},
		{"last doubled", func(r []Row) []Row { return append(r, r[7]) }, Repeated, 8, 8},
		{"first again at the end", func(r []Row) []Row { return append(r, r[0]) }, Repeated, 1, 1},
		{"replaced by an earlier one", func(r []Row) []Row { r[3] = r[1]; return r }, Repeated, 2, 2},
		{"replaced by a later one", func(r []Row) []Row { r[3] = r[6]; return r }, Missing, 4, 6},
		{"forged in between", func(r []Row) []Row {
			forged, _ := build(t, Head{3, r[2].Hash()}, entry(99))
			return slices.Insert(r, 3, forged[0])
		}, Repeated, 4, 4},
		{"replaced by a row that fits", func(r []Row) []Row {
			forged, _ := build(t, Head{3, r[2].Hash()}, entry(99))
			r[3] = forged[0]
			return r
		}, Altered, 4, 4},
		{"removed and renumbered", func(r []Row) []Row {
			r = slices.Delete(r, 3, 4)
			for i := range r {
				r[i].Revision = uint64(i + 1)
			}
			return r
		}, Altered, 4, 4},
		{"made anew from the fourth on", func(r []Row) []Row {
			forged, _ := build(t, Head{3, r[2].Hash()}, entry(99), entry(5), entry(6), entry(7), entry(8))
			return append(r[:3], forged...)
		}, Altered, 1, 8},
		{"another log's rows", func([]Row) []Row { return another }, Altered, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, heads := plain(t, 8)
			reached, err := Verify(heads[0], of(c.do(slices.Clone(rows))), heads[8])
			got := asBroken(t, err)
			if c.harm == Repeated && !strings.Contains(err.Error(), "repeated after row ") {
				t.Errorf("%v does not say where", err)
			}
			if got.Harm != c.harm || got.First != c.first || got.Last != c.last {
				t.Errorf("%v, want rows %d to %d %s", err, c.first, c.last, c.harm)
			}
			if whole := c.harm != Altered && c.harm != Repeated; reached != (Head{}) || whole && got.Sound != heads[c.first-1] {
				t.Errorf("reached %v, sound up to %v", reached, got.Sound)
			}
		})
	}
}

// Every bit of every row matters, and the row it is in is named: exactly, but
// for the last one, which only a known head stands by.
func TestEveryBit(t *testing.T) {
	rows, heads := plain(t, 5)
	good := forms(t, rows)
	for n, form := range good {
		for bit := range len(form) * 8 {
			bad := slices.Clone(good)
			bad[n] = bytes.Clone(form)
			bad[n][bit/8] ^= 1 << (bit % 8)
			_, err := Verify(heads[0], parsed(bad), heads[5])
			got, revision := asBroken(t, err), uint64(n+1)
			exact := got.First == revision && got.Last == revision
			if !exact && (n != 4 || revision < got.First || got.Last < revision) {
				t.Fatalf("bit %d of row %d: %v", bit, revision, err)
			}
			_, err = Verify(heads[0], parsed(bad)) // no head known
			if n < 4 {
				if got := asBroken(t, err); revision < got.First || got.Last < revision {
					t.Fatalf("no head known, bit %d of row %d: %v", bit, revision, err)
				}
			}
		}
	}
}

// Any one thing done to any log is found, wherever verification begins before
// it, and lies where the error says.
func TestEverySingleHarmIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, heads := genLog(t, 2)
		n := rapid.IntRange(0, len(rows)-1).Draw(t, "row") // the first row harmed
		m := rapid.IntRange(0, len(rows)-1).Draw(t, "other")
		from := rapid.IntRange(0, n).Draw(t, "from")
		harmed := slices.Clone(rows)
		switch rapid.SampledFrom([]string{"remove", "double", "swap", "replace", "truncate", "alter"}).Draw(t, "harm") {
		case "remove":
			harmed = slices.Delete(harmed, n, n+1)
		case "double":
			harmed = slices.Insert(harmed, rapid.IntRange(n+1, len(rows)).Draw(t, "to"), rows[n])
		case "swap":
			n, m = min(n, m), max(n, m)
			from = min(from, n)
			harmed[n], harmed[m] = harmed[m], harmed[n]
		case "replace":
			harmed[n] = rows[m]
		case "truncate":
			harmed = harmed[:n]
		case "alter":
			e := genEntry().Draw(t, "new")
			harmed[n].Time, harmed[n].Actor, harmed[n].Facts, harmed[n].Keys = e.Time, e.Actor, e.Facts, e.Keys
		}
		same := len(harmed) == len(rows) && slices.EqualFunc(harmed, rows, func(a, b Row) bool { return a.Hash() == b.Hash() })
		last := heads[len(heads)-1]
		_, err := Verify(heads[from], of(harmed[from:]), last)
		if same {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		got, at := asBroken(t, err), uint64(n+1)
		// A repeated row is named itself; where it turned up is after Sound.
		if named := got.First <= at && at <= got.Last; !named && (got.Harm != Repeated || got.Sound.Revision+1 != at) {
			t.Fatalf("row %d was harmed: %v", at, err)
		}
	})
}

// Without a known head a cut end or a changed last row looks whole. It is why
// heads are kept elsewhere.
func TestOnlyAKnownHeadGuardsTheEnd(t *testing.T) {
	rows, heads := plain(t, 5)
	if got, err := Verify(heads[0], of(rows[:3])); err != nil || got != heads[3] {
		t.Errorf("cut: %v, %v", got, err)
	}
	rows[4].Actor = "eve"
	if got, err := Verify(heads[0], of(rows)); err != nil || got == heads[5] {
		t.Errorf("changed: %v, %v", got, err)
	}
	if got := asBroken(t, second(Verify(heads[0], of(rows), heads[5], heads[3]))); got.First != 4 || got.Last != 5 {
		t.Errorf("a head in between narrows it down: %v", got)
	}
}

// A known head at the altered row itself, and rows after it, name it exactly.
func TestAKnownHeadInTheMiddle(t *testing.T) {
	rows, heads := plain(t, 5)
	rows[2].Actor = "eve"
	if got := asBroken(t, second(Verify(heads[0], of(rows), heads[3]))); got.Harm != Altered || got.First != 3 || got.Last != 3 {
		t.Errorf("%v", got)
	}
	anew, _ := build(t, heads[1], entry(7), entry(8), entry(9))
	forged := append(slices.Clone(rows[:1]), anew...)
	if got := asBroken(t, second(Verify(heads[0], of(forged), heads[3], heads[1]))); got.First != 2 || got.Last != 3 {
		t.Errorf("made anew after a known head: %v", got)
	}
}

func second(_ Head, err error) error { return err }

// With neither a next row nor a known head, two rows stay in doubt.
func TestTheLastPairStaysInDoubt(t *testing.T) {
	rows, heads := plain(t, 5)
	rows[3].Actor = "eve"
	got := asBroken(t, second(Verify(heads[0], of(rows))))
	if got.Harm != Altered || got.First != 4 || got.Last != 5 || got.Error() != "journal: rows 4 to 5 altered (ID-6)" {
		t.Errorf("%v", got)
	}
	got = asBroken(t, second(Verify(heads[0], of(rows), heads[3]))) // row 3 is vouched for, row 4 not
	if got.First != 4 || got.Last != 5 {
		t.Errorf("%v", got)
	}
	if got = asBroken(t, second(Verify(heads[4], of(rows[3:])))); got.Harm != Repeated {
		t.Errorf("a row from before the beginning: %v", got)
	}
}

func TestVerifyRefusesHeadsThatProveNothing(t *testing.T) {
	rows, heads := plain(t, 5)
	forged := Head{4, heads[3].Hash}
	for name, known := range map[string][]Head{
		"is before 2":                    {heads[5], heads[1]},
		"the one to begin from differ":   {{2, heads[3].Hash}},
		"two of revision 4 differ":       {heads[4], heads[5], forged},
		"two of revision 4 differ (ID-)": {forged, heads[4], forged},
	} {
		_, err := Verify(heads[2], of(rows[2:]), known...)
		bad, ok := errors.AsType[*Malformed](err)
		if !ok || !strings.Contains(bad.Error(), strings.TrimSuffix(name, " (ID-)")) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}

func TestUnreadableRows(t *testing.T) {
	rows, heads := plain(t, 4)
	bad := forms(t, rows)
	bad[2] = bad[2][:40]
	err := second(Verify(heads[0], parsed(bad)))
	got := asBroken(t, err)
	if got.Harm != Unreadable || got.First != 3 || got.Last != 3 || got.Sound != heads[2] {
		t.Errorf("%v, sound up to %v", got, got.Sound)
	}
	if why, ok := errors.AsType[*Malformed](err); !ok || why != got.Err {
		t.Errorf("%v does not wrap why", err)
	}
	rows[1].Prev = Hash{}
	bad = append(forms(t, rows[:2]), []byte("x"))
	if got := asBroken(t, second(Verify(heads[0], parsed(bad)))); got.Harm != Altered || got.Last != 2 {
		t.Errorf("the first harm is named, not the second: %v", got)
	}
}

func TestReadErrorsAreNoHarm(t *testing.T) {
	rows, heads := plain(t, 2)
	gone := errors.New("the disk is gone")
	fails := iter.Seq2[Row, error](func(yield func(Row, error) bool) {
		if yield(rows[0], nil) {
			yield(Row{}, gone)
		}
	})
	_, err := Verify(heads[0], fails, heads[2])
	if _, broken := errors.AsType[*Broken](err); broken || !errors.Is(err, gone) || !strings.Contains(err.Error(), "row 2") {
		t.Errorf("%v", err)
	}
}

// Segments of a log prove what the whole does, each by itself.
func TestSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, heads := genLog(t, 2)
		cut := rapid.IntRange(1, len(rows)-1).Draw(t, "cut")
		a, b := Segment{heads[0], heads[cut]}, Segment{heads[cut], heads[len(rows)]}
		if err := errors.Join(a.Verify(of(rows[:cut])), b.Verify(of(rows[cut:]))); err != nil {
			t.Fatal(err)
		}
		got := asBroken(t, a.Verify(of(rows)))
		if got.Harm != Surplus || got.First != uint64(cut+1) || got.Last != uint64(len(rows)) || got.Sound != a.To {
			t.Fatalf("%v", got)
		}
		if got := asBroken(t, b.Verify(of(rows[cut:len(rows)-1]))); got.Harm != Truncated || got.First != uint64(len(rows)) {
			t.Fatalf("%v", got)
		}
		asBroken(t, b.Verify(of(rows[:cut])))
	})
}

func BenchmarkVerifyRow(b *testing.B) {
	rows, heads := plain(b, 1)
	row := rows[0]
	b.ReportAllocs()
	endless := func(yield func(Row, error) bool) {
		head := heads[0]
		for b.Loop() { // the same row over and over, each in its place
			row.Revision, row.Prev = head.Revision+1, head.Hash
			head = Head{row.Revision, row.Hash()} // so a turn hashes twice
			if !yield(row, nil) {
				return
			}
		}
	}
	if _, err := Verify(heads[0], endless); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkVerifyLog1000(b *testing.B) {
	rows, heads := plain(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Verify(heads[0], of(rows), heads[1000]); err != nil {
			b.Fatal(err)
		}
	}
}
