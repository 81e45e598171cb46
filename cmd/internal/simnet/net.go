package simnet

import (
	"cmp"
	"crypto/sha256"
	"hash"
	"net/netip"
	"sync"
	"testing/synctest"
	"time"
)

// Options are the properties of a net. A zero field takes its default.
type Options struct {
	Rule           Rule          // for every pair of hosts without a rule of its own
	Window         int           // bytes a connection takes before its reader has read; default 64 KiB
	ConnectTimeout time.Duration // until a dial gives up; default 127s, as on Linux
	GiveUp         time.Duration // until a sender whom a cut silences gives up; default 924s, as on Linux
	Detail         Detail        // of the trace; default Bytes
	Log            int           // events that Log remembers; default 256
}

// A Net is a network. Its methods, and those of what it makes, may be called by
// several goroutines of its bubble at once.
type Net struct {
	seed   uint64
	start  time.Time
	detail Detail
	window int

	connectTimeout, giveUp time.Duration

	mu     sync.Mutex // guards all below, and all hosts, connections and links
	queue  queue
	dirty  []sealer    // what was sent since the last step
	ops    []op        // calls that wait for the net's goroutine
	quiet  []chan bool // calls of Settle
	sites  map[string]*site
	byAddr map[netip.Addr]*site
	rules  map[pair]Rule
	cuts   map[pair]bool
	held   map[*way]bool // ways that hold flights back
	dials  map[string]int
	hosts  []*Host // every one there ever was
	air    map[port][]*PacketConn
	closed bool

	sum     hash.Hash
	scratch []byte
	counts  map[Kind]int
	log     []entry
	noted   int

	last  time.Duration // instant of the last event
	since int           // events at it

	kick chan struct{}
	stop chan struct{}
	done chan struct{}
	once sync.Once
}

// A sealer has things to send. seal turns them into events once everybody else
// is blocked.
type sealer interface{ seal() }

// An op is a call that the net's goroutine makes between two steps.
type op struct {
	f    func()
	done chan bool
}

// New starts a network in the bubble of the caller, who must Close it before the
// bubble ends.
func New(seed uint64, o Options) *Net {
	n := &Net{
		seed: mix(seed), start: time.Now(), detail: o.Detail, window: cmp.Or(o.Window, 64<<10),
		connectTimeout: cmp.Or(o.ConnectTimeout, 127*time.Second), giveUp: cmp.Or(o.GiveUp, 924*time.Second),
		sites: map[string]*site{}, byAddr: map[netip.Addr]*site{},
		rules: map[pair]Rule{{"*", "*"}: o.Rule}, cuts: map[pair]bool{}, held: map[*way]bool{}, air: map[port][]*PacketConn{}, dials: map[string]int{},
		sum: sha256.New(), counts: map[Kind]int{}, log: make([]entry, cmp.Or(o.Log, 256)),
		kick: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	go n.run()
	return n
}

// now is the time since the net's start.
func (n *Net) now() time.Duration { return time.Since(n.start) }

// wake tells the net's goroutine that there may be something to do.
func (n *Net) wake() {
	select {
	case n.kick <- struct{}{}:
	default:
	}
}

// mark queues what a sealer has to send.
func (n *Net) mark(s sealer) {
	n.dirty = append(n.dirty, s)
	n.wake()
}

// run is the net's goroutine.
func (n *Net) run() {
	defer close(n.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		synctest.Wait()
		next, idle := n.step()
		if !idle {
			continue
		}
		var due <-chan time.Time
		if next >= 0 {
			timer.Reset(next)
			due = timer.C
		}
		select {
		case <-due:
		case <-n.kick:
		case <-n.stop:
			return
		}
	}
}

// step does one thing that is due. When there is none it reports idle, and how
// long until the next one is due, or -1 when none is queued.
func (n *Net) step() (next time.Duration, idle bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range n.dirty {
		s.seal()
	}
	n.dirty = n.dirty[:0]
	switch {
	case len(n.ops) > 0:
		o := n.ops[0]
		n.ops = n.ops[1:]
		o.f()
		close(o.done)
	case n.pop():
	case len(n.quiet) > 0:
		close(n.quiet[0])
		n.quiet = n.quiet[1:]
	case len(n.queue) > 0:
		return n.queue[0].due - n.now(), true
	default:
		return -1, true
	}
	return 0, false
}

// do lets the net's goroutine call f, between two steps, and waits for it. On a
// closed net f is not called.
func (n *Net) do(f func()) {
	o := op{f, make(chan bool)}
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return
	}
	n.ops = append(n.ops, o)
	n.wake()
	n.mu.Unlock()
	<-o.done
}

// Settle returns when everybody else is blocked and nothing more is due at this
// instant. It stands in for synctest.Wait, which only the net may call.
func (n *Net) Settle() {
	c := make(chan bool)
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return
	}
	n.quiet = append(n.quiet, c)
	n.wake()
	n.mu.Unlock()
	<-c
}

// Offset is a time below one second that seed and name alone decide: how long a
// loop waits before its first round, so that no two loops wake at the same
// instant.
func (n *Net) Offset(name string) time.Duration {
	return time.Duration(mix(n.seed, newLink("offset "+name).hash) % uint64(time.Second))
}

// Close ends the net: its goroutine has returned, every connection and listener
// fails with net.ErrClosed. What was under way is lost. Closing again does
// nothing.
func (n *Net) Close() {
	n.once.Do(func() { close(n.stop) })
	<-n.done
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	n.closed = true
	for _, h := range n.hosts {
		h.die(true, func(_ *link, wake func()) { wake() })
	}
	for _, o := range n.ops {
		close(o.done)
	}
	for _, c := range n.quiet {
		close(c)
	}
	n.ops, n.quiet, n.queue, n.dirty = nil, nil, nil, nil
}
