package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Hash is a row's SHA-256, over a label and the row's canonical form.
type Hash [sha256.Size]byte

// String returns h in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// The labels keep a row's hash, a start's and anybody else's apart.
const (
	rowLabel   = "ingot journal row\x00"
	startLabel = "ingot journal start\x00"
)

// Hash returns r's own hash, which the next row carries.
func (r Row) Hash() Hash {
	h, _ := r.hash(make([]byte, 0, len(rowLabel)+r.size()))
	return h
}

// hash uses and returns the room in buf.
func (r Row) hash(buf []byte) (Hash, []byte) {
	buf = r.encode(append(buf[:0], rowLabel...))
	return sha256.Sum256(buf), buf
}

// A Head is the log up to and including a row: a checkpoint. Whoever keeps one
// finds out later that anything up to there was changed. The zero Head is the
// start of a log without a name.
type Head struct {
	Revision uint64 // 0 before the first row
	Hash     Hash
}

// Start returns the head before the first row of the log called name, the
// site's ID. Rows of one log never verify in another.
func Start(name string) Head {
	return Head{Hash: sha256.Sum256([]byte(startLabel + name))}
}

// Append returns the row that follows h, and the head with it. It sorts the
// keys and drops repeated ones; entry's own slices stay as they are. The error
// is [*Malformed]: entry is no row, and nothing was appended.
func (h Head) Append(entry Entry) (Row, Head, error) {
	if h.Revision == math.MaxUint64 {
		return Row{}, h, malformed("revision", "none is left")
	}
	keys := append([]string(nil), entry.Keys...) // nil if none, as ParseRow reads it
	slices.Sort(keys)
	r := Row{
		Revision: h.Revision + 1,
		Time:     time.Unix(entry.Time.Unix(), int64(entry.Time.Nanosecond())).UTC(),
		Actor:    entry.Actor,
		Facts:    slices.Clone(entry.Facts),
		Keys:     slices.Compact(keys),
		Prev:     h.Hash,
	}
	if err := r.validate(); err != nil {
		return Row{}, h, err
	}
	return r, Head{r.Revision, r.Hash()}, nil
}

// String returns h as ParseHead reads it: the revision, a colon, and the hash in
// hexadecimal.
func (h Head) String() string { return fmt.Sprintf("%d:%s", h.Revision, h.Hash) }

// ParseHead reads what String wrote, and no other spelling. The error is
// [*Malformed].
func ParseHead(s string) (Head, error) {
	digits, sum, _ := strings.Cut(s, ":")
	if len(digits) > maxDigits || len(sum) != 2*sha256.Size {
		return Head{}, malformed("head", "want a revision, a colon and %d hexadecimal digits", 2*sha256.Size)
	}
	revision, errRevision := strconv.ParseUint(digits, 10, 64)
	raw, errHash := hex.DecodeString(sum)
	if errRevision != nil || errHash != nil {
		return Head{}, malformed("head", "the revision or the hash is no number")
	}
	h := Head{revision, Hash(raw)}
	if h.String() != s {
		return Head{}, malformed("head", "want no leading zeros and lower-case digits")
	}
	return h, nil
}
