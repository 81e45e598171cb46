package sessions

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/ingotmetal/ingot/liveness/session"
)

// A machine is an end of the protocol that hears values of T.
type machine[T any] interface {
	Next() ([]byte, bool)
	Receive(raw []byte, now time.Time) (T, error)
	Deadline() time.Time
	Tick(now time.Time) error
	Over() bool
}

// A Link is one session on its connection.
type Link[T any, M machine[T]] struct {
	ws      *websocket.Conn
	machine M
	now     func() time.Time
	ctx     context.Context // of the session
	stop    <-chan struct{} // closed: say goodbye
	goodbye func(M)
	polite  bool // ends by WebSocket's closing handshake

	do      chan func(M)
	done    chan struct{} // closed at the end
	frames  chan []byte
	cut     chan error // of the reader
	readers sync.WaitGroup
	cancel  context.CancelFunc
	err     error
}

func newLink[T any, M machine[T]](ctx context.Context, ws *websocket.Conn, m M, now func() time.Time) *Link[T, M] {
	ws.SetReadLimit(session.MaxFrame)
	l := &Link[T, M]{ws: ws, machine: m, now: now, ctx: ctx,
		do: make(chan func(M)), done: make(chan struct{}), frames: make(chan []byte), cut: make(chan error, 1)}
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.cancel = cancel
	l.readers.Go(func() { l.cut <- l.read(reading) })
	return l
}

// read takes frames off the connection until it ends.
func (l *Link[T, M]) read(ctx context.Context) error {
	for {
		kind, raw, err := l.ws.Read(ctx)
		switch {
		case errors.Is(err, websocket.ErrMessageTooBig):
			return &session.Broken{Why: "a frame of more bytes than one may have"}
		case err != nil:
			return &Cut{err}
		case kind != websocket.MessageText:
			return &session.Broken{Why: "a binary message"}
		}
		select {
		case l.frames <- raw:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Machine is the protocol's value. It is the owner's alone: use it within the loop
// over Events, or in a function given to Do.
func (l *Link[T, M]) Machine() M { return l.machine }

// Now is the session's clock.
func (l *Link[T, M]) Now() time.Time { return l.now() }

// Do has f run by the owner, and what it made ready sent. It waits until the owner
// is free, so the owner itself must not call it; false says that the session has
// ended and f will not run. It is safe for concurrent use.
func (l *Link[T, M]) Do(f func(m M)) bool {
	select {
	case l.do <- f:
		return true
	case <-l.done:
		return false
	}
}

// Done is closed when the session has ended.
func (l *Link[T, M]) Done() <-chan struct{} { return l.done }

// Err is why the session ended: *session.Broken, *session.Silent, *session.Ended,
// *Cut, or the context's error. It is nil before the end, and where this end said
// goodbye or left the loop. The owner's alone.
func (l *Link[T, M]) Err() error { return l.err }

// Events runs the session and yields what the peer says. The goroutine that ranges
// over it is the owner. While the loop's body runs nothing else of the session does,
// so it must not wait: what waits goes elsewhere and comes back by Do. When the loop
// ends, the connection is closed and its reader waited for. It is called once.
func (l *Link[T, M]) Events() iter.Seq[T] {
	return func(yield func(T) bool) {
		defer l.end()
		timer := time.NewTimer(0)
		defer timer.Stop()
		for l.flush() {
			timer.Reset(l.machine.Deadline().Sub(l.now()))
			if v, ok := l.wait(timer.C); ok && !yield(v) {
				l.flush()
				return
			}
		}
	}
}

// wait lets one thing happen. ok tells that it was a frame that says something.
func (l *Link[T, M]) wait(due <-chan time.Time) (v T, ok bool) {
	select {
	case <-l.ctx.Done():
		l.err = context.Cause(l.ctx)
	case l.err = <-l.cut:
	case raw := <-l.frames:
		v, l.err = l.machine.Receive(raw, l.now())
		return v, l.err == nil && any(v) != nil
	case f := <-l.do:
		f(l.machine)
	case <-l.stop:
		l.goodbye(l.machine)
	case <-due:
		l.err = l.machine.Tick(l.now())
	}
	return v, false
}

// flush sends what is ready, and reports whether the session goes on.
func (l *Link[T, M]) flush() bool {
	for f, ok := l.machine.Next(); ok; f, ok = l.machine.Next() {
		if !l.writable() {
			return false
		}
		ctx, cancel := context.WithTimeout(l.ctx, WriteWait)
		err := l.ws.Write(ctx, websocket.MessageText, f)
		cancel()
		if err != nil {
			l.err = &Cut{err}
			return false
		}
	}
	return l.err == nil && !l.machine.Over()
}

// writable reports whether the peer can still be told something.
func (l *Link[T, M]) writable() bool {
	if l.err == nil {
		return true
	}
	_, broken := errors.AsType[*session.Broken](l.err)
	return broken
}

// end closes the connection: with the closing handshake, so that a last word arrives,
// where there may be one. That is bounded by the library at ten seconds.
func (l *Link[T, M]) end() {
	close(l.done)
	if l.polite && l.writable() {
		code, why := websocket.StatusNormalClosure, ""
		if l.err != nil {
			code, why = websocket.StatusProtocolError, clip(l.err.Error())
		}
		_ = l.ws.Close(code, why)
	}
	if _, told := errors.AsType[*session.Ended](l.err); told && !l.polite {
		l.await()
	}
	_ = l.ws.CloseNow() // closed already, or nobody is there to tell
	l.cancel()
	l.readers.Wait()
}

// farewell is how long a peer that said goodbye has to close the connection.
const farewell = 2 * time.Second

// await lets the peer's closing handshake be answered.
func (l *Link[T, M]) await() {
	t := time.NewTimer(farewell)
	defer t.Stop()
	select {
	case <-l.cut:
	case <-t.C:
	}
}

// maxWhy is the longest reason that a closing frame has room for, in bytes.
const maxWhy = 123

func clip(s string) string { return s[:min(len(s), maxWhy)] }

// abandon ends a link whose events nobody ran.
func (l *Link[T, M]) abandon() {
	select {
	case <-l.done:
	default:
		l.end()
	}
}
