package control

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// The ledgers of what a site agent saw and did. None is a change of a machine
// (MACH-9).
const (
	powerLedger  = "metal/power/"  // by node: what its BMC last said of the power
	sendLedger   = "metal/send/"   // by node and command: what must not be sent twice
	pxeLedger    = "metal/pxe/"    // by node: a boot override to PXE that we set
	cycledLedger = "metal/cycled/" // by node: when it was last cycled into PXE
	offLedger    = "metal/off/"    // by node: when it was last proved off, and for which attempt
	waitLedger   = "metal/wait/"   // by node: since when it is to be off, for which attempt, and what of that is in the log
)

// PowerSeen is what a BMC said of its machine's power.
type PowerSeen struct {
	State string // "unknown" where it did not say
	At    time.Time
	Error string // why it did not
}

// SawPower overwrites what BMCs said.
func (d *Door) SawPower(ctx context.Context, all map[lifecycle.NodeID]PowerSeen) error {
	_, err := d.store.Update(ctx, func(tx store.Tx) error {
		for id, p := range all {
			if err := putLedger(tx, powerLedger+string(id), p); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// PowerOf is what a node's BMC last said; false where it never did.
func PowerOf(r store.Reader, id lifecycle.NodeID) (p PowerSeen, ok bool) {
	return p, getLedger(r, powerLedger+string(id), &p)
}

func putLedger(tx store.Tx, key string, v any) error {
	raw, err := json.Marshal(v)
	if err == nil {
		tx.Put(store.LedgerPrefix+key, raw)
	}
	return err
}

func getLedger(r store.Reader, key string, into any) bool {
	raw, ok := r.Get(store.LedgerPrefix + key)
	return ok && json.Unmarshal(raw, into) == nil
}

// A Sending is a command that must not be sent twice, from before it is sent until
// its end is known (BMC-3).
type Sending struct {
	ID, Verb, Action string
	At               time.Time
	Result           string // how it ended; empty: nobody knows yet
}

// sendKey has a digest of the ID, which may hold anything.
func sendKey(node lifecycle.NodeID, id string) string {
	sum := sha256.Sum256([]byte(id))
	return sendLedger + string(node) + "/" + hex.EncodeToString(sum[:16])
}

// SendBegins keeps s before it is sent. One that is kept already is a CONFLICT.
func (d *Door) SendBegins(ctx context.Context, node lifecycle.NodeID, s Sending) error {
	_, err := d.store.Update(ctx, func(tx store.Tx) error {
		if _, there := tx.Get(store.LedgerPrefix + sendKey(node, s.ID)); there {
			return conflict("the command was begun before", "look at the machine, and ask by another request ID")
		}
		return putLedger(tx, sendKey(node, s.ID), s)
	})
	return err
}

// SendEnds keeps how it ended.
func (d *Door) SendEnds(ctx context.Context, node lifecycle.NodeID, id, result string) error {
	_, err := d.store.Update(ctx, func(tx store.Tx) error {
		var s Sending
		if !getLedger(tx, sendKey(node, id), &s) {
			return nil // its end is in the node already
		}
		s.Result = result
		return putLedger(tx, sendKey(node, id), s)
	})
	return err
}

// Sent is what is kept of a command; the zero Sending where it was never begun.
func (d *Door) Sent(ctx context.Context, node lifecycle.NodeID, id string) (s Sending, err error) {
	err = d.store.View(ctx, func(r store.Reader) error {
		s = Sending{}
		getLedger(r, sendKey(node, id), &s)
		return nil
	})
	return s, err
}

// SendDone forgets a command whose end goes into the node.
func SendDone(l *Look, node lifecycle.NodeID, id string) { l.Forget(sendKey(node, id)) }

// pxe is a boot override that makes the next start a network boot.
type pxe struct {
	Once bool
}

// BootsPXE notes that a node's boot override is PXE, or is no more.
func BootsPXE(tx store.Tx, node lifecycle.NodeID, is, once bool) error {
	if !is {
		tx.Delete(store.LedgerPrefix + pxeLedger + string(node))
		return nil
	}
	return putLedger(tx, pxeLedger+string(node), pxe{once})
}

// starts are the power verbs after which a machine has booted.
func starts() []string { return []string{"on", "cycle", "reset", "graceful-restart"} }

// Cycles notes that a verb started a machine, where that was into PXE (BOOT-11). At is
// when it was sent: the machine may be seen before the verb has ended.
func Cycles(l *Look, node lifecycle.NodeID, verb string, at time.Time) {
	var p pxe
	if !slices.Contains(starts(), verb) || !getLedger(l, pxeLedger+string(node), &p) {
		return
	}
	if p.Once {
		l.Forget(pxeLedger + string(node))
	}
	if raw, err := at.UTC().Round(0).MarshalText(); err == nil {
		l.Note(cycledLedger+string(node), raw)
	}
}

// CycledAt is when a node was last cycled into PXE; zero: never.
func CycledAt(r store.Reader, node lifecycle.NodeID) time.Time {
	raw, _ := r.Get(store.LedgerPrefix + cycledLedger + string(node))
	return parseTime(raw)
}

// proof is when a machine was proved off, and for which attempt.
type proof struct {
	Epoch uint64
	At    time.Time
}

// proofLife is how long a proof of off may be believed: who wants one later asks for
// another.
const proofLife = time.Minute

// ProvedOff notes a proof.
func ProvedOff(l *Look, node lifecycle.NodeID, epoch uint64) {
	if raw, err := json.Marshal(proof{epoch, l.Now.UTC().Round(0)}); err == nil {
		l.Note(offLedger+string(node), raw)
	}
}

// IsOff reports whether a machine was proved off just now, for the attempt that
// holds it.
func IsOff(r store.Reader, n *lifecycle.Node, now time.Time) bool {
	var p proof
	slot := lifecycle.HeldBy(n)
	return slot.Holder != lifecycle.Free && getLedger(r, offLedger+string(n.ID), &p) && p.Epoch == slot.Epoch && now.Sub(p.At) < proofLife
}

// The facts of a machine that is to be off and is not.
const (
	OffAwaited = "node.power.off-awaited"
	OffOverdue = "node.power.off-overdue" // whatever it ran may run on
)

// offWait is a wait for off.
type offWait struct {
	Epoch uint64
	Since time.Time
	Told  []run.Alarm
}

// AwaitsOff tells the log that a machine which an attempt wants off since a time is not,
// and why: once, and once more when that is a danger (RUN-5, RUN-6). It returns since
// when the attempt has wanted that: another life of the agent may have begun earlier.
func (d *Door) AwaitsOff(ctx context.Context, actor string, node lifecycle.NodeID, epoch uint64, since time.Time, why string) (time.Time, error) {
	began := since
	_, err := d.Record(ctx, Call{Actor: actor}, func(tx store.Tx, now time.Time) ([]journal.Fact, error) {
		var w offWait
		if !getLedger(tx, waitLedger+string(node), &w) || w.Epoch != epoch {
			w = offWait{Epoch: epoch, Since: since.UTC().Round(0)}
		}
		began = w.Since
		alarm := run.OffAlarm(now.Sub(w.Since))
		if slices.Contains(w.Told, alarm) {
			return nil, nil
		}
		w.Told = append(w.Told, alarm)
		body, err := json.Marshal(Body{Why: why})
		if err != nil {
			return nil, err
		}
		f := journal.Fact{Type: OffAwaited, Subject: string(node), Body: string(body)}
		if alarm == run.OffOverlong {
			f.Type = OffOverdue
		}
		return []journal.Fact{f}, putLedger(tx, waitLedger+string(node), w)
	})
	return began, err
}
