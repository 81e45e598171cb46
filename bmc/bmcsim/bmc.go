package bmcsim

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"
)

// A BMC answers Redfish requests about one tree. What it changes is its own; what it
// does not change it shares with the other BMCs over the tree. It is an http.Handler,
// safe for concurrent use.
//
// It aborts connections by panicking with http.ErrAbortHandler, as servers of net/http
// understand it.
type BMC struct {
	o    Options
	tree *Tree

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup // requests, and orders that go on after their answer

	where   places
	systems map[string]*system // by key; the maps do not change after New, what is in them does
	chassis map[string][]*system
	slots   map[string]*slot

	mu       sync.Mutex
	closed   bool
	nodes    map[string]*node // changed or added
	next     int              // number of what is made next
	sessions map[string]*session
	auth     authState
	load     loadState
	rules    []ruleState
	tasks    map[string]*task // by key of the task
	monitors map[string]*task // by key of its monitor
	events   map[string][]map[string]any
	stats    statsState
}

// places are the paths at which a tree has what every BMC has.
type places struct {
	sessions, accountService, accounts, account string
	sessionKeys                                 string // what the keys of sessions begin with
	tasks, monitors                             string
}

// New makes a BMC. Its errors are those of [Options.Validate].
func New(t *Tree, o Options) (*BMC, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	b := &BMC{o: o.filled(t), tree: t, nodes: map[string]*node{}, sessions: map[string]*session{}}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.rules = make([]ruleState, len(o.Rules))
	b.load.started = time.Now()
	b.place()
	b.addAccount()
	b.addSystems()
	b.addSlots()
	return b, nil
}

// Close ends what still runs, and waits for it. Requests after it are aborted.
func (b *BMC) Close() error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.cancel()
	b.work.Wait()
	return b.dropImages()
}

// begin says whether there may be more work, which ends with work.Done.
func (b *BMC) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.work.Add(1)
	}
	return !b.closed
}

// sleep waits, or says that it was not to be waited to the end.
func (b *BMC) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-b.ctx.Done():
		return errors.New("bmcsim: closed")
	}
}

// Tree is what it shows.
func (b *BMC) Tree() *Tree { return b.tree }

// place finds where the tree has its services, and takes the usual places for the rest.
func (b *BMC) place() {
	top := b.tree.nodes[root].body
	body := func(path string) map[string]any {
		if n := b.tree.nodes[key(path)]; n != nil {
			return n.body
		}
		return nil
	}
	first := func(paths ...string) string {
		for _, p := range paths {
			if p != "" {
				return strings.TrimRight(p, "/")
			}
		}
		return ""
	}
	w := &b.where
	w.sessions = first(linkOf(dig(top, "Links")["Sessions"]), linkOf(body(linkOf(top["SessionService"]))["Sessions"]), root+"/SessionService/Sessions")
	w.sessionKeys = key(w.sessions) + "/"
	w.accountService = first(linkOf(top["AccountService"]), root+"/AccountService")
	w.accounts = first(linkOf(body(w.accountService)["Accounts"]), w.accountService+"/Accounts")
	tasks := first(linkOf(top["Tasks"]), root+"/TaskService")
	w.tasks, w.monitors = first(linkOf(body(tasks)["Tasks"]), tasks+"/Tasks"), tasks+"/TaskMonitors"
	if b.tree.nodes[key(w.sessions)] == nil {
		b.set(w.sessions, collection(w.sessions, "Session", "Sessions", nil))
	}
	if b.tree.nodes[key(w.accounts)] == nil {
		b.set(w.accounts, collection(w.accounts, "ManagerAccount", "Accounts", nil))
	}
}

// collection is an empty body of one, or one with members.
func collection(path, kind, name string, members []any) map[string]any {
	if members == nil {
		members = []any{}
	}
	return map[string]any{
		"@odata.id": path, "@odata.type": "#" + kind + "Collection." + kind + "Collection", "Name": name,
		"Members": members, "Members@odata.count": len(members),
	}
}

// node finds a resource; the caller holds b.mu.
func (b *BMC) node(k string) *node {
	if n := b.nodes[k]; n != nil {
		return n
	}
	if strings.HasPrefix(k, b.where.sessionKeys) {
		return nil // the sessions that were recorded have ended
	}
	return b.tree.nodes[k]
}

// set puts a resource; the caller holds b.mu, or is New.
func (b *BMC) set(path string, body map[string]any) {
	b.nodes[key(path)] = &node{path: path, body: body}
}

// edit changes a resource by a change of its members at the top. The function may not
// change what is below them, but in a copy of its own.
func (b *BMC) edit(k string, change func(body map[string]any)) {
	n := b.node(k)
	body := maps.Clone(n.body)
	change(body)
	b.nodes[k] = &node{path: n.path, body: body}
}
