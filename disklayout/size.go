package disklayout

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Units of size, in bytes.
const (
	MiB = 1 << 20
	GiB = 1 << 30
)

// MaxSize is the largest disk or partition that a plan is made for, in bytes:
// 16 PiB. MaxDisks of them do not overflow 64 bits.
const MaxSize = 1 << 54

// A Size is the size that a partition is to have, in bytes. Zero takes the
// default of its place. In JSON it is a number or "rest".
type Size uint64

// Rest is what the other partitions leave, down to a whole MiB.
const Rest = Size(1<<64 - 1)

// String is the number of bytes, or "rest".
func (s Size) String() string {
	if s == Rest {
		return "rest"
	}
	return strconv.FormatUint(uint64(s), 10)
}

// MarshalJSON is a number, or "rest".
func (s Size) MarshalJSON() ([]byte, error) {
	if s == Rest {
		return []byte(`"rest"`), nil
	}
	return []byte(s.String()), nil
}

// UnmarshalJSON takes a whole number of bytes, or "rest".
func (s *Size) UnmarshalJSON(raw []byte) error {
	if string(raw) == `"rest"` {
		*s = Rest
		return nil
	}
	var n uint64
	if err := json.Unmarshal(raw, &n); err != nil || Size(n) == Rest {
		return refuse(Malformed, nil, `a size is a whole number of bytes or "rest"`)
	}
	*s = Size(n)
	return nil
}

// fixed reports why s, which a request gives for the partition what, is not a
// whole number of MiB in bounds; Rest is.
func (s Size) fixed(what string, least uint64) error {
	n := uint64(s)
	switch {
	case s == Rest:
		return nil
	case n > MaxSize:
		return refuse(SizeInvalid, nil, fmt.Sprintf("%s of %d bytes is over 16 PiB", what, n))
	case n%MiB != 0:
		return refuse(SizeInvalid, nil, fmt.Sprintf("%s of %d bytes is no whole number of MiB; the nearest are %d and %d", what, n, n/MiB*MiB, n/MiB*MiB+MiB))
	case n < least:
		return refuse(SizeInvalid, nil, fmt.Sprintf("%s of %d bytes is under %d", what, n, least))
	}
	return nil
}
