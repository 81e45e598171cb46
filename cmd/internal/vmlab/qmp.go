package vmlab

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// A qmp is QEMU's control socket (QEMU Machine Protocol): a greeting, then one JSON
// object a line, answers between events. It is safe for concurrent use.
type qmp struct {
	mu   sync.Mutex
	conn net.Conn
	in   *bufio.Reader
}

const (
	qmpWait = 10 * time.Second
	maxQMP  = 1 << 20
)

func newQMP(conn net.Conn, now func() time.Time) (*qmp, error) {
	q := &qmp{conn: conn, in: bufio.NewReaderSize(conn, maxQMP)}
	if err := conn.SetDeadline(now().Add(qmpWait)); err != nil {
		return nil, err
	}
	if _, err := q.read(); err != nil {
		return nil, err
	}
	return q, q.do(now, "qmp_capabilities", nil, nil)
}

// read reads one object. A line that is longer than the buffer is an error.
func (q *qmp) read() (m message, err error) {
	line, err := q.in.ReadSlice('\n')
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(line, &m)
}

type message struct {
	Return json.RawMessage `json:"return"`
	Event  string          `json:"event"`
	Error  *struct {
		Class string `json:"class"`
		Desc  string `json:"desc"`
	} `json:"error"`
}

// do runs a command and takes its answer into out, if that is not nil.
func (q *qmp) do(now func() time.Time, command string, arguments map[string]any, out any) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.conn.SetDeadline(now().Add(qmpWait)); err != nil {
		return err
	}
	ask := map[string]any{"execute": command}
	if arguments != nil {
		ask["arguments"] = arguments
	}
	if err := json.NewEncoder(q.conn).Encode(ask); err != nil {
		return err
	}
	for {
		m, err := q.read()
		switch {
		case err != nil:
			return fmt.Errorf("QEMU does not answer %s: %w", command, err)
		case m.Error != nil:
			return errors.New("QEMU: " + m.Error.Desc)
		case m.Event != "":
			continue
		case out != nil:
			return json.Unmarshal(m.Return, out)
		}
		return nil
	}
}
