package journal

import (
	"encoding/binary"
	"time"
)

// version is the first byte of an encoded row. Another layout takes another
// number, and old rows stay as they are: their hashes are in the chain.
const version = 1

// fixed is the size of what every row has: version, revision, seconds,
// nanoseconds, three counts or lengths, and the hash before.
const fixed = 1 + 8 + 8 + 4 + 3*4 + len(Hash{})

// AppendBinary appends r's canonical form to b. Equal rows have equal forms and
// unequal ones unequal forms. Numbers are big-endian; a string or a list is its
// length in 32 bits, then what it holds:
//
//	version 1 (8 bits), revision (64), Unix seconds (64), nanoseconds (32),
//	actor, facts (type, subject, body), keys, hash of the row before (256)
//
// The error is [*Malformed], with b unchanged, where r is no row.
func (r Row) AppendBinary(b []byte) ([]byte, error) {
	if err := r.validate(); err != nil {
		return b, err
	}
	return r.encode(b), nil
}

// MarshalBinary returns r's canonical form; see AppendBinary.
func (r Row) MarshalBinary() ([]byte, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	return r.encode(make([]byte, 0, r.size())), nil
}

// encode appends the form without a look at whether r is a row, so that Verify
// can hash whatever it is given: what is no row then fits no chain.
func (r Row) encode(b []byte) []byte {
	b = append(b, version)
	b = binary.BigEndian.AppendUint64(b, r.Revision)
	b = binary.BigEndian.AppendUint64(b, uint64(r.Time.Unix()))
	b = binary.BigEndian.AppendUint32(b, uint32(r.Time.Nanosecond()))
	b = appendString(b, r.Actor)
	b = binary.BigEndian.AppendUint32(b, uint32(len(r.Facts)))
	for _, f := range r.Facts {
		b = appendString(b, f.Type)
		b = appendString(b, f.Subject)
		b = appendString(b, f.Body)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(r.Keys)))
	for _, k := range r.Keys {
		b = appendString(b, k)
	}
	return append(b, r.Prev[:]...)
}

// appendString appends the length of s and s. Bounds keep the length in 32 bits.
func appendString(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

// size is the length of r's canonical form.
func (r Row) size() int {
	n := fixed + len(r.Actor)
	for _, f := range r.Facts {
		n += 3*4 + len(f.Type) + len(f.Subject) + len(f.Body)
	}
	for _, k := range r.Keys {
		n += 4 + len(k)
	}
	return n
}

// ParseRow reads a canonical form, which must be all of b. The error is
// [*Malformed]; bytes that are not exactly what AppendBinary writes are refused,
// and no count is believed before the bytes for it are there. The row keeps no
// reference to b. Its time is in UTC.
func ParseRow(b []byte) (Row, error) {
	if len(b) > MaxRow {
		return Row{}, malformed("row", "%d bytes, want at most %d", len(b), MaxRow)
	}
	in := reader{rest: b} // in order, as encode writes
	if v := in.take(1); v != nil && v[0] != version {
		return Row{}, malformed("row", "version %d is unknown, want %d", v[0], version)
	}
	r := Row{Revision: in.uint64()}
	seconds, nanoseconds := int64(in.uint64()), in.uint32()
	if nanoseconds >= 1e9 {
		return Row{}, malformed("time", "%d nanoseconds are a second or more", nanoseconds)
	}
	r.Time = time.Unix(seconds, int64(nanoseconds)).UTC()
	r.Actor = in.string()
	for range in.count(3*4, MaxFacts) {
		r.Facts = append(r.Facts, Fact{Type: in.string(), Subject: in.string(), Body: in.string()})
	}
	for range in.count(4, MaxKeys) {
		r.Keys = append(r.Keys, in.string())
	}
	copy(r.Prev[:], in.take(len(Hash{})))
	switch {
	case in.short:
		return Row{}, malformed("row", "is cut off or its lengths are wrong")
	case len(in.rest) > 0:
		return Row{}, malformed("row", "%d bytes too many", len(in.rest))
	}
	if err := r.validate(); err != nil {
		return Row{}, err
	}
	return r, nil
}

// A reader takes a form apart. Once short of bytes it gives zeros, so that the
// caller asks once, at the end.
type reader struct {
	rest  []byte
	short bool
}

// take returns the next n bytes, nil if there are fewer.
func (r *reader) take(n int) []byte {
	if r.short || n > len(r.rest) {
		r.short = true
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

// uint64 returns the next 64 bits.
func (r *reader) uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// uint32 returns the next 32 bits.
func (r *reader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// string returns the next length and as many bytes, as a copy.
func (r *reader) string() string {
	return string(r.take(int(min(r.uint32(), MaxRow+1))))
}

// count reads a list's length, 0 where its items, of at least `least` bytes
// each, cannot be there or are more than most.
func (r *reader) count(least, most int) int {
	n := int(min(r.uint32(), MaxRow))
	if n > most || n*least > len(r.rest) {
		r.short = true
		return 0
	}
	return n
}
