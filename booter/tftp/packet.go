package tftp

import (
	"encoding/binary"
	"strings"
)

// The opcodes of RFC 1350 section 5, and RFC 2347's.
const (
	opRead  = 1
	opWrite = 2
	opData  = 3
	opAck   = 4
	opError = 5
	opOACK  = 6
)

// The error codes of RFC 1350's appendix that we send or know, and RFC 2347's.
const (
	errOther      = 0
	errNotFound   = 1
	errDenied     = 2
	errIllegal    = 4
	errUnknownTID = 5
	errOptions    = 8
)

const (
	headLen    = 4   // opcode and block number
	maxRequest = 512 // RFC 2347: the longest request, in bytes
	maxText    = 128 // of a client's error text, the part that is kept
	maxOptions = 16  // the options of one request that are read
)

// A Malformed reports a packet that is not what it should be. It is never
// answered.
type Malformed struct{ Why string }

// Error says what is wrong with the packet.
func (e *Malformed) Error() string { return "tftp: malformed packet: " + e.Why }

// Code is the error's wire name.
func (e *Malformed) Code() string { return "INVALID_INPUT" }

// asked is a request as it was sent.
type asked struct {
	op         uint16
	name, mode string
	options    []option
}

type option struct{ name, value string }

// opcode returns a packet's opcode, 0 if it has none.
func opcode(b []byte) uint16 {
	if len(b) < 2 {
		return 0
	}
	return binary.BigEndian.Uint16(b)
}

// parseRequest reads a read or write request. The last NUL may be missing. The options
// end at the first that has no name or no value, so padding is no harm.
func parseRequest(b []byte) (asked, error) {
	a := asked{op: opcode(b)}
	switch {
	case a.op != opRead && a.op != opWrite:
		return asked{}, &Malformed{"not a request"}
	case len(b) > maxRequest:
		return asked{}, &Malformed{"a request of more than 512 bytes"}
	}
	var ok bool
	rest := string(b[2:])
	if a.name, rest, ok = strings.Cut(rest, "\x00"); !ok {
		return asked{}, &Malformed{"a request without a mode"}
	}
	if a.mode, rest, _ = strings.Cut(rest, "\x00"); a.mode == "" {
		return asked{}, &Malformed{"a request without a mode"}
	}
	for len(a.options) < maxOptions {
		var o option
		o.name, rest, ok = strings.Cut(rest, "\x00")
		if !ok || o.name == "" || rest == "" {
			break
		}
		o.value, rest, _ = strings.Cut(rest, "\x00")
		a.options = append(a.options, o)
	}
	return a, nil
}

// parseAck reads the block number of an ACK. Bytes behind it are ignored, as
// small frames arrive padded from some drivers.
func parseAck(b []byte) (block uint16, ok bool) {
	if opcode(b) != opAck || len(b) < headLen {
		return 0, false
	}
	return binary.BigEndian.Uint16(b[2:]), true
}

// A ClientError is the ERROR packet with which a client ended a transfer.
type ClientError struct {
	Number uint16 // RFC 1350's error code
	Text   string // as sent, at most 128 bytes
}

// parseError reads an ERROR. The text may lack its NUL, and may be missing.
func parseError(b []byte) (*ClientError, bool) {
	if opcode(b) != opError || len(b) < headLen {
		return nil, false
	}
	text, _, _ := strings.Cut(string(b[headLen:min(len(b), headLen+maxText)]), "\x00")
	return &ClientError{binary.BigEndian.Uint16(b[2:]), text}, true
}
