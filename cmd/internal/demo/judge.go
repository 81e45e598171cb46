package demo

import (
	"context"
	"fmt"
	"os"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/disklayout/probe"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// A Broken reports a promise that the end of a demo does not keep.
type Broken struct{ Why string }

// Error says which.
func (e *Broken) Error() string { return "the demo did not end well: " + e.Why }

// Code is the error's wire name (API-3).
func (*Broken) Code() string { return "CONFLICT" }

// judge looks at what is left when all machines are gone.
func (l *lab) judge(ctx context.Context) error {
	if err := l.eachOnce(); err != nil {
		return err
	}
	if err := l.noLiveKey(ctx); err != nil {
		return err
	}
	l.say("site", "checked", "no machine has a live key")
	head, rows, err := l.chain(ctx)
	if err != nil {
		return err
	}
	l.say("site", "checked", fmt.Sprintf("the log's chain of %d rows verifies up to %s", rows, head))
	return nil
}

// lowestAddresses holds what was given out against BOOT-7: the lowest of the network,
// each once.
func (l *lab) lowestAddresses(ctx context.Context, n int) error {
	given := map[string]string{}
	for in := (api.BootList{}); ; {
		got, err := api.BootListing.Call(ctx, l.operator, &in)
		if err != nil {
			return err
		}
		for _, b := range got.Boots {
			if b.Address == "" {
				continue
			}
			if by, twice := given[b.Address]; twice {
				return &Broken{b.Address + " is given to " + by + " and to " + b.MAC}
			}
			given[b.Address] = b.MAC
		}
		if in.Cursor = got.NextCursor; in.Cursor == "" {
			break
		}
	}
	at := booth
	if len(given) != n {
		return &Broken{fmt.Sprintf("%d addresses are given, want %d", len(given), n)}
	}
	for range n {
		if at = at.Next(); given[at.String()] == "" {
			return &Broken{"the address " + at.String() + " is free, and higher ones are given"}
		}
	}
	l.say("site", "checked", fmt.Sprintf("%d addresses are given, each once, the lowest: %s to %s", len(given), booth.Next(), at))
	return nil
}

// noLiveKey looks at every key: of a machine none may live.
func (l *lab) noLiveKey(ctx context.Context) error {
	in := api.KeyList{}
	for {
		got, err := api.KeyListing.Call(ctx, l.operator, &in)
		if err != nil {
			return err
		}
		for _, k := range got.Keys {
			if k.Scope == "agent" && k.Revoked.IsZero() {
				return &Broken{"the key " + k.ID + " of " + k.Node + " lives"}
			}
		}
		if got.NextCursor == "" {
			return nil
		}
		in.Cursor = got.NextCursor
	}
}

// chain verifies the whole log, as ingot audit verify does.
func (l *lab) chain(ctx context.Context) (journal.Head, int, error) {
	body, err := api.AuditRowsRead.Open(ctx, l.operator, &api.AuditRows{})
	if err != nil {
		return journal.Head{}, 0, err
	}
	defer body.Close()
	s, err := journal.ReadStream(body)
	if err != nil {
		return journal.Head{}, 0, err
	}
	n := 0
	counted := func(yield func(journal.Row, error) bool) {
		for row, err := range s.Rows() {
			n++
			if !yield(row, err) {
				return
			}
		}
	}
	head, err := journal.Verify(s.From, counted)
	return head, n, err
}

// disksAsPlanned reads every disk again: the mark of its machine and the partitions.
func (l *lab) disksAsPlanned() error {
	for _, m := range l.machines {
		if err := m.asPlanned(); err != nil {
			return &Broken{m.name() + ": " + err.Error()}
		}
	}
	l.say("site", "checked", "the disks read back as planned")
	return nil
}

// look reads a machine's disk as a stranger would.
func (m *machine) look() (probe.Found, error) {
	f, err := os.Open(m.disk.Path)
	if err != nil {
		return probe.Found{}, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return probe.Found{}, err
	}
	return probe.Look(f, fi.Size(), m.disk.Disk.LogicalSector)
}

// eachOnce looks at what agents began: an epoch's setup is begun once.
func (l *lab) eachOnce() error {
	for _, m := range l.machines {
		m.mu.Lock()
		for epoch, n := range m.began {
			if n > 1 {
				m.mu.Unlock()
				return &Broken{fmt.Sprintf("%s began the setup of epoch %d %d times", m.name(), epoch, n)}
			}
		}
		m.mu.Unlock()
	}
	return nil
}

// asPlanned holds the disk against the plan that was approved: its mark says whose it
// is and that it is done, and its table has the partitions and no others.
func (m *machine) asPlanned() error {
	found, err := m.look()
	if err != nil {
		return err
	}
	m.mu.Lock()
	plan := m.plan
	m.mu.Unlock()
	mark := found.Mark
	if mark == nil || !mark.Done || mark.Stamp.Server != plan.Server || mark.Plan != plan.Digest {
		return fmt.Errorf("its mark is %+v", mark)
	}
	if len(found.Partitions) != len(plan.Table.Parts) {
		return fmt.Errorf("it has %d partitions, planned were %d", len(found.Partitions), len(plan.Table.Parts))
	}
	for i, p := range plan.Table.Parts {
		if got := found.Partitions[i]; got.Start != p.Start || got.Size != p.Size || got.UUID != p.UUID.String() || got.Label != p.Name {
			return fmt.Errorf("its partition %d is %+v, planned was %+v", p.Number, got, p)
		}
	}
	return nil
}
