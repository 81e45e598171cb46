package journal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
)

// streamMagic begins a stream: a name, and a version that a change of the form
// counts up.
const streamMagic = "INGOTLOG\x01"

// WriteStream writes rows to w as one stream that can be verified alone: the head
// before the first, each row's canonical form, and the head they end at. It is the
// form of an export and of a sealed segment (see [Segment]). It returns the last
// row's head; from where there is none.
//
// The form: "INGOTLOG", version 1 (8 bits), a head; for each row its length (32
// bits, never 0) and its form; then 32 bits of 0 and the last head. A head is a
// revision (64 bits) and a hash (256). Numbers are big-endian. The error is what w
// or rows gave, or *[Malformed] for what is no row.
func WriteStream(w io.Writer, from Head, rows iter.Seq2[Row, error]) (Head, error) {
	out := bufio.NewWriter(w)
	buf := appendHead([]byte(streamMagic), from)
	if _, err := out.Write(buf); err != nil {
		return from, err
	}
	to := from
	for row, err := range rows {
		if err != nil {
			return to, err
		}
		raw, err := row.AppendBinary(append(buf[:0], 0, 0, 0, 0))
		if err != nil {
			return to, err
		}
		binary.BigEndian.PutUint32(raw, uint32(len(raw)-4))
		if _, err := out.Write(raw); err != nil {
			return to, err
		}
		to, buf = Head{row.Revision, row.Hash()}, raw
	}
	if _, err := out.Write(appendHead(append(buf[:0], 0, 0, 0, 0), to)); err != nil {
		return to, err
	}
	return to, out.Flush()
}

func appendHead(b []byte, h Head) []byte {
	return append(binary.BigEndian.AppendUint64(b, h.Revision), h.Hash[:]...)
}

// A Stream is what WriteStream wrote, as it is read. Nothing in it is proved: give
// its rows to [Verify], with its From or better a head that is known from
// elsewhere.
type Stream struct {
	From Head // the head before its first row, as the stream says
	To   Head // its last row's, as the stream says; zero until the rows were read
	in   *bufio.Reader
}

// ReadStream reads the beginning of a stream. The error is *[Malformed] for what
// is none, or what r gave.
func ReadStream(r io.Reader) (*Stream, error) {
	s := &Stream{in: bufio.NewReader(r)}
	magic := make([]byte, len(streamMagic))
	err := s.fill(magic)
	if err == nil && string(magic) == streamMagic {
		s.From, err = s.head()
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), string(magic) != streamMagic && err == nil:
		return nil, malformed("stream", "it does not begin as an export or a segment of version 1")
	case err != nil:
		return nil, err
	}
	return s, nil
}

// Rows yields the stream's rows, once. A stream that ends before its end, or
// within a row, yields *[Broken] with Truncated; one whose last head is not its last
// row's, Altered.
func (s *Stream) Rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		at := s.From
		for {
			row, more, err := s.row()
			switch {
			case errors.Is(err, io.ErrUnexpectedEOF):
				yield(Row{}, &Broken{Harm: Truncated, First: at.Revision + 1, Last: at.Revision + 1, Sound: at})
				return
			case err != nil:
				yield(Row{}, err)
				return
			case !more:
				if s.To != at {
					yield(Row{}, &Broken{Harm: Altered, First: at.Revision, Last: at.Revision, Sound: s.From})
				}
				return
			}
			at = Head{row.Revision, row.Hash()}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// row reads the next row, or the end.
func (s *Stream) row() (row Row, more bool, err error) {
	var size [4]byte
	if err := s.fill(size[:]); err != nil {
		return Row{}, false, err
	}
	n := binary.BigEndian.Uint32(size[:])
	switch {
	case n == 0:
		s.To, err = s.head()
		return Row{}, false, err
	case n > MaxRow:
		return Row{}, false, malformed("stream", "a row of %d bytes, want at most %d", n, MaxRow)
	}
	// No more is taken than is there, whatever the length says.
	raw, err := io.ReadAll(io.LimitReader(s.in, int64(n)))
	switch {
	case err != nil:
		return Row{}, false, fmt.Errorf("journal: stream: %w", err)
	case len(raw) < int(n):
		return Row{}, false, io.ErrUnexpectedEOF
	}
	row, err = ParseRow(raw)
	return row, true, err
}

func (s *Stream) head() (Head, error) {
	var raw [8 + len(Hash{})]byte
	if err := s.fill(raw[:]); err != nil {
		return Head{}, err
	}
	h := Head{Revision: binary.BigEndian.Uint64(raw[:])}
	copy(h.Hash[:], raw[8:])
	return h, nil
}

// fill reads all of b.
func (s *Stream) fill(b []byte) error {
	_, err := io.ReadFull(s.in, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("journal: stream: %w", err)
	}
	return nil
}
