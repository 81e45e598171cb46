package crashtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// An account is what workers noted up to an instant.
type account struct {
	acked  map[uint64]op // by revision, what was acknowledged, or seen after a start
	asked  map[int]int   // by client, its newest operation
	beats  map[int]int   // by client, the newest beat that was acknowledged
	newest uint64        // of acked
	failed []string      // what was noted of operations that failed
	never  map[op]bool   // operations of which nothing happened
}

func newAccount() *account {
	return &account{acked: map[uint64]op{}, asked: map[int]int{}, beats: map[int]int{}, never: map[op]bool{}}
}

// note takes a line.
func (a *account) note(line string) error {
	var word string
	var o op
	var rev uint64
	if n, _ := fmt.Sscan(line, &word, &o.client, &o.n, &rev, &o.trim); n < 3 {
		return fmt.Errorf("a worker noted %q", line)
	}
	switch word {
	case "ask":
		a.asked[o.client] = max(o.n, a.asked[o.client])
	case "beat":
		a.beats[o.client] = max(o.n, a.beats[o.client])
	case "refused":
	case "failed":
		a.failed = append(a.failed, line)
		if strings.Contains(line, "*store.Unavailable") {
			a.never[o] = true
		}
	case "ack", "found":
		if was, ok := a.acked[rev]; ok && was != o {
			return fmt.Errorf("revision %d is %v, and was %v", rev, o, was)
		}
		a.acked[rev] = o
		a.newest = max(a.newest, rev)
	}
	return nil
}

func accountOf(lines []string) (*account, error) {
	a := newAccount()
	for _, line := range lines {
		if err := a.note(line); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// A truth is all that became of a store: the operation of each revision, and the rows
// that there are after it.
type truth struct {
	ops    []op                // by revision; the first is none
	states []map[string]string // by revision
	bases  []uint64            // by revision
	// ends are the heads that a commit ended with, by revision; nil where they are
	// not known.
	ends map[uint64]string
}

// newTruth makes the truth of what was noted and of the rows that are there.
func newTruth(a *account, rows map[uint64]op) (*truth, error) {
	all := maps.Clone(a.acked)
	for rev, o := range rows {
		if was, ok := all[rev]; ok && was != o {
			return nil, fmt.Errorf("row %d is %v, and was acknowledged as %v", rev, o, was)
		}
		all[rev] = o
	}
	t := &truth{ops: []op{{}}, states: []map[string]string{{}}, bases: []uint64{0}}
	for rev := uint64(1); rev <= uint64(len(all)); rev++ {
		o, ok := all[rev]
		if !ok {
			return nil, fmt.Errorf("nothing is known of revision %d of %d", rev, len(all))
		}
		t.add(rev, o)
	}
	return t, nil
}

func (t *truth) add(rev uint64, o op) {
	state := maps.Clone(t.states[rev-1])
	o.write(rev, func(k string, v []byte) { state[k] = string(v) }, func(k string) { delete(state, k) })
	t.ops, t.states = append(t.ops, o), append(t.states, state)
	t.bases = append(t.bases, max(t.bases[rev-1], uint64(o.trim)))
}

// The mark's two places.
const (
	markSize = 64
	markStep = 4096
)

// headOf reads a place of the mark.
func headOf(b []byte) (h journal.Head, ok bool) {
	if len(b) != markSize || string(b[:8]) != "ingotmk1" {
		return h, false
	}
	h.Revision = binary.BigEndian.Uint64(b[8:])
	copy(h.Hash[:], b[16:])
	return h, true
}

// right holds what a store shows against the truth, and against what was noted until
// it crashed.
func (t *truth) right(a *account, r store.Reader) error {
	head := r.Head()
	rev := head.Revision
	if rev >= uint64(len(t.ops)) {
		return fmt.Errorf("it ends at revision %d, and there were %d", rev, len(t.ops)-1)
	}
	if rev < a.newest {
		return &lost{rev, a.newest}
	}
	if t.ends != nil && rev > 0 && t.ends[rev] != head.String() {
		return fmt.Errorf("it ends at %s, where no commit ended (%q)", head, t.ends[rev])
	}
	return errors.Join(t.askedFor(a, rev), t.sameRows(r, rev), t.sameLog(r, rev), beats(a, r))
}

// askedFor wants what nobody was told of to be what somebody had asked for.
func (t *truth) askedFor(a *account, rev uint64) error {
	for r := uint64(1); r <= rev; r++ {
		o := t.ops[r]
		if a.asked[o.client] < o.n {
			return fmt.Errorf("%v is there, and nobody had asked for it", o)
		}
		if a.never[op{client: o.client, n: o.n}] {
			return fmt.Errorf("%v is there, and nothing of it had happened", o)
		}
	}
	return nil
}

// sameRows compares the rows, which are those of a whole revision.
func (t *truth) sameRows(r store.Reader, rev uint64) error {
	want, n := t.states[rev], 0
	for _, span := range [][2]string{{"", store.LedgerPrefix + "beat/"}, {store.LedgerPrefix + "beat0", store.LogPrefix}, {store.LogPrefix + "~", store.MetaPrefix}, {store.MetaPrefix + "~", "~"}} {
		for k, v := range r.Range(span[0], span[1]) {
			if w, ok := want[k]; !ok || w != string(v) {
				return fmt.Errorf("at revision %d, %q is %.20q, want %.20q (%t)", rev, k, v, w, ok)
			}
			n++
		}
	}
	if n != len(want) {
		return fmt.Errorf("at revision %d there are %d rows, want %d", rev, n, len(want))
	}
	return nil
}

// sameLog compares what the rows of the log tell, from base to head.
func (t *truth) sameLog(r store.Reader, rev uint64) error {
	from := t.bases[rev]
	if b := r.Base().Revision; b != from {
		return fmt.Errorf("at revision %d the log begins after %d, want %d", rev, b, from)
	}
	for row, err := range store.Rows(r, store.Rev(from)) {
		if err != nil {
			return err
		}
		from++
		o, err := opOf(row)
		if err != nil {
			return err
		}
		var keys []string
		touch := func(k string) {
			if !strings.HasPrefix(k, store.LedgerPrefix) {
				keys = append(keys, k)
			}
		}
		o.write(from, func(k string, _ []byte) { touch(k) }, touch)
		slices.Sort(keys)
		if row.Revision != from || o != t.ops[from] || !slices.Equal(row.Keys, slices.Compact(keys)) {
			return fmt.Errorf("row %d tells %v with %q, want %v with %q", row.Revision, o, row.Keys, t.ops[from], keys)
		}
	}
	if from != rev {
		return fmt.Errorf("the log has rows to %d, and its head is %d", from, rev)
	}
	return nil
}

// beats are between what was acknowledged and what was asked for.
func beats(a *account, r store.Reader) error {
	for c, asked := range a.asked {
		raw, ok := r.Get(op{client: c}.beatKey())
		n := 0
		if ok {
			if _, err := fmt.Sscan(string(raw), &n); err != nil {
				return err
			}
		}
		if n < a.beats[c] || n > asked {
			return fmt.Errorf("client %d's beat is %d; %d was acknowledged, and %d asked for", c, n, a.beats[c], asked)
		}
	}
	return nil
}
