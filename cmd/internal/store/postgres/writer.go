package postgres

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// writer is the one connection that writes, and holds the lock for as long as it
// lives.
type writer struct {
	o    settings
	lost func() // told that the connection was made anew; may be nil

	mu      sync.Mutex // guards the rest; a batch holds it from begin to end
	conn    *pgx.Conn  // nil or closed: to be made anew
	self    backend
	fence   int64
	head    journal.Head // the newest that was acknowledged
	cache   *cache
	warning string // of the server, since it was last cleared
}

// backend is the server's process behind a connection.
type backend struct {
	pid   int32
	since time.Time
}

func newWriter(o settings) *writer { return &writer{o: o, cache: newCache(o.Cache)} }

// errLocked is that of a writer whose connection broke, while another process has
// got the lock and is about to raise the fence.
var errLocked = errors.New("postgres: the connection broke, and another process has got the lock")

// call bounds one round trip. The server's own limit comes first, so that the end
// of this one means that the server does not answer.
func (w *writer) call(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 2*w.o.Timeout)
}

// take becomes the writer: it connects, takes the lock, makes the schema and raises
// the fence. It returns where the log ends and begins.
func (w *writer) take(ctx context.Context) (head, base journal.Head, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.connect(ctx); err != nil {
		return head, base, err
	}
	for {
		err := w.lock(ctx, w.o.Wait)
		if err == nil {
			break
		}
		if !waited(err) || !w.o.Wait {
			return head, base, err
		}
	}
	if err := w.raise(ctx); err != nil {
		return head, base, err
	}
	head, base, err = w.heads(ctx)
	if w.head = head; err != nil {
		return head, base, err
	}
	return head, base, w.load(ctx)
}

// begin opens a batch, on a connection that is made anew if need be.
func (w *writer) begin() (*batch, error) {
	w.mu.Lock()
	if err := w.blank(context.Background()); err != nil {
		w.mu.Unlock()
		return nil, err
	}
	return newBatch(w), nil
}

// blank makes ready for a batch.
func (w *writer) blank(ctx context.Context) error {
	if err := w.ready(ctx); err != nil {
		return err
	}
	err := w.load(ctx)
	if err != nil {
		w.drop()
	}
	return err
}

// beat has the server hear of the writer, unless a batch does just that.
func (w *writer) beat() error {
	if !w.mu.TryLock() {
		return nil
	}
	defer w.mu.Unlock()
	ctx, cancel := w.call(context.Background())
	defer cancel()
	if err := w.ready(ctx); err != nil {
		return err
	}
	err := w.mine(ctx)
	if err != nil {
		w.drop()
	}
	return err
}

// ready makes the connection anew where it is broken.
func (w *writer) ready(ctx context.Context) error {
	if w.conn != nil && !w.conn.IsClosed() {
		return nil
	}
	err := w.revive(ctx)
	if err != nil {
		w.drop()
	}
	return err
}

// revive goes on after the connection broke, if nobody took over meanwhile and the
// server has all that was acknowledged. It ends the broken connection's process on
// the server, which may not have noticed and would keep the lock.
func (w *writer) revive(ctx context.Context) error {
	was := w.self
	if err := w.connect(ctx); err != nil {
		return err
	}
	w.cache.drop()
	if err := w.mine(ctx); err != nil {
		return err
	}
	if err := w.bury(ctx, was); err != nil {
		return err
	}
	locked := w.lock(ctx, true)
	if waited(locked) {
		locked = errLocked
	}
	if err := w.mine(ctx); err != nil || locked != nil {
		return cmp.Or(err, locked)
	}
	head, _, err := w.heads(ctx)
	if err == nil && head != w.head {
		err = behind(head, w.head)
	}
	if err == nil && w.lost != nil {
		w.lost()
	}
	return err
}

// bury ends a process on the server, if it is still the one that was.
func (w *writer) bury(ctx context.Context, was backend) error {
	ctx, cancel := w.call(ctx)
	defer cancel()
	_, err := w.conn.Exec(ctx, `select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and backend_start = $2`, was.pid, was.since)
	return err
}

// connect makes the connection and holds it to what the store needs.
func (w *writer) connect(ctx context.Context) error {
	cfg := w.o.writing()
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			w.warning = n.Message
		}
	}
	ctx, cancel := w.call(ctx)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	w.conn = conn
	if err := w.prepare(ctx); err != nil {
		w.drop()
		return err
	}
	return nil
}

// lock takes the writer's lock. Patience lasts half a Timeout: an endless wait would
// keep the server from cleaning up behind it.
func (w *writer) lock(ctx context.Context, patient bool) error {
	ctx, cancel := w.call(ctx)
	defer cancel()
	if patient {
		_, err := w.conn.Exec(ctx, `select pg_advisory_lock($1)`, w.o.sql.lock)
		return err
	}
	var got bool
	if err := w.conn.QueryRow(ctx, `select pg_try_advisory_lock($1)`, w.o.sql.lock).Scan(&got); err != nil || got {
		return err
	}
	s, err := readState(ctx, w.conn, w.o)
	if _, none := errors.AsType[*Absent](err); err != nil && !none {
		return err
	}
	return &Busy{s.Holder}
}

// mine checks that the fence is still this writer's.
func (w *writer) mine(ctx context.Context) error {
	ctx, cancel := w.call(ctx)
	defer cancel()
	s, err := readState(ctx, w.conn, w.o)
	if err == nil {
		err = w.owns(s.Holder)
	}
	return err
}

// owns compares a fence that was read. A lower one is another server's, to which
// this writer's never came.
func (w *writer) owns(h Holder) error {
	switch {
	case h.Fence == w.fence:
		return nil
	case h.Fence > w.fence:
		return &Fenced{Mine: w.fence, Now: h}
	}
	return behind(journal.Head{}, w.head)
}

// heads reads where the log ends and begins, and looks whether its rows do, too.
func (w *writer) heads(ctx context.Context) (head, base journal.Head, err error) {
	ctx, cancel := w.call(ctx)
	defer cancel()
	meta, err := readMeta(ctx, w.conn, w.o.sql)
	if err != nil {
		return head, base, err
	}
	if head, base, err = store.Heads(w.o.Log, meta); err != nil {
		return head, base, damaged("the log's ends are unreadable", head, err)
	}
	return head, base, w.fits(ctx, head, base)
}

// drop closes the connection, which the next use makes anew.
func (w *writer) drop() {
	if w.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = w.conn.Close(ctx) // it is given up whatever becomes of it
}

// close lets go of the lock.
func (w *writer) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop()
}
