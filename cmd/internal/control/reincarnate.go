package control

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// reincarnatePage is how many machines are taken through in one commit.
const reincarnatePage = 256

// restorer is the restore in the log, and its reason in the facts.
const (
	restorer    = "restore"
	restoredWhy = "restored from a copy"
)

// Reincarnate makes a store that was restored from a copy another life of its site.
// Whatever was revoked after the copy was made must not come back: every identity's
// generation is raised (ID-2), setups in progress end, windows close, epochs begin
// beyond all that were given, and claim codes, tokens, sessions and, unless keepKeys,
// API keys and bound keys are void. Operators are as they were in the copy: look at
// them. The store is named
// anew in the last commit, so that who follows it takes a fresh snapshot. After a
// crash it is run again.
//
// It returns how many machines it went through and how many credentials it ended.
func (d *Door) Reincarnate(ctx context.Context, draw Draw, keepKeys bool) (machines, voided int, err error) {
	name, err := draw.ID("inc_")
	if err != nil {
		return 0, 0, err
	}
	for after := lifecycle.RowNode; after != ""; {
		var ids []lifecycle.NodeID
		if ids, after, err = d.nodesFrom(ctx, after); err != nil {
			return machines, voided, err
		}
		n, err := d.reborn(ctx, ids, keepKeys)
		if err != nil {
			return machines, voided, err
		}
		machines, voided = machines+len(ids), voided+n
	}
	n := 0
	_, err = d.record(ctx, Call{Actor: restorer}, func(w *work) ([]journal.Fact, error) {
		told, err := d.reopen(w)
		if err != nil {
			return nil, err
		}
		n, err = voidDesk(w, w.now, keepKeys)
		w.Put(incarnationRow, []byte(name))
		return append(told, journal.Fact{Type: SiteRestored, Subject: "site"}), err
	})
	return machines, voided + n, err
}

// epochLeap is further than a site's epochs get between a copy and its restore:
// those that were given in between must never be given again (EDGE-7).
const epochLeap = 1 << 32

// reopen closes the site's windows, which somebody may have closed since the copy,
// and leaps over the epochs that were given since.
func (d *Door) reopen(w *work) ([]journal.Fact, error) {
	var all []journal.Fact
	for _, kind := range []string{lifecycle.AutoApproveWindow, lifecycle.EnrollWindow} {
		in := lifecycle.SetWindow{Call: lifecycle.Call{By: restorer, Reason: restoredWhy}, Kind: kind}
		told, err := d.step(w, Target{}, Just(in))
		if err != nil {
			return nil, err
		}
		all = append(all, told...)
	}
	rows, err := d.site.load(w)
	if err != nil {
		return nil, err
	}
	site := rows.site
	site.Epoch += epochLeap
	d.site.write(w, rows, site)
	return all, nil
}

// nodesFrom reads a page of node IDs, and the key that the next begins with.
func (d *Door) nodesFrom(ctx context.Context, after string) (ids []lifecycle.NodeID, more string, err error) {
	err = d.store.View(ctx, func(r store.Reader) error {
		ids, more = nil, ""
		for key := range r.Range(after, Beyond(lifecycle.RowNode)) {
			if len(ids) == reincarnatePage {
				more = key
				return nil
			}
			ids = append(ids, lifecycle.NodeID(strings.TrimPrefix(key, lifecycle.RowNode)))
		}
		return nil
	})
	return ids, more, err
}

// reborn takes machines through the restore, in one commit.
func (d *Door) reborn(ctx context.Context, ids []lifecycle.NodeID, keepKeys bool) (voided int, err error) {
	if len(ids) == 0 {
		return 0, nil
	}
	done, err := d.record(ctx, Call{Actor: restorer}, func(w *work) ([]journal.Fact, error) {
		var all []journal.Fact
		for _, id := range ids {
			told, err := d.rebornOne(w, id, keepKeys)
			if err != nil {
				return nil, err
			}
			all = append(all, told...)
		}
		return all, nil
	})
	for _, f := range done.Facts {
		if f.Type == lifecycle.KeyRevoked || f.Type == lifecycle.CertificateEnded {
			voided++
		}
	}
	return voided, err
}

// rebornOne steps one machine: its setup fails, what a row shows to nobody else is
// void, and its identity is revoked. A tombstone has nothing.
func (d *Door) rebornOne(w *work, id lifecycle.NodeID, keepKeys bool) ([]journal.Fact, error) {
	var all []journal.Fact
	for _, input := range []func(*lifecycle.Node) lifecycle.Input{
		func(n *lifecycle.Node) lifecycle.Input {
			if n.Reg.State != registration.SettingUp {
				return nil
			}
			return lifecycle.SetupReport{Epoch: n.Reg.Epoch, Why: restoredWhy}
		},
		func(n *lifecycle.Node) lifecycle.Input {
			live := []registration.State{registration.Pending, registration.Approved}
			if keepKeys && n.Reg.State == registration.Approved && n.Reg.Waiting == "" || !slices.Contains(live, n.Reg.State) {
				return nil
			}
			return lifecycle.Disable{Call: lifecycle.Call{By: restorer, Reason: restoredWhy}}
		},
		func(n *lifecycle.Node) lifecycle.Input {
			if !n.Live() {
				return nil
			}
			return lifecycle.RevokeIdentity{Call: lifecycle.Call{By: restorer, Reason: restoredWhy}}
		},
	} {
		s, err := d.Load(w, Target{Node: id})
		if err != nil {
			return nil, err
		}
		in := input(&s.Node)
		if in == nil {
			continue
		}
		told, err := d.step(w, Target{Node: id}, Just(in))
		if err != nil {
			return nil, err
		}
		all = append(all, told...)
	}
	return all, nil
}

// voidDesk ends sessions and, unless keepKeys, the API keys that operators minted.
func voidDesk(tx store.Tx, now time.Time, keepKeys bool) (int, error) {
	voided, err := end(tx, "session/", func(raw []byte) (any, bool, error) {
		s, err := operators.DecodeSession(raw)
		return s.Revoke(now), s.Revoked.IsZero(), err
	})
	if err != nil || keepKeys {
		return voided, err
	}
	more, err := end(tx, "apikey/", func(raw []byte) (any, bool, error) {
		k, err := operators.DecodeAPIKey(raw)
		return k.Revoke(now), k.Key.Revoked.IsZero(), err
	})
	return voided + more, err
}

// end rewrites the records below a prefix that are alive.
func end(tx store.Tx, prefix string, ended func(raw []byte) (record any, alive bool, err error)) (n int, err error) {
	for key, raw := range tx.Range(prefix, Beyond(prefix)) {
		record, alive, err := ended(raw)
		if err != nil {
			return n, &lifecycle.RowError{Key: key, Err: err}
		}
		if !alive {
			continue
		}
		dead, err := json.Marshal(record)
		if err != nil {
			return n, err
		}
		tx.Put(key, dead)
		n++
	}
	return n, nil
}
