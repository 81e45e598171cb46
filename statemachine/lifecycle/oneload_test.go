package lifecycle_test

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// MACH-1: a state is one machine. Rows of two are refused, in any order.
func TestLoadRefusesTwoMachines(t *testing.T) {
	other := pending(t)
	other.Node.ID, other.Node.Reg.Server = another, registration.ServerID{9, 8, 7}
	mine, theirs := browsOf(approved(t).State), browsOf(other.State)
	add := func(prefix string) map[string]string {
		rows := maps.Clone(mine)
		for key, val := range theirs {
			if strings.HasPrefix(key, prefix) {
				rows[key] = val
			}
		}
		return rows
	}
	missing, foreign := maps.Clone(mine), maps.Clone(mine)
	delete(missing, lifecycle.RowNode+string(aNode))
	row := lifecycle.RowRegistration + uuid.Key().String()
	foreign[row] = strings.ReplaceAll(mine[row], string(aNode), string(another))
	for name, rows := range map[string]map[string]string{"two nodes": add(lifecycle.RowNode), "two registration rows": add(lifecycle.RowRegistration),
		"the row's node is missing": missing, "the row is another node's": foreign} {
		for _, order := range []iter.Seq2[string, []byte]{byKey(rows), backwards(rows)} {
			_, err := lifecycle.Load(order)
			if r, ok := errors.AsType[*lifecycle.RowError](err); !ok || r.Code() != string(sm.Unavailable) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := lifecycle.Load(backwards(mine)); err != nil {
		t.Error(err)
	}
}

// backwards is byKey from the end.
func backwards(rows map[string]string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		var keys []string
		for key := range byKey(rows) {
			keys = append(keys, key)
		}
		for _, key := range slices.Backward(keys) {
			if !yield(key, []byte(rows[key])) {
				return
			}
		}
	}
}

// PROV-20: only register and factory-reset, which name its UUID, give a
// disabled row that lost its node a new one.
func TestRowWithoutNodeIsNotTaken(t *testing.T) {
	left := disabled(t)
	left.Node = lifecycle.Node{Schema: lifecycle.Schema, Reg: left.Node.Reg, Prov: lifecycle.Fresh().Prov, Sched: lifecycle.Fresh().Sched, Run: lifecycle.Fresh().Run}
	left.refused(sm.InvalidInput, lifecycle.EnrollMetal{Call: ops, NewID: another, Metal: lifecycle.Metal{BMC: "10.9.0.1", MACs: []netboot.MAC{nicA}}})
	left.refused(sm.InvalidInput, lifecycle.Listed{NewID: another, Device: "dev-1"})
	in := left.register()
	in.NewID = another
	if left.do(in).reg(registration.Pending); left.Node.ID != another {
		t.Errorf("the row went to %q", left.Node.ID)
	}
}

// BOOT-7: a list that was never read admits nobody; an empty one admits all.
func TestUnreadAllowList(t *testing.T) {
	h := newHost(t)
	h.Site.Policy.Allow = []string{nicA.String()} // by hand
	h.do(lifecycle.Sighted{MAC: nicA}).boot(nicA, netboot.Discovered)
	s, err := lifecycle.Load(lifecycle.Rows(h.State))
	if err != nil {
		t.Fatal(err)
	}
	h.State = s
	h.do(lifecycle.Sighted{MAC: nicA}, lifecycle.Sighted{MAC: nicB}).boot(nicA, netboot.Enrolling)
	h.boot(nicB, netboot.Discovered)
	empty := newHost(t)
	empty.Site.Policy = lifecycle.Policy{Network: admin.Network}
	empty.do(lifecycle.Sighted{MAC: nicA}).boot(nicA, netboot.Enrolling)
}

// REG-16: labels are the row's own once they are set.
func TestLabelsAreTheRowsOwn(t *testing.T) {
	labels := map[string]string{"rack": "1"}
	h := pending(t).do(lifecycle.Configure{Call: ops, Settings: registration.Settings{Labels: labels}})
	labels["rack"] = "2"
	if got := h.Node.Reg.Settings.Labels["rack"]; got != "1" {
		t.Errorf("the caller changed the row's label to %s", got)
	}
}
