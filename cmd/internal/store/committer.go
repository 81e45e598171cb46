package store

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ingotmetal/ingot/statemachine/journal"
)

// A Batch is a writing transaction of a store's engine. One goroutine uses it.
type Batch interface {
	Get(key string) ([]byte, bool)
	Range(lo, hi string) iter.Seq2[string, []byte]
	// Err is the first error that a read met, after which nothing in the batch
	// counts.
	Err() error
	// Apply writes one closure's changes, so that later reads of the batch see
	// them.
	Apply(iter.Seq2[string, Change]) error
	// Commit makes all that was applied durable. After an error nobody knows.
	Commit() error
	// Rollback drops the batch. After Commit it does nothing.
	Rollback()
}

// A Settler is a Batch that may end a closure whose reads it must fetch first, by a
// panic of its own, so that the reads of a whole group share a round trip.
type Settler interface {
	// Settle is called when all closures of a group have run, before Commit, and
	// where they wrote nothing, too. True means that all of them have to run
	// again: what they returned counts for nothing, and the batch has dropped
	// what was applied.
	Settle() (again bool, err error)
}

// MaxGroup is how many closures share a commit at most.
const MaxGroup = 512

// A Committer runs the updates of a store, on one goroutine, in groups: whatever
// came while the last commit was being synced goes into the next. It is the part
// that all stores share.
type Committer struct {
	begin func() (Batch, error)
	after func(journal.Head) // a commit is durable
	jobs  chan *job
	stop  chan struct{} // Close was called
	done  chan struct{} // the goroutine has ended
	once  sync.Once

	head, base journal.Head // of what is durable; the goroutine's own
	again      []*job       // what a closure that ended the goroutine left undone
	commits    atomic.Uint64
	closures   atomic.Uint64

	mu      sync.Mutex
	rev     Rev           // head.Revision, for Changed
	changed chan struct{} // closed at the next row
	failed  chan struct{}
	err     error
}

// A job is one update that waits. taken is set by whoever comes first: the
// committer, which then runs it, or the caller, who withdraws it.
type job struct {
	fn    func(Tx) error
	taken atomic.Bool
	done  chan struct{}
	rev   Rev
	err   error
	panic any
	exit  bool // fn called runtime.Goexit, as testing.T.FailNow does
}

// NewCommitter starts a committer on a log that ends at head and begins after
// base. begin opens a batch; an error of it leaves the store as it is, unless it
// is *Unknown, which stops it. durable is told each new head, before the updates
// return; it may be nil.
func NewCommitter(head, base journal.Head, begin func() (Batch, error), durable func(journal.Head)) *Committer {
	if durable == nil {
		durable = func(journal.Head) {}
	}
	c := &Committer{begin: begin, after: durable, jobs: make(chan *job, 2*MaxGroup), stop: make(chan struct{}), done: make(chan struct{}),
		head: head, base: base, rev: Rev(head.Revision), changed: make(chan struct{}), failed: make(chan struct{})}
	go c.run()
	return c
}

// Update is Store.Update.
func (c *Committer) Update(ctx context.Context, fn func(Tx) error) (Rev, error) {
	j := &job{fn: fn, done: make(chan struct{})}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	select {
	case <-c.failed: // ahead of a queue that nobody reads
		return 0, c.refusal()
	default:
	}
	select {
	case c.jobs <- j:
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-c.failed:
		return 0, c.refusal()
	}
	select {
	case <-j.done:
	case <-c.done: // it was queued behind the end
		if j.taken.CompareAndSwap(false, true) {
			return 0, c.refusal()
		}
		<-j.done
	case <-ctx.Done():
		if j.taken.CompareAndSwap(false, true) {
			return 0, ctx.Err()
		}
		<-j.done
	}
	if j.panic != nil {
		panic(j.panic)
	}
	if j.exit {
		runtime.Goexit()
	}
	return j.rev, j.err
}

// refusal is for a call that came too late.
func (c *Committer) refusal() error { return &Unavailable{c.Err()} }

// Changed is Store.Changed.
func (c *Committer) Changed(after Rev) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rev > after || c.err != nil {
		now := make(chan struct{})
		close(now)
		return now
	}
	return c.changed
}

