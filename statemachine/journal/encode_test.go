package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The form is fixed: a changed byte would break every chain there is. The values
// were made apart from this code.
func TestRowVector(t *testing.T) {
	row, _, err := Start("site_a").Append(Entry{
		Time: noon.Add(7), Actor: "ann",
		Facts: []Fact{{"node.cordoned", "node_1", "{}"}},
		Keys:  []string{"node/1", "a"},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := row.MarshalBinary()
	if got := hex.EncodeToString(b); err != nil || got != "0100000000000000010000000069f495c00000000700000003616e6e000000010000000d6e6f64652e636f72646f6e6564000000066e6f64655f31000000027b7d000000020000000161000000066e6f64652f31b43cb4221f613b890e974c5537f496cc011ef6b52f76aaa35d9463f104cc1b67" {
		t.Errorf("form %s, %v", got, err)
	}
	if got := row.Hash().String(); got != "6ca2c7ec172458a21758706d81df19c32317b52006f872cae2821fbfda9f53ae" {
		t.Errorf("hash %s", got)
	}
}

// What is appended reads back the same, and equal forms come from equal rows
// alone.
func TestRowsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, _ := genLog(t, 1)
		seen := map[string]Row{}
		for i, b := range forms(t, rows) {
			back, err := ParseRow(b)
			if err != nil || !reflect.DeepEqual(back, rows[i]) {
				t.Fatalf("%+v came back as %+v, %v", rows[i], back, err)
			}
			if len(b) != rows[i].size() {
				t.Fatalf("size says %d, the form has %d", rows[i].size(), len(b))
			}
			if other, ok := seen[string(b)]; ok {
				t.Fatalf("%+v and %+v have one form", other, rows[i])
			}
			seen[string(b)] = rows[i]
		}
	})
}

// Moving a character from the end of one string to the start of the next makes
// another form: lengths leave no doubt.
func TestFormsAreUnambiguous(t *testing.T) {
	a, b := entry(1), entry(1)
	a.Facts[0].Subject, a.Facts[0].Body = "ab", "c"
	b.Facts[0].Subject, b.Facts[0].Body = "a", "bc"
	rows, _ := build(t, Start(""), a)
	others, _ := build(t, Start(""), b)
	if rows[0].Hash() == others[0].Hash() {
		t.Error("two rows, one hash")
	}
}

func TestAppendBinaryKeepsWhatIsThere(t *testing.T) {
	rows, _ := plain(t, 1)
	got, err := rows[0].AppendBinary([]byte("ab"))
	if err != nil || !bytes.Equal(got, append([]byte("ab"), forms(t, rows)[0]...)) {
		t.Errorf("%x, %v", got, err)
	}
	if got, err := (Row{}).AppendBinary([]byte("ab")); err == nil || string(got) != "ab" {
		t.Errorf("the zero Row became %q, %v", got, err)
	}
	if got, err := (Row{}).MarshalBinary(); err == nil || got != nil {
		t.Errorf("the zero Row became %q, %v", got, err)
	}
}

func TestParseRowRefuses(t *testing.T) {
	rows, _ := plain(t, 1)
	good := forms(t, rows)[0]
	set := func(at int, with ...byte) []byte {
		b := bytes.Clone(good)
		copy(b[at:], with)
		return b
	}
	max32 := binary.BigEndian.AppendUint32(nil, 1<<32-1)
	facts := 1 + 8 + 8 + 4 + 4 + len("ann")
	keys := len(good) - len(Hash{}) - 4*3 - len("node/1") - len("site")
	unsorted, repeated := rows[0], rows[0]
	unsorted.Keys = []string{"b", "a"}
	repeated.Keys = []string{"a", "a"}
	for name, c := range map[string]struct {
		in  []byte
		why string
	}{
		"nothing":            {nil, "cut off"},
		"version 0":          {set(0, 0), "version 0 is unknown"},
		"version 2":          {set(0, 2), "version 2 is unknown"},
		"revision 0":         {set(1, make([]byte, 8)...), "before the first row"},
		"far time":           {set(9, 0x7f), "time: year"},
		"before 1970":        {set(9, bytes.Repeat([]byte{0xff}, 8)...), "year 1969"},
		"long second":        {set(17, max32...), "a second or more"},
		"a whole second":     {set(17, binary.BigEndian.AppendUint32(nil, 1e9)...), "a second or more"},
		"huge actor":         {set(21, max32...), "cut off"},
		"huge count of fact": {set(facts, max32...), "cut off"},
		"no fact":            {set(facts, 0, 0, 0, 0), ""},
		"huge count of key":  {set(keys, max32...), "cut off"},
		"trailing":           {append(bytes.Clone(good), 0), "1 bytes too many"},
		"unsorted keys":      {unsorted.encode(nil), "key 1 is not after"},
		"repeated keys":      {repeated.encode(nil), "key 1 is not after"},
		"too long":           {make([]byte, MaxRow+1), "want at most 33554432"},
	} {
		row, err := ParseRow(c.in)
		if bad, ok := errors.AsType[*Malformed](err); !ok || !strings.Contains(bad.Error(), c.why) || !reflect.DeepEqual(row, Row{}) {
			t.Errorf("%s: %+v, %v, want %q", name, row, err, c.why)
		}
	}
	for n := range good {
		if _, err := ParseRow(good[:n]); err == nil {
			t.Errorf("cut at %d of %d, and read", n, len(good))
		}
	}
}

// A count is not believed: four bytes that promise a quarter million keys make
// no room for them.
func TestParseRowMakesNoRoomForPromises(t *testing.T) {
	rows, _ := plain(t, 1)
	b := forms(t, rows)[0]
	keys := len(b) - len(Hash{}) - 4*3 - len("node/1") - len("site")
	binary.BigEndian.PutUint32(b[keys:], MaxKeys)
	if n := testing.AllocsPerRun(10, func() {
		if _, err := ParseRow(b); err == nil {
			t.Fatal("read")
		}
	}); n > 12 {
		t.Errorf("%.0f allocations", n)
	}
}

func FuzzParseRow(f *testing.F) {
	rows, _ := plain(f, 2)
	for _, b := range forms(f, rows) {
		f.Add(b)
		f.Add(b[:len(b)-1])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseRow(b)
		if err != nil {
			return
		}
		again, err := r.MarshalBinary()
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%x reads as a row whose form is %x, %v", b, again, err)
		}
	})
}

func BenchmarkParseRow(b *testing.B) {
	rows, _ := plain(b, 1)
	form := forms(b, rows)[0]
	b.SetBytes(int64(len(form)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseRow(form); err != nil {
			b.Fatal(err)
		}
	}
}
