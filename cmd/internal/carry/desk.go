package carry

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/xtaci/smux"
)

// The answers of a booter; what follows refused is why.
const (
	connected = "connected"
	refused   = "refused: "
)

// A Desk is ingotd's side: booters come to it with [Desk.Serve], and drivers dial with
// [Desk.Dial]. The zero Desk is ready. It is safe for concurrent use.
type Desk struct {
	mu      sync.Mutex
	booters map[string]*smux.Session
	closed  bool
}

// Serve lets a booter carry over conn until ctx ends or the line does, and closes conn.
// Another line of the same booter takes the place of this one, which then ends: it is the
// newer that lives where a network was cut.
func (d *Desk) Serve(ctx context.Context, booter string, conn io.ReadWriteCloser) error {
	s, err := smux.Client(conn, rhythm())
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	old, err := d.enter(booter, s)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	if old != nil {
		_ = old.Close()
	}
	select {
	case <-ctx.Done():
	case <-s.CloseChan():
	}
	d.mu.Lock()
	if d.booters[booter] == s {
		delete(d.booters, booter)
	}
	d.mu.Unlock()
	_ = s.Close() // closed already where the line ended
	return context.Cause(ctx)
}

// enter makes s a booter's line, in the place of the one that it had.
func (d *Desk) enter(booter string, s *smux.Session) (old *smux.Session, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errClosed
	}
	if d.booters == nil {
		d.booters = map[string]*smux.Session{}
	}
	old = d.booters[booter]
	d.booters[booter] = s
	return old, nil
}

// Close ends all lines, and every one that comes later at once.
func (d *Desk) Close() {
	d.mu.Lock()
	d.closed = true
	all := slices.Collect(maps.Values(d.booters))
	d.mu.Unlock()
	var ends sync.WaitGroup
	defer ends.Wait()
	for _, s := range all { // one that is cut off is waited for
		ends.Go(func() { _ = s.Close() }) // closed already where the line ended
	}
}

// Dial connects to address, host:port, through a booter. The error is an [*Absent], a
// [*NotCarried], or ctx's.
func (d *Desk) Dial(ctx context.Context, booter, address string) (net.Conn, error) {
	d.mu.Lock()
	s := d.booters[booter]
	d.mu.Unlock()
	if s == nil {
		return nil, &Absent{booter}
	}
	st, err := s.OpenStream()
	if err != nil {
		return nil, &Absent{booter}
	}
	calm := context.AfterFunc(ctx, func() { _ = st.SetDeadline(time.Unix(1, 0)) })
	answer, err := connect(st, address)
	switch why, no := strings.CutPrefix(answer, refused); {
	case !calm():
		err = context.Cause(ctx)
	case err != nil:
		err = &NotCarried{booter, address, err.Error()}
	case no:
		err = &NotCarried{booter, address, plain(why)}
	case answer != connected:
		err = &NotCarried{booter, address, "it speaks another protocol"}
	default:
		return st, nil
	}
	_ = st.Close()
	return nil, err
}

func connect(st *smux.Stream, address string) (string, error) {
	if _, err := io.WriteString(st, address+"\n"); err != nil {
		return "", err
	}
	return readLine(st)
}