// Failed is Store.Failed.
func (c *Committer) Failed() <-chan struct{} { return c.failed }

// Err is Store.Err.
func (c *Committer) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Fail stops the committer for good, as after a lost lease. The first reason
// stays.
func (c *Committer) Fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	close(c.failed)
	close(c.changed)
}

// Close ends the committer once the group that has begun is durable. Updates that
// still wait are refused.
func (c *Committer) Close() {
	c.once.Do(func() { close(c.stop) })
	<-c.done
}

// Counts are how many commits there were, and how many closures they made durable.
func (c *Committer) Counts() (commits, closures uint64) {
	return c.commits.Load(), c.closures.Load()
}

func (c *Committer) run() {
	over := false
	defer func() {
		if over {
			close(c.done)
			return
		}
		go c.run() // in place of the goroutine that a closure ended
	}()
	o := &overlay{vals: map[string]Change{}}
	c.group(o, c.again)
	for {
		select {
		case <-c.stop:
			c.Fail(ErrClosed)
			over = true
			return
		case <-c.failed:
			over = true
			return
		case first := <-c.jobs:
			if c.Err() != nil { // chosen though failed is closed: nothing may follow
				over = true
				return
			}
			c.group(o, c.gather(first))
			runtime.Gosched() // whoever was just told comes along with the next group
		}
	}
}

// gather takes what waits, without waiting, and leaves out the jobs whose callers
// have gone.
func (c *Committer) gather(first *job) []*job {
	group := make([]*job, 0, 1+len(c.jobs))
	for next := first; ; {
		if next.taken.CompareAndSwap(false, true) {
			group = append(group, next)
		}
		if len(group) == MaxGroup {
			return group
		}
		select {
		case next = <-c.jobs:
		default:
			return group
		}
	}
}

// group runs jobs in one batch and tells each its outcome.
func (c *Committer) group(o *overlay, jobs []*job) {
	c.again = nil
	ended := false
	defer func() {
		if !ended {
			c.leave(jobs)
		}
	}()
	head, err := c.commit(o, jobs)
	ended = true
	if err != nil {
		if _, unknown := err.(*Unknown); unknown {
			c.Fail(err)
		}
		// A refusal too rests on what the batch saw, so it is not told.
		for _, j := range jobs {
			j.rev, j.err, j.panic = 0, err, nil
		}
	} else {
		c.advance(head)
	}
	for _, j := range jobs {
		close(j.done)
	}
}

// leave ends the goroutine along with the closure that ended it; the others of its
// group run again.
func (c *Committer) leave(jobs []*job) {
	for _, j := range jobs {
		if j.exit {
			close(j.done)
		} else {
			j.panic = nil
			c.again = append(c.again, j)
		}
	}
}

// advance makes a durable head known.
func (c *Committer) advance(head journal.Head) {
	if head == c.head {
		return
	}
	c.head = head
	c.after(head)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.rev = Rev(head.Revision)
		close(c.changed)
		c.changed = make(chan struct{})
	}
}

// commit runs the jobs in one batch. The error is *Unavailable or *Unknown for the
// whole of them.
func (c *Committer) commit(o *overlay, jobs []*job) (journal.Head, error) {
	if len(jobs) == 0 {
		return c.head, nil
	}
	b, err := c.begin()
	if err != nil {
		return c.head, failure(err)
	}
	defer b.Rollback()
	g := group{Batch: b}
	o.batch = b
	for again := true; again; {
		g.head, g.base, g.wrote, g.kept = c.head, c.base, false, 0
		if again, err = g.settled(o, jobs); err != nil {
			return c.head, failure(err)
		}
	}
	if !g.wrote {
		return c.head, nil
	}
	if err := b.Commit(); err != nil {
		return c.head, &Unknown{err}
	}
	c.base = g.base
	c.commits.Add(1)
	c.closures.Add(uint64(g.kept))
	return g.head, nil
}

// failure is an error before the commit: nothing happened, unless it says itself
// that nobody knows.
func failure(err error) error {
	if u, ok := err.(*Unknown); ok {
		return u
	}
	return &Unavailable{err}
}
