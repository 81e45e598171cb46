package journal

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// entry makes a plain one; n tells it from others.
func entry(n int) Entry {
	return Entry{
		Time: noon.Add(time.Duration(n) * time.Second), Actor: "ann",
		Facts: []Fact{{"node.cordoned", fmt.Sprint("node_", n), `{"reason":"fan"}`}},
		Keys:  []string{fmt.Sprint("node/", n), "site"},
	}
}

// genEntry draws one of any legal shape.
func genEntry() *rapid.Generator[Entry] {
	text := rapid.StringN(0, 12, 40)
	fact := rapid.Custom(func(t *rapid.T) Fact {
		return Fact{rapid.StringMatching(`[a-z][a-z0-9._-]{0,20}`).Draw(t, "type"), text.Draw(t, "subject"), text.Draw(t, "body")}
	})
	return rapid.Custom(func(t *rapid.T) Entry {
		return Entry{
			Time:  time.Unix(rapid.Int64Range(0, 253_000_000_000).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")),
			Actor: rapid.StringN(1, 12, 40).Draw(t, "actor"),
			Facts: rapid.SliceOfN(fact, 1, 4).Draw(t, "facts"),
			Keys:  rapid.SliceOfN(rapid.StringN(1, 12, 40), 0, 4).Draw(t, "keys"),
		}
	})
}

// build appends entries to from and returns the rows and the heads, from first.
func build(t interface{ Fatal(...any) }, from Head, entries ...Entry) ([]Row, []Head) {
	rows, heads := []Row{}, []Head{from}
	for _, e := range entries {
		row, head, err := heads[len(heads)-1].Append(e)
		if err != nil {
			t.Fatal(err)
		}
		rows, heads = append(rows, row), append(heads, head)
	}
	return rows, heads
}

// plain builds n plain rows.
func plain(t interface{ Fatal(...any) }, n int) ([]Row, []Head) {
	var entries []Entry
	for i := range n {
		entries = append(entries, entry(i+1))
	}
	return build(t, Start("site_a"), entries...)
}

// genLog draws a log of at least `least` rows.
func genLog(t *rapid.T, least int) ([]Row, []Head) {
	return build(t, Start(rapid.String().Draw(t, "name")), rapid.SliceOfN(genEntry(), least, least+6).Draw(t, "entries")...)
}

// of yields rows without an error.
func of(rows []Row) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// parsed yields rows out of their forms, as a store does.
func parsed(forms [][]byte) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for _, b := range forms {
			if r, err := ParseRow(b); !yield(r, err) {
				return
			}
		}
	}
}

