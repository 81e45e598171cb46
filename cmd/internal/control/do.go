package control

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// A Look is what an input is made from: the state as the transaction sees it.
type Look struct {
	store.Reader
	State lifecycle.State
	Now   time.Time
	World lifecycle.World // what the parts of the control plane know of the node
	tx    store.Tx
	work  *work

	sysinfo *Sysinfo
	plan    []byte
	notes   change
	counted func(error) bool
}

// Note overwrites an observation, whose key is below store.LedgerPrefix, where the
// step is taken, also where it changes nothing.
func (l *Look) Note(key string, val []byte) {
	l.notes.put = append(l.notes.put, row{store.LedgerPrefix + key, val})
}

// Forget removes an observation where the step is taken.
func (l *Look) Forget(key string) { l.notes.gone = append(l.notes.gone, store.LedgerPrefix+key) }

// Reach adds a boot record to those that the step may change. It must be as the
// transaction reads it.
func (l *Look) Reach(b netboot.Record) {
	l.State.Node.NICs = append(slices.Clip(l.State.Node.NICs), b)
}

// Count asks fn of each refusal. Where it says true, what was noted stays although
// the call is refused: a wrong try is counted in the transaction that compared it.
//
// A dry run of such a call is decided in a transaction too: what it is told is a
// try like any other.
func (l *Look) Count(fn func(refusal error) bool) { l.counted, l.work.counts = fn, true }

// refuse is a refusal that may have been counted.
func (l *Look) refuse(w *work, err error) error {
	l.notes = change{}
	if l.counted != nil && l.counted(err) {
		l.notes.apply(l.tx)
		w.refusal = err
		return nil
	}
	return err
}

// Just is an input that needs no look.
func Just(in lifecycle.Input) func(*Look) (lifecycle.Input, error) {
	return func(*Look) (lifecycle.Input, error) { return in, nil }
}

// Do loads what t names, makes the input of it, steps, and writes the difference
// with one row of the log. decide may run again, and must not draw or send
// anything. Errors are those of lifecycle.Step, of decide and of the store; nothing
// changed then.
func (d *Door) Do(ctx context.Context, c Call, t Target, decide func(*Look) (lifecycle.Input, error)) (Done, error) {
	return d.record(ctx, c, func(w *work) ([]journal.Fact, error) { return d.step(w, t, decide) })
}

// Each is Do for many targets in one transaction, in their order, each on what
// those before it left. A refusal is its target's alone; errs has them in the order
// of the targets. One row of the log tells of all.
func (d *Door) Each(ctx context.Context, c Call, targets []Target, decide func(i int, l *Look) (lifecycle.Input, error)) (rev store.Rev, errs []error, err error) {
	done, err := d.record(ctx, c, func(w *work) ([]journal.Fact, error) {
		var all []journal.Fact
		errs = make([]error, len(targets))
		for i, t := range targets {
			told, err := d.step(w, t, func(l *Look) (lifecycle.Input, error) { return decide(i, l) })
			// One that was counted is refused alone, as any other is.
			all, errs[i], w.refusal = append(all, told...), cmp.Or(err, w.refusal), nil
		}
		return all, nil
	})
	return done.Rev, errs, err
}

// step is one run of Do. On error it has written nothing but what was counted.
func (d *Door) step(w *work, t Target, decide func(*Look) (lifecycle.Input, error)) ([]journal.Fact, error) {
	s, site, err := d.load(w, t)
	if err != nil {
		return nil, err
	}
	look := &Look{Reader: w, State: s, Now: w.now, World: d.world(w, &s.Node), tx: w.Tx, work: w}
	in, err := decide(look)
	if err != nil {
		return nil, look.refuse(w, err)
	}
	s = look.State // with what it reached for
	out, err := lifecycle.Step(s, in, w.now)
	if err != nil {
		return nil, look.refuse(w, err)
	}
	w.done.Was, w.done.Next = s, out.Next
	if len(out.Facts) == 0 { // nothing changed, and nothing else is to be written
		look.notes.apply(w)
		return nil, nil
	}
	change, err := difference(w, &s.Node, &out.Next.Node)
	if err != nil {
		return nil, err
	}
	look.notes.apply(w)
	change.apply(w)
	change.versions(w)
	d.site.write(w, site, out.Next.Site)
	found(w, w.now, &s.Node, &out.Next.Node)
	waiting(w, &s.Node.Reg, &out.Next.Node.Reg)
	if err := look.keep(&s.Node.Reg, &out.Next.Node.Reg); err != nil {
		return nil, err
	}
	return facts(t, in, out), nil
}

