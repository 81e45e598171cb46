package control

import (
	"context"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/pause"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// A Doer carries out one verb of needs. It runs until the need is met, by a call
// through the door, or until ctx ends because the need has gone. It is begun again
// after an error, and after it returned while the need still stands.
type Doer func(ctx context.Context, n lifecycle.Need) error

// A Reconciler compares what states want from the world with what has begun, and
// begins what is missing. It keeps nothing: after a crash it finds every need again
// (lifecycle.Needs).
type Reconciler struct {
	Door *Door
	Log  *slog.Logger
	// Doers are by verb. Needs of other verbs stand unserved; see Unserved.
	Doers map[string]Doer
	// Seen is told of each node when the reconciler begins, and whenever its row was
	// touched; of one that has gone, by its ID alone. May be nil.
	Seen func(*lifecycle.Node)

	mu       sync.Mutex
	begun    map[lifecycle.Need]context.CancelFunc
	wanted   map[lifecycle.NodeID][]lifecycle.Need
	unserved map[string]int
	running  sync.WaitGroup
}

// Pauses between tries of a need, doubling.
const (
	firstRetry = time.Second
	lastRetry  = 5 * time.Minute
	scanPage   = 256
)

// Run reconciles until ctx ends or the store stops, and then waits for what it has
// begun.
func (r *Reconciler) Run(ctx context.Context) {
	r.begun, r.wanted, r.unserved = map[lifecycle.Need]context.CancelFunc{}, map[lifecycle.NodeID][]lifecycle.Need{}, map[string]int{}
	ctx, stop := context.WithCancel(ctx)
	defer r.running.Wait()
	defer stop()
	at, ok := r.all(ctx)
	for ok {
		select {
		case <-ctx.Done():
			return
		case <-r.Door.store.Failed():
			return
		case <-r.Door.store.Changed(at):
		}
		at, ok = r.follow(ctx, at)
	}
}

// Unserved counts the needs that stand and that nothing carries out, by verb.
func (r *Reconciler) Unserved() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := make(map[string]int, len(r.unserved))
	for verb, n := range r.unserved {
		counts[verb] = n
	}
	return counts
}

// all looks at every node, a page at a time, and returns the revision from which
// changes are to be followed: that before the first page.
func (r *Reconciler) all(ctx context.Context) (store.Rev, bool) {
	var at store.Rev
	for after, first := lifecycle.RowNode, true; ; {
		var nodes []lifecycle.Node
		var last string
		err := r.Door.store.View(ctx, func(rd store.Reader) error {
			nodes, last = nil, ""
			if first {
				at = store.Rev(rd.Head().Revision)
			}
			var keys []string
			for key := range rd.Range(after, Beyond(lifecycle.RowNode)) {
				if keys = append(keys, key); len(keys) == scanPage {
					break
				}
			}
			for _, key := range keys {
				last = key
				s, err := r.Door.Load(rd, Target{Node: lifecycle.NodeID(strings.TrimPrefix(key, lifecycle.RowNode))})
				if err != nil {
					r.Log.Error("a node cannot be read", "key", key, "error", err)
					continue
				}
				nodes = append(nodes, s.Node)
			}
			return nil
		})
		if err != nil {
			r.Log.Warn("the reconciler cannot read the nodes", "error", err)
			if !r.Door.pause(ctx, firstRetry) {
				return 0, false
			}
			continue
		}
		first = false
		for i := range nodes {
			r.look(ctx, &nodes[i])
		}
		if last == "" {
			return at, true
		}
		after = last + "\x00"
	}
}

// follow looks at the nodes that the rows after at touched.
func (r *Reconciler) follow(ctx context.Context, at store.Rev) (store.Rev, bool) {
	var nodes []lifecycle.Node
	to, sealed := at, false
	err := r.Door.store.View(ctx, func(rd store.Reader) error {
		nodes, to = nil, at
		if sealed = uint64(at) < rd.Base().Revision; sealed {
			return nil
		}
		touched := map[lifecycle.NodeID]bool{}
		for row, err := range store.Rows(rd, at) {
			if err != nil {
				return err
			}
			to = store.Rev(row.Revision)
			for _, key := range row.Keys {
				if id, ok := strings.CutPrefix(key, lifecycle.RowNode); ok {
					touched[lifecycle.NodeID(id)] = true
				}
			}
			if len(touched) >= scanPage {
				break
			}
		}
		for _, id := range slices.Sorted(maps.Keys(touched)) {
			s, err := r.Door.Load(rd, Target{Node: id})
			if err != nil { // what stands of its needs goes on
				r.Log.Error("a node cannot be read", "node", string(id), "error", err)
				continue
			}
			s.Node.ID = id // of a node that has gone, too
			nodes = append(nodes, s.Node)
		}
		return nil
	})
	if err != nil {
		r.Log.Warn("the reconciler cannot read the changes", "error", err)
		return at, r.Door.pause(ctx, firstRetry)
	}
	if sealed { // the rows have left the store: look at every node again
		return r.all(ctx)
	}
	for i := range nodes {
		r.look(ctx, &nodes[i])
	}
	return to, true
}

func (r *Reconciler) look(ctx context.Context, n *lifecycle.Node) {
	if r.Seen != nil {
		r.Seen(n)
	}
	r.want(ctx, n.ID, lifecycle.Needs(n))
}

// want makes what has begun for a node equal to what its state wants.
func (r *Reconciler) want(ctx context.Context, id lifecycle.NodeID, needs iter.Seq[lifecycle.Need]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var now []lifecycle.Need
	still := map[lifecycle.Need]bool{}
	for n := range needs {
		now = append(now, n)
		still[n] = true
	}
	for _, n := range r.wanted[id] {
		if !still[n] {
			r.end(n)
		}
	}
	was := map[lifecycle.Need]bool{}
	for _, n := range r.wanted[id] {
		was[n] = true
	}
	for _, n := range now {
		if !was[n] {
			r.begin(ctx, n)
		}
	}
	if r.wanted[id] = now; len(now) == 0 {
		delete(r.wanted, id)
	}
}

func (r *Reconciler) end(n lifecycle.Need) {
	if stop, ok := r.begun[n]; ok {
		stop()
		delete(r.begun, n)
		return
	}
	if r.unserved[n.Verb]--; r.unserved[n.Verb] == 0 {
		delete(r.unserved, n.Verb)
	}
}

func (r *Reconciler) begin(ctx context.Context, n lifecycle.Need) {
	do, ok := r.Doers[n.Verb]
	if !ok {
		r.unserved[n.Verb]++
		return
	}
	ctx, stop := context.WithCancel(ctx)
	r.begun[n] = stop
	r.running.Go(func() { r.carry(ctx, n, do) })
}

// carry tries a need until it has gone.
func (r *Reconciler) carry(ctx context.Context, n lifecycle.Need, do Doer) {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		err := do(ctx, n)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			r.Log.Warn("a need is not met yet", "node", string(n.Node), "verb", n.Verb, "epoch", n.Epoch, "error", err, "retry", wait.String())
		}
		if !pause.For(ctx, wait) {
			return
		}
	}
}

// pause waits, and reports false where ctx ended or the store stopped.
func (d *Door) pause(ctx context.Context, wait time.Duration) bool {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-d.store.Failed():
	}
	return false
}

// Acceptance begins a queued acceptance run once the machine is free (EDGE-21).
func (d *Door) Acceptance(ctx context.Context, n lifecycle.Need) error {
	_, err := d.Do(ctx, Call{Actor: "reconciler"}, Target{Node: n.Node}, Just(lifecycle.BeginAcceptance{}))
	return err
}
