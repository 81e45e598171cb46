package control

import (
	"bytes"
	"context"
	"encoding/json"
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
}

// Note overwrites an observation in the transaction: key is below
// store.LedgerPrefix.
func (l *Look) Note(key string, val []byte) { l.tx.Put(store.LedgerPrefix+key, val) }

// Forget removes an observation.
func (l *Look) Forget(key string) { l.tx.Delete(store.LedgerPrefix + key) }

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

// step is one run of Do.
func (d *Door) step(w *work, t Target, decide func(*Look) (lifecycle.Input, error)) ([]journal.Fact, error) {
	s, site, err := d.load(w, t)
	if err != nil {
		return nil, err
	}
	in, err := decide(&Look{Reader: w, State: s, Now: w.now, World: d.world(w, &s.Node), tx: w.Tx})
	if err != nil {
		return nil, err
	}
	out, err := lifecycle.Step(s, in, w.now)
	if err != nil {
		return nil, err
	}
	w.done.Was, w.done.Next = s, out.Next
	if len(out.Facts) == 0 { // nothing changed, and nothing is to be written
		return nil, nil
	}
	d.site.write(w, site, out.Next.Site)
	if err := write(w, s.Node, out.Next.Node); err != nil {
		return nil, err
	}
	return facts(t, out), nil
}

// write writes the difference between the rows of two nodes.
func write(tx store.Tx, was, is lifecycle.Node) error {
	before := map[string][]byte{}
	for k, v := range lifecycle.NodeRows(was) {
		before[k] = v
	}
	for k, v := range lifecycle.NodeRows(is) {
		old, had := before[k]
		delete(before, k)
		switch {
		case had && bytes.Equal(old, v):
			continue
		case !had && strings.HasPrefix(k, lifecycle.RowBy):
			if held, taken := tx.Get(k); taken && !bytes.Equal(held, v) {
				return conflict("another machine has the name "+strings.TrimPrefix(k, lifecycle.RowBy), "two machines are never merged: delete or retire the one that is gone (MACH-1)")
			}
		}
		tx.Put(k, v)
	}
	for k := range before {
		tx.Delete(k)
	}
	return nil
}

// Body is what a fact of a machine says besides its name and whose it is.
type Body struct {
	Node string `json:"node,omitempty"`
	MAC  string `json:"mac,omitempty"`
	Key  string `json:"key,omitempty"` // a key's or certificate's ID
	Why  string `json:"why,omitempty"`
}

// facts are a step's facts as the log keeps them. They are about the node, or
// where there is none about the record that moved.
func facts(t Target, out lifecycle.Outcome) []journal.Fact {
	told := make([]journal.Fact, 0, len(out.Facts))
	for _, f := range out.Facts {
		b := Body{Key: f.Key, Why: f.Why}
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