// change is what becomes of rows.
type change struct {
	put  []row
	gone []string
}

func (c *change) apply(tx store.Tx) {
	for _, r := range c.put {
		tx.Put(r.key, r.val)
	}
	for _, key := range c.gone {
		tx.Delete(key)
	}
}

// versions notes which boot records change: theirs is no node's version.
func (c *change) versions(tx store.Tx) {
	for _, r := range c.put {
		if strings.HasPrefix(r.key, lifecycle.RowBoot) {
			Changed(tx, r.key)
		}
	}
	for _, key := range c.gone {
		if strings.HasPrefix(key, lifecycle.RowBoot) {
			tx.Delete(changedLedger + key)
		}
	}
}

// difference is what the rows of one node have to become those of the next.
func difference(r store.Reader, was, is *lifecycle.Node) (change, error) {
	var c change
	before := map[string][]byte{}
	for k, v := range lifecycle.NodeRows(*was) {
		before[k] = v
	}
	for k, v := range lifecycle.NodeRows(*is) {
		old, had := before[k]
		delete(before, k)
		if had && bytes.Equal(old, v) {
			continue
		}
		if !had && strings.HasPrefix(k, lifecycle.RowBy) {
			if held, taken := r.Get(k); taken && !bytes.Equal(held, v) {
				return change{}, &Taken{strings.TrimPrefix(k, lifecycle.RowBy)}
			}
		}
		c.put = append(c.put, row{k, v})
	}
	c.gone = slices.Sorted(maps.Keys(before))
	return c, nil
}

// Body is what a fact of a machine says besides its name and whose it is.
type Body struct {
	Node string `json:"node,omitempty"`
	MAC  string `json:"mac,omitempty"`
	Key  string `json:"key,omitempty"` // a key's, session's or certificate's ID
	Why  string `json:"why,omitempty"`
}

// facts are a step's facts as the log keeps them. They are about the node, or
// where there is none about the record that moved.
func facts(t Target, in lifecycle.Input, out lifecycle.Outcome) []journal.Fact {
	told := make([]journal.Fact, 0, len(out.Facts))
	for _, f := range out.Facts {
		b := Body{Key: f.Key, Why: f.Why}
		if reason := reasonBeside(in); reason != "" && b.Why != reason {
			b.Why += ": " + reason
		}
		if f.MAC != (netboot.MAC{}) {
			b.MAC = f.MAC.String()
		}
		body := ""
		if b != (Body{}) {
			raw, _ := json.Marshal(b) // strings alone
			body = string(raw)
		}
		told = append(told, journal.Fact{Type: f.Name, Subject: subject(t, &out.Next.Node, f), Body: body})
	}
	return told
}

// reasonBeside is the reason of an input whose facts have a why of their own: which
// window, which command, or that it was an abort.
func reasonBeside(in lifecycle.Input) string {
	switch in := in.(type) {
	case lifecycle.SetWindow:
		return in.Reason
	case lifecycle.Power:
		return in.Reason
	case lifecycle.Verb:
		return in.Reason
	}
	return ""
}

// subject is what a fact is about. A boot record that is nobody's goes by its MAC,
// a row without a node by its UUID, and what is left is the site's.
func subject(t Target, n *lifecycle.Node, f lifecycle.Fact) string {
	switch {
	case n.ID != "":
		return string(n.ID)
	case f.MAC != netboot.MAC{}:
		return f.MAC.String()
	case n.Reg.State != "" && n.Reg.State != registration.Absent:
		return n.Reg.Server.Key().String()
	case t.MAC != netboot.MAC{}:
		return t.MAC.String()
	}
	return "site"
}