func forms(t interface{ Fatal(...any) }, rows []Row) [][]byte {
	var all [][]byte
	for _, r := range rows {
		b, err := r.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

func asBroken(t interface{ Fatalf(string, ...any) }, err error) *Broken {
	b, ok := errors.AsType[*Broken](err)
	if !ok {
		t.Fatalf("got %v, want a *Broken", err)
	}
	if b.Code() != "INVALID_STATE" || !strings.Contains(b.Error(), string(b.Harm)) {
		t.Fatalf("%s: code %s", b, b.Code())
	}
	if b.First > b.Last {
		t.Fatalf("rows %d to %d", b.First, b.Last)
	}
	return b
}

func TestAppendMakesTheNextRow(t *testing.T) {
	in := entry(1)
	in.Time = in.Time.In(time.FixedZone("", 3600))
	in.Keys = []string{"b", "a", "b"}
	row, head, err := Start("site_a").Append(in)
	if err != nil {
		t.Fatal(err)
	}
	if row.Revision != 1 || row.Prev != Start("site_a").Hash || head != (Head{1, row.Hash()}) {
		t.Errorf("%+v, %v", row, head)
	}
	if !slices.Equal(row.Keys, []string{"a", "b"}) || !slices.Equal(in.Keys, []string{"b", "a", "b"}) {
		t.Errorf("keys %q, entry's %q", row.Keys, in.Keys)
	}
	if !row.Time.Equal(in.Time) || row.Time.Location() != time.UTC {
		t.Errorf("time %v, want %v in UTC", row.Time, in.Time)
	}
	in.Facts[0].Type = "node.drained"
	if row.Facts[0].Type != "node.cordoned" {
		t.Error("the row shares its facts with the entry")
	}
}

func TestAppendRefuses(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	for name, c := range map[string]struct {
		change func(*Entry)
		why    string
	}{
		"no fact":         {func(e *Entry) { e.Facts = nil }, "changes nothing"}, // MACH-9
		"too many facts":  {func(e *Entry) { e.Facts = slices.Repeat(e.Facts, MaxFacts+1) }, "65537, want at most 65536"},
		"no actor":        {func(e *Entry) { e.Actor = "" }, "actor: 0 bytes"},
		"long actor":      {func(e *Entry) { e.Actor = long(MaxActor + 1) }, "actor: 257 bytes"},
		"no time":         {func(e *Entry) { e.Time = time.Time{} }, "year 1 "},
		"time past text":  {func(e *Entry) { e.Time = time.Unix(1<<40, 0) }, "time: year"},
		"no type":         {func(e *Entry) { e.Facts[0].Type = "" }, "fact 0: journal: type"},
		"type in capital": {func(e *Entry) { e.Facts[0].Type = "Node" }, "fact 0: journal: type"},
		"type from digit": {func(e *Entry) { e.Facts[0].Type = "1a" }, "fact 0: journal: type"},
		"long type":       {func(e *Entry) { e.Facts[0].Type = long(MaxType + 1) }, "fact 0: journal: type: 129"},
		"long subject":    {func(e *Entry) { e.Facts[0].Subject = long(MaxSubject + 1) }, "subject: 257"},
		"long body":       {func(e *Entry) { e.Facts[0].Body = long(MaxBody + 1) }, "body: 65537"},
		"empty key":       {func(e *Entry) { e.Keys = []string{"a", ""} }, "key 0 is 0 bytes"},
		"long key":        {func(e *Entry) { e.Keys = []string{long(MaxKey + 1)} }, "key 0 is 1025 bytes"},
		"too many keys": {func(e *Entry) {
			e.Keys = nil
			for i := range MaxKeys + 1 {
				e.Keys = append(e.Keys, fmt.Sprint(i))
			}
		}, "262145, want at most 262144"},
		"too long in all": {func(e *Entry) {
			e.Facts[0].Body = long(MaxBody)
			e.Facts = slices.Repeat(e.Facts, 512)
		}, "want at most 33554432"},
	} {
		t.Run(name, func(t *testing.T) {
			e := entry(1)
			c.change(&e)
			row, head, err := Start("site_a").Append(e)
			bad, ok := errors.AsType[*Malformed](err)
			if !ok || bad.Code() != "INVALID_INPUT" || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%v, want %q", err, c.why)
			}
			if row.Revision != 0 || head != Start("site_a") {
				t.Error("something was appended")
			}
		})
	}
	if _, _, err := (Head{Revision: 1<<64 - 1}).Append(entry(1)); err == nil {
		t.Error("revisions wrap around")
	}
}

// What is just at its bound is a row still, and reads back.
func TestAppendTakesWhatIsAtItsBound(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	for name, change := range map[string]func(*Entry){
		"actor":   func(e *Entry) { e.Actor = long(MaxActor) },
		"type":    func(e *Entry) { e.Facts[0].Type = long(MaxType) },
		"subject": func(e *Entry) { e.Facts[0].Subject = long(MaxSubject) },
		"body":    func(e *Entry) { e.Facts[0].Body = long(MaxBody) },
		"key":     func(e *Entry) { e.Keys = []string{long(MaxKey)} },
		"facts":   func(e *Entry) { e.Facts = slices.Repeat(e.Facts, MaxFacts) },
		"1970":    func(e *Entry) { e.Time = time.Unix(0, 0) },
		"9999":    func(e *Entry) { e.Time = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC) },
		"keys": func(e *Entry) {
			e.Keys = nil
			for i := range MaxKeys {
				e.Keys = append(e.Keys, fmt.Sprint(i))
			}
		},
		"row": func(e *Entry) {
			room := MaxRow - (Row{Actor: "ann"}).size()
			full := Fact{Type: "a", Body: long(MaxBody)}
			for ; room > 0; room -= 3*4 + 1 + len(full.Body) {
				full.Body = full.Body[:min(MaxBody, room-3*4-1)]
				e.Facts = append(e.Facts, full)
			}
			e.Facts, e.Keys = e.Facts[1:], nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := entry(1)
			change(&e)
			rows, _ := build(t, Start(""), e)
			b := forms(t, rows)[0]
			if name == "row" && len(b) != MaxRow {
				t.Fatalf("the row has %d bytes, want MaxRow", len(b))
			}
			if back, err := ParseRow(b); err != nil || back.Hash() != rows[0].Hash() {
				t.Errorf("does not read back: %v", err)
			}
		})
	}
}

func TestTypesOfEvent2(t *testing.T) {
	for _, name := range []string{"node.cordoned", "security.node.duplicate-session", "registration.awaiting_setup", "a", strings.Repeat("a", MaxType)} {
		e := entry(1)
		e.Facts[0].Type = name
		if _, _, err := Start("").Append(e); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHeads(t *testing.T) {
	if Start("a") == Start("b") || Start("") == (Head{}) {
		t.Error("logs of two names begin alike")
	}
	sum := strings.Repeat("0a", 32)
	for in, ok := range map[string]bool{
		"0:" + sum: true, "7:" + sum: true, "18446744073709551615:" + sum: true,
		"18446744073709551616:" + sum: false, "07:" + sum: false, "+7:" + sum: false, ":" + sum: false,
		"7:" + strings.ToUpper(sum): false, "7:" + sum[2:]: false, "7:" + sum + "00": false, "7:" + sum[1:] + "g": false,
		"7" + sum: false, "": false, ":": false, "7:" + sum + "\n": false, strings.Repeat("0", 1000) + ":" + sum: false,
	} {
		h, err := ParseHead(in)
		if (err == nil) != ok || ok && h.String() != in || !ok && h != (Head{}) {
			t.Errorf("ParseHead(%q) = %v, %v", in, h, err)
		}
	}
}

func FuzzParseHead(f *testing.F) {
	f.Add(Start("site_a").String())
	f.Add("18446744073709551615:" + strings.Repeat("ff", 32))
	f.Fuzz(func(t *testing.T, s string) {
		if h, err := ParseHead(s); err == nil && h.String() != s {
			t.Fatalf("%q is another spelling of %s", s, h)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	h, e := Start("site_a"), entry(1)
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if _, h, err = h.Append(e); err != nil {
			b.Fatal(err)
		}
	}
}
