package vmlab

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Bounds of what QEMU's monitor may say to one command.
const (
	maxQMPLine  = 1 << 20          // bytes
	maxQMPLines = 1000             // messages before the answer
	qmpWait     = 10 * time.Second // until the monitor is there
	talkWait    = 30 * time.Second // for a conversation, with a guest that lets a disk go
)

// A Garbled reports that QEMU's monitor does not speak its protocol.
type Garbled struct{ What string }

// Error says what came.
func (e *Garbled) Error() string { return "QEMU's monitor: " + e.What }

// Code is the error's wire name (API-3).
func (*Garbled) Code() string { return "UNAVAILABLE" }

// A Declined reports a command that QEMU refuses.
type Declined struct{ Command, Class, Why string }

// Error has QEMU's words.
func (e *Declined) Error() string {
	return fmt.Sprintf("QEMU refuses %s: %s (%s)", e.Command, e.Why, e.Class)
}

// Code is the error's wire name (API-3).
func (*Declined) Code() string { return "INVALID_STATE" }

// A monitor is QEMU's, by the QEMU Machine Protocol (docs/interop/qmp-spec.txt). It
// serves one goroutine. Whoever made the connection bounds its time and closes it.
type monitor struct {
	to    io.Writer
	lines *bufio.Scanner
	asked int
	gone  map[string]bool // devices that have left
}

// newMonitor greets: QEMU says first what it is, and takes no command before its
// capabilities are agreed.
func newMonitor(conn io.ReadWriter) (*monitor, error) {
	q := &monitor{to: conn, lines: bufio.NewScanner(conn), gone: map[string]bool{}}
	q.lines.Buffer(nil, maxQMPLine)
	m, err := q.next()
	if err != nil {
		return nil, err
	}
	if m.Greeting == nil {
		return nil, &Garbled{"it does not greet"}
	}
	return q, q.do("qmp_capabilities", nil, nil)
}

// do has QEMU carry out a command, and reads what it returns into out, if that is not
// nil. Of the events that come meanwhile only who left is noted.
func (q *monitor) do(command string, args, out any) error {
	q.asked++
	raw, err := json.Marshal(struct {
		Execute   string `json:"execute"`
		Arguments any    `json:"arguments,omitempty"`
		ID        int    `json:"id"`
	}{command, args, q.asked})
	if err != nil {
		return err
	}
	if _, err := q.to.Write(append(raw, '\n')); err != nil {
		return &Garbled{"it does not listen: " + err.Error()}
	}
	for range maxQMPLines {
		m, err := q.next()
		if err != nil {
			return err
		}
		switch {
		case m.Event != "":
			continue
		case m.Greeting != nil || m.ID == nil || *m.ID != q.asked:
			return &Garbled{"it answers what was not asked"}
		case m.Error != nil:
			return &Declined{command, m.Error.Class, m.Error.Desc}
		case out == nil:
			return nil
		}
		if err := json.Unmarshal(m.Return, out); err != nil {
			return &Garbled{"what " + command + " returns: " + err.Error()}
		}
		return nil
	}
	return &Garbled{fmt.Sprintf("no answer among %d messages", maxQMPLines)}
}

// left waits until the guest has let a device go.
func (q *monitor) left(device string) error {
	for range maxQMPLines {
		if q.gone[device] {
			delete(q.gone, device)
			return nil
		}
		if _, err := q.next(); err != nil {
			return fmt.Errorf("the guest does not let %s go: %w", device, err)
		}
	}
	return &Garbled{fmt.Sprintf("%s has not left after %d messages", device, maxQMPLines)}
}

// next reads a message.
func (q *monitor) next() (qmpMessage, error) {
	if q.lines.Scan() {
		m, err := parseQMP(q.lines.Bytes())
		if m.Event == "DEVICE_DELETED" {
			q.gone[m.Data.Device] = true
		}
		return m, err
	}
	switch err := q.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return qmpMessage{}, &Garbled{fmt.Sprintf("a line of more than %d bytes", maxQMPLine)}
	case err != nil:
		return qmpMessage{}, &Garbled{"it says nothing: " + err.Error()}
	}
	return qmpMessage{}, &Garbled{"it hung up"}
}

// A qmpMessage is one of QEMU's: exactly one of its greeting, event, return and error.
type qmpMessage struct {
	Greeting json.RawMessage `json:"QMP"`
	Event    string          `json:"event"`
	Return   json.RawMessage `json:"return"`
	Error    *qmpError       `json:"error"`
	ID       *int            `json:"id"`
	Data     struct {
		Device string `json:"device"` // of an event about one
	} `json:"data"`
}

type qmpError struct {
	Class string `json:"class"`
	Desc  string `json:"desc"`
}

// parseQMP reads one message.
func parseQMP(line []byte) (m qmpMessage, err error) {
	if err := json.Unmarshal(line, &m); err != nil {
		return m, &Garbled{err.Error() + " in " + clipLine(line)}
	}
	kinds := 0
	for _, there := range []bool{m.Greeting != nil, m.Event != "", m.Return != nil, m.Error != nil} {
		if there {
			kinds++
		}
	}
	if kinds != 1 {
		return m, &Garbled{"no message: " + clipLine(line)}
	}
	return m, nil
}

// clipLine is the begin of a line, such as an error shows.
func clipLine(line []byte) string {
	return fmt.Sprintf("%.80q", strings.ToValidUTF8(string(line[:min(len(line), 80)]), "?"))
}
