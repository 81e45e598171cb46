package journal

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// given yields rows without errors.
func given(rows []Row) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// gather reads a whole stream.
func gather(b []byte) (*Stream, []Row, error) {
	s, err := ReadStream(bytes.NewReader(b))
	if err != nil {
		return nil, nil, err
	}
	var rows []Row
	for row, err := range s.Rows() {
		if err != nil {
			return s, rows, err
		}
		rows = append(rows, row)
	}
	return s, rows, nil
}

// What is written is read back, and verifies.
func TestStreamRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, heads := build(t, Start("lab"), rapid.SliceOfN(genEntry(), 0, 5).Draw(t, "entries")...)
		from := rapid.IntRange(0, len(rows)).Draw(t, "from")
		var b bytes.Buffer
		to, err := WriteStream(&b, heads[from], given(rows[from:]))
		if err != nil || to != heads[len(rows)] {
			t.Fatalf("%v, %v", to, err)
		}
		s, got, err := gather(b.Bytes())
		if err != nil || s.From != heads[from] || s.To != to || len(got) != len(rows)-from {
			t.Fatalf("%+v, %d rows, %v", s, len(got), err)
		}
		seg := Segment{From: s.From, To: s.To}
		if err := seg.Verify(given(got)); err != nil {
			t.Fatal(err)
		}
	})
}

// A stream that was cut anywhere is told from a whole one, and so is one that had
// any bit changed.
func TestStreamHarmed(t *testing.T) {
	rows, heads := plain(t, 3)
	var b bytes.Buffer
	if _, err := WriteStream(&b, heads[0], given(rows)); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	for n := range whole {
		_, _, err := gather(whole[:n])
		var malformed *Malformed
		var broken *Broken
		if !errors.As(err, &malformed) && !(errors.As(err, &broken) && broken.Harm == Truncated) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
	for i := range whole {
		harmed := bytes.Clone(whole)
		harmed[i] ^= 1
		s, rows, err := gather(harmed)
		if err == nil {
			_, err = Verify(heads[0], given(rows), heads[3], s.To)
			if s.From != heads[0] {
				err = errors.New("another beginning")
			}
		}
		if err == nil {
			t.Fatalf("byte %d changed, and nobody noticed", i)
		}
	}
}

// Errors of the writer and of the rows come back.
func TestStreamErrors(t *testing.T) {
	rows, heads := plain(t, 2)
	boom := errors.New("boom")
	failing := func(yield func(Row, error) bool) { _ = yield(rows[0], nil) && yield(Row{}, boom) }
	if _, err := WriteStream(io.Discard, heads[0], failing); !errors.Is(err, boom) {
		t.Error(err)
	}
	if _, err := WriteStream(full{}, heads[0], given(rows)); !errors.Is(err, errFull) {
		t.Error(err)
	}
	if _, err := WriteStream(io.Discard, heads[0], given([]Row{{}})); err == nil {
		t.Error("what is no row was written")
	}
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func FuzzReadStream(f *testing.F) {
	rows, heads := plain(f, 2)
	var b bytes.Buffer
	if _, err := WriteStream(&b, heads[0], given(rows)); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:60])
	f.Add([]byte(streamMagic))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, rows, err := gather(in)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if _, err := WriteStream(&again, s.From, given(rows)); err != nil {
			t.Fatal(err)
		}
		s2, rows2, err := gather(again.Bytes())
		if err != nil || *s2.pair() != *s.pair() || !reflect.DeepEqual(rows, rows2) {
			t.Fatalf("%v", err)
		}
	})
}

// pair is what of a stream can be compared.
func (s *Stream) pair() *Segment { return &Segment{s.From, s.To} }
