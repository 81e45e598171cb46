package disklayout

import (
	"strconv"
	"strings"
)

// A Stamp says whose a layout is: what setup writes into a pool or beside a
// table, and what it looks for before it destroys one (SET-7, SET-15).
type Stamp struct {
	Server UUID
	// Epoch is the attempt that runs. Zero, as on the page that an operator
	// approves, is none: then nothing is resumed. A plan and its digest do not
	// depend on it but for what it resumes.
	Epoch uint64
}

// String is the server's UUID, and after a slash the epoch if there is one.
func (s Stamp) String() string {
	if s.Epoch == 0 {
		return s.Server.String()
	}
	return s.Server.String() + "/" + strconv.FormatUint(s.Epoch, 10)
}

// valid refuses servers that firmware makes up (REG-9).
func (s Stamp) valid() error {
	ones := UUID{}
	for i := range ones {
		ones[i] = 0xff
	}
	if s.Server == (UUID{}) || s.Server == ones || s.Server == firmware {
		return refuse(StampInvalid, nil, "the server's UUID "+s.Server.String()+" is a placeholder")
	}
	return nil
}

// firmware is a UUID that many boards share.
var firmware = mustUUID("03000200-0400-0500-0006-000700080009")

// owns reports whether found, the text of a stamp, is of this server, and
// whether it is of the attempt that runs. What it cannot read is foreign.
func (s Stamp) owns(found string) (own, resumed bool) {
	server, epoch, dated := strings.Cut(found, "/")
	if u, ok := parseUUID(server); !ok || u != s.Server {
		return false, false
	}
	if !dated {
		return true, false
	}
	n, err := strconv.ParseUint(epoch, 10, 64)
	if err != nil || n == 0 {
		return false, false
	}
	return true, n == s.Epoch
}
