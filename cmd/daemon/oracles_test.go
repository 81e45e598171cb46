package daemon_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// oracles say what of a site's promises is broken, once all is quiet.
func (w *world) oracles(st store.Store, c *clients) []string {
	var broken []string
	door := control.New(control.Config{Store: st, Now: time.Now})
	err := st.View(context.Background(), func(r store.Reader) error {
		o := oracle{Reader: r, door: door, clients: c}
		for _, ask := range []func() error{o.chain, o.acknowledged, o.stable, o.recount, o.once, o.followed} {
			if err := ask(); err != nil {
				broken = append(broken, err.Error())
			}
		}
		return nil
	})
	if err != nil {
		broken = append(broken, err.Error())
	}
	return broken
}

type oracle struct {
	store.Reader
	door *control.Door
	*clients
}

func (o oracle) Head() journal.Head { return o.Reader.Head() }

// chain: the log verifies from its start.
func (o oracle) chain() error {
	head, err := journal.Verify(journal.Start("lab"), store.Rows(o.Reader, 0), o.Head())
	if err == nil && head.Revision < 20 {
		err = fmt.Errorf("quiet: the log has %d rows, so nothing was tried", head.Revision)
	}
	return err
}

// acknowledged: what a client was told of is in the log, as it was told.
func (o oracle) acknowledged() error {
	for _, a := range o.acks {
		if len(a.facts) == 0 {
			continue
		}
		raw, ok := o.Get(store.LogKey(store.Rev(a.rev)))
		if !ok {
			return fmt.Errorf("acknowledged: revision %d is gone", a.rev)
		}
		row, err := journal.ParseRow(raw)
		if err != nil {
			return err
		}
		var facts []string
		for _, f := range row.Facts {
			facts = append(facts, f.Type)
		}
		if !slices.Equal(facts, a.facts) {
			return fmt.Errorf("acknowledged: revision %d was told as %v and is %v", a.rev, a.facts, facts)
		}
	}
	return nil
}

// stable: every machine has come to rest, and only what is approved has a live key.
func (o oracle) stable() error {
	for _, m := range o.machines {
		server, err := registration.ParseServerID(m.uuid)
		if err != nil {
			return err
		}
		s, err := o.door.Load(o.Reader, control.Target{Server: server})
		if err != nil {
			return err
		}
		reg := &s.Node.Reg
		approved := reg.State == registration.Approved
		if !approved && reg.State != registration.AwaitingSetup && reg.State != registration.SettingUp {
			return fmt.Errorf("stable: %s rests in %s", m.uuid, reg.State)
		}
		if reg.State == registration.SettingUp && reg.Deadline.Before(o.end) {
			return fmt.Errorf("stable: %s is wedged in setting_up", m.uuid)
		}
		if (reg.Bound != registration.Key{}) != (approved || reg.State == registration.SettingUp) {
			return fmt.Errorf("stable: %s in %s has key %q", m.uuid, reg.State, reg.Bound.ID)
		}
	}
	return nil
}

// recount: the rows are those of the states that they hold, index rows and counts
// included, and no address is held twice.
func (o oracle) recount() error {
	want := map[string][]byte{}
	site, err := o.door.Load(o.Reader, control.Target{})
	if err != nil {
		return err
	}
	unapproved, discovered := 0, 0
	for key := range o.Range(lifecycle.RowNode, "node0") {
		s, err := o.door.Load(o.Reader, control.Target{Node: lifecycle.NodeID(strings.TrimPrefix(key, lifecycle.RowNode))})
		if err != nil {
			return err
		}
		for k, v := range lifecycle.NodeRows(s.Node) {
			want[k] = v
		}
		if s.Node.Reg.State != registration.Absent && !s.Node.Reg.OnceApproved {
			unapproved++
		}
	}
	if site.Site.Unapproved != unapproved {
		return fmt.Errorf("recount: %d rows were never approved, the site counts %d (discovered %d)", unapproved, site.Site.Unapproved, discovered)
	}
	for _, prefix := range []string{lifecycle.RowNode, lifecycle.RowRegistration, lifecycle.RowBy, lifecycle.RowDue} {
		for key, val := range o.Range(prefix, prefix[:len(prefix)-1]+"0") {
			v, ok := want[key]
			if !ok && !strings.HasPrefix(key, lifecycle.RowBy+"address/") {
				return fmt.Errorf("recount: the row %s is one too many", key)
			}
			if ok && !bytes.Equal(v, val) {
				return fmt.Errorf("recount: the row %s is %s, want %s", key, val, v)
			}
			delete(want, key)
		}
	}
	for key := range want {
		if !strings.HasPrefix(key, lifecycle.RowBoot) {
			return fmt.Errorf("recount: the row %s is missing", key)
		}
	}
	return nil
}

// once: a bundle is handed out once, and a call with one idempotency key makes one
// key.
func (o oracle) once() error {
	for epoch, n := range o.drains {
		if n > 1 {
			return fmt.Errorf("once: the bundle of attempt %d was handed out %d times", epoch, n)
		}
	}
	made := 0
	for range o.Range("apikey/", "apikey0") {
		made++
	}
	if made != o.minted {
		return fmt.Errorf("once: %d keys were asked for, %d were made", o.minted, made)
	}
	return nil
}

// followed: who follows the events sees each once, in order.
func (o oracle) followed() error {
	var want []string
	for e, err := range (journal.Filter{}).Events(store.Rows(o.Reader, 0)) {
		if err != nil {
			return err
		}
		want = append(want, e.At.String())
	}
	if !slices.Equal(o.seen, want[:min(len(want), len(o.seen))]) {
		return fmt.Errorf("followed: %d events were seen, of %d, and not as they are", len(o.seen), len(want))
	}
	if len(o.seen) < len(want)*9/10 {
		return fmt.Errorf("followed: %d events of %d were seen", len(o.seen), len(want))
	}
	return nil
}
