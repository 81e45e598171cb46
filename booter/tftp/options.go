package tftp

import (
	"strconv"
	"strings"
	"time"
)

const (
	minBlock     = 8       // RFC 2348
	maxBlock     = 65464   // RFC 2348
	defaultBlock = 512     // RFC 1350
	maxWindow    = 64      // RFC 7440 says that little is gained beyond; some clients fail there
	maxBuffer    = 1 << 18 // bytes that a window may take in memory

	overhead4 = 32 // heads of IPv4, UDP and TFTP
	overhead6 = 52 // heads of IPv6, UDP and TFTP
)

// terms are what a transfer goes by.
type terms struct {
	block   int           // bytes of a full DATA block
	window  int           // blocks sent for one ACK
	timeout time.Duration // asked for by the client, 0 if it left that to us
	sized   bool          // the client asked for the size
	oack    []option      // what the OACK says; without any there is no OACK
}

// negotiate answers the options of a request for a file of this size, where
// no block may be larger than largest. An option that is unknown, repeated or
// has no good value is left out, as RFC 2347 demands.
func negotiate(options []option, size int64, largest int) terms {
	t := terms{block: defaultBlock, window: 1}
	seen := map[string]bool{}
	for _, o := range options {
		name := strings.ToLower(o.name)
		if seen[name] {
			continue
		}
		seen[name] = true
		if value, ok := t.take(name, o.value, size, largest); ok {
			t.oack = append(t.oack, option{o.name, value})
		}
	}
	t.window = min(t.window, max(1, maxBuffer/(t.block+headLen)))
	for i, o := range t.oack { // the block may have come after the window
		if strings.EqualFold(o.name, "windowsize") {
			t.oack[i].value = strconv.Itoa(t.window)
		}
	}
	return t
}

// take adopts one option and returns its value for the OACK.
func (t *terms) take(name, value string, size int64, largest int) (string, bool) {
	if name == "tsize" { // RFC 2349; whatever value was sent
		t.sized = true
		return strconv.FormatInt(size, 10), true
	}
	n, err := strconv.ParseUint(value, 10, 31)
	asked := int(n)
	switch {
	case err != nil:
		return "", false
	case name == "blksize" && asked >= minBlock:
		t.block = min(asked, largest, maxBlock)
		return strconv.Itoa(t.block), true
	case name == "windowsize" && 1 <= asked && asked <= 65535: // RFC 7440
		t.window = min(asked, maxWindow)
		return strconv.Itoa(t.window), true
	case name == "timeout" && 1 <= asked && asked <= 255: // RFC 2349: as asked or not at all
		t.timeout = time.Duration(asked) * time.Second
		return value, true
	}
	return "", false
}
