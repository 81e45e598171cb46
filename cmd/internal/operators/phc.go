package operators

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"golang.org/x/crypto/argon2"
)

// A Cost is what argon2id (RFC 9106) spends on a password. A zero field takes its
// default, the RFC's second recommended option. Raise it at any time: passwords
// are hashed anew as their owners sign in.
type Cost struct {
	Time    uint32 // passes; default 3, at most 16
	Memory  uint32 // KiB; default 65536, at most 262144, at least 8 a thread
	Threads uint8  // default 4, at most 16
}

// The most that is spent on one password, whatever a record or a configuration
// asks for.
const (
	maxTime    = 16
	maxMemory  = 256 << 10
	maxThreads = 16
)

func (c Cost) filled() Cost {
	return Cost{cmp.Or(c.Time, 3), cmp.Or(c.Memory, 64<<10), cmp.Or(c.Threads, 4)}
}

// Validate reports every field that is out of range, joined.
func (c Cost) Validate() error {
	c = c.filled()
	var errs []error
	if c.Time > maxTime {
		errs = append(errs, &Invalid{"Cost.Time", fmt.Sprintf("is %d, at most %d", c.Time, maxTime)})
	}
	if c.Threads > maxThreads {
		errs = append(errs, &Invalid{"Cost.Threads", fmt.Sprintf("is %d, at most %d", c.Threads, maxThreads)})
	}
	if c.Memory > maxMemory || c.Memory < 8*uint32(c.Threads) {
		errs = append(errs, &Invalid{"Cost.Memory", fmt.Sprintf("is %d KiB, want 8 a thread to %d", c.Memory, maxMemory)})
	}
	return errors.Join(errs...)
}

// A PHC is a password at rest, in the PHC string format with its own cost:
// $argon2id$v=19$m=65536,t=3,p=4$salt$hash. It prints as [redacted]; JSON, which
// the store needs, has it whole. The zero PHC is no password.
type PHC string

// Format writes [redacted], whatever the verb.
func (PHC) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[redacted]") }

const (
	saltSize = 16
	sumSize  = 32
	maxPHC   = 256
)

// phcForm leaves the sizes of salt and hash to parse.
var phcForm = regexp.MustCompile(`^\$argon2id\$v=19\$m=([1-9][0-9]{0,6}),t=([1-9][0-9]?),p=([1-9][0-9]?)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$`)

// b64 is what the PHC format calls B64.
var b64 = base64.RawStdEncoding.Strict()

// hashed is a PHC taken apart.
type hashed struct {
	cost      Cost
	salt, sum []byte
}

func (h hashed) phc() PHC {
	return PHC(fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version,
		h.cost.Memory, h.cost.Time, h.cost.Threads, b64.EncodeToString(h.salt), b64.EncodeToString(h.sum)))
}

// parse reads p where it is well-formed and costs no more than may be spent. The
// error is [*Invalid] and carries nothing of p.
func (p PHC) parse() (hashed, error) {
	bad := func(why string) (hashed, error) { return hashed{}, &Invalid{"password hash", why} }
	if len(p) > maxPHC {
		return bad("is too long")
	}
	m := phcForm.FindStringSubmatch(string(p))
	if m == nil {
		return bad("is not an argon2id PHC string")
	}
	memory, err1 := strconv.ParseUint(m[1], 10, 32)
	passes, err2 := strconv.ParseUint(m[2], 10, 32)
	threads, err3 := strconv.ParseUint(m[3], 10, 8)
	salt, err4 := b64.DecodeString(m[4])
	sum, err5 := b64.DecodeString(m[5])
	if errors.Join(err1, err2, err3, err4, err5) != nil || len(salt) < 8 || len(salt) > 64 || len(sum) < 16 || len(sum) > 64 {
		return bad("has a number, salt or hash that is out of range")
	}
	h := hashed{Cost{uint32(passes), uint32(memory), uint8(threads)}, salt, sum}
	if h.cost.Validate() != nil {
		return bad("asks for more than may be spent")
	}
	return h, nil
}
