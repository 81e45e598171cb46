package storetest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// Memory opens an empty store that keeps every law, for the log called name. What
// it holds is gone with it; use a Disk to open it again, or to make it fail.
func Memory(name string) store.Store { return (&Disk{Name: name}).Open() }

// A Disk is where stores in memory keep what is durable. The zero Disk is an empty
// one, of a log without a name. It is safe for concurrent use.
type Disk struct {
	Name string
	// Sync, where it is not nil, is called within each commit, just before it is
	// durable. It may wait, to have updates gather meanwhile. Set it before Open.
	Sync func()

	mu     sync.Mutex
	root   *tree
	opened int // how often; only the store opened last may write
	fault  Fault
	count  int // until fault
}

// A Fault is what happens to a commit.
type Fault int

// The faults.
const (
	// Refused is a batch that does not begin: nothing happened, *Unavailable
	// says so, and the store goes on.
	Refused Fault = iota + 1
	// Lost is a commit that did not happen, though nobody is told: *Unknown.
	Lost
	// Replyless is a commit that happened, though nobody is told: *Unknown.
	Replyless
)

// errFault is what an armed fault reports.
var errFault = errors.New("a fault of the test")

// errSuperseded is what a store meets that was killed, or whose disk was opened
// anew.
var errSuperseded = errors.New("the store was killed, or its disk was opened anew")

// Open opens a store on what the disk holds. One that is still open is as good as
// killed: it can commit nothing more, and stops when it tries to. So opening anew
// without closing is a crash.
func (d *Disk) Open() store.Store {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened++
	head, base := d.heads(d.root)
	m := &memory{disk: d, opened: d.opened}
	m.Committer = store.NewCommitter(head, base, m.begin, nil)
	return m
}

// Arm has the nth commit from now meet a fault; 1 is the next. For Refused it is
// the nth batch, whether or not it comes to a commit. It replaces what was armed
// before; once the fault has struck, none is armed. A store whose commit was Lost
// or Replyless is killed by it and commits nothing more; Open the disk again to see
// what became of it.
func (d *Disk) Arm(n int, f Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count, d.fault = n, f
}

// strikes counts down, and reports the fault whose time has come, if it is one of
// those that strike here.
func (d *Disk) strikes(here ...Fault) Fault {
	if !slices.Contains(here, d.fault) {
		return 0
	}
	if d.count--; d.count > 0 {
		return 0
	}
	f := d.fault
	d.fault = 0
	return f
}

// heads reads the log's ends in a tree that the disk has held.
func (d *Disk) heads(root *tree) (head, base journal.Head) {
	head, base, err := store.Heads(d.Name, root.get)
	if err != nil {
		panic(err) // nobody but the committer wrote them
	}
	return head, base
}

// begin opens a batch for the store that was opened as the nth.
func (d *Disk) begin(opened int) (*batch, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opened != opened {
		return nil, errSuperseded
	}
	if d.strikes(Refused) != 0 {
		return nil, errFault
	}
	return &batch{disk: d, opened: opened, root: d.root}, nil
}

// commit makes a tree the durable one.
func (d *Disk) commit(opened int, root *tree) error {
	if d.Sync != nil {
		d.Sync()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opened != opened {
		return errSuperseded
	}
	f := d.strikes(Lost, Replyless)
	if f != Lost {
		d.root = root
	}
	if f != 0 {
		d.opened++ // whoever opened it is killed
		return errFault
	}
	return nil
}

// batch is a writing transaction on a Disk.
type batch struct {
	disk   *Disk
	opened int
	root   *tree
}

func (b *batch) Get(key string) ([]byte, bool) { return b.root.get(key) }

func (b *batch) Range(lo, hi string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) { b.root.walk(lo, hi, yield) }
}

func (b *batch) Err() error { return nil }

func (b *batch) Apply(changes iter.Seq2[string, store.Change]) error {
	for key, c := range changes {
		if c.Gone {
			b.root = b.root.del(key)
			continue
		}
		b.root = b.root.put(key, c.Val)
	}
	return nil
}

func (b *batch) Commit() error { return b.disk.commit(b.opened, b.root) }

func (b *batch) Rollback() {}

// memory is an open store on a Disk.
type memory struct {
	*store.Committer
	disk   *Disk
	opened int
}

func (m *memory) begin() (store.Batch, error) {
	b, err := m.disk.begin(m.opened)
	if err == errSuperseded {
		m.Fail(err)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Close is Store.Close.
func (m *memory) Close() error {
	m.Committer.Close()
	return nil
}

// View is Store.View. A store that has stopped shows nothing: after a lost reply
// it does not know what is durable.
func (m *memory) View(ctx context.Context, fn func(store.Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := m.Err(); err != nil {
		return &store.Unavailable{Err: err}
	}
	return store.RunView(ctx, time.Now, m.disk.snapshot(), fn)
}

// snapshot is what is durable now.
func (d *Disk) snapshot() *snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &snapshot{d, d.root}
}

// snapshot is a tree as a reader.
type snapshot struct {
	disk *Disk
	root *tree
}

func (v *snapshot) Get(key string) ([]byte, bool) { return v.root.get(key) }

func (v *snapshot) Range(lo, hi string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) { v.root.walk(lo, hi, yield) }
}

func (v *snapshot) Head() journal.Head {
	head, _ := v.disk.heads(v.root)
	return head
}

func (v *snapshot) Base() journal.Head {
	_, base := v.disk.heads(v.root)
	return base
}
