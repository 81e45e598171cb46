package server_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// mutation is one operation that a person calls to change something: a site in
// which it changes something, and the call.
type mutation struct {
	op   api.Any
	on   func(*site) mutating
	free bool // it names no record that has a version
}

// mutating is one such call.
type mutating struct {
	in    any // a pointer to the input
	by    *api.Client
	other func()        // makes it another call
	is    func() uint64 // the version of what it changes
}

// change is the part of an input that all of them have.
func change(in any) *api.Change {
	return reflect.ValueOf(in).Elem().FieldByName("Change").Addr().Interface().(*api.Change)
}

func (m mutating) with(c api.Change) mutating { *change(m.in) = c; return m }

// answer is what all of them answer, and the whole of it.
type answer struct {
	api.Outcome
	Secret string `json:"secret"`
	URI    string `json:"uri"`
	raw    string
}

func (s *site) send(op api.Any, m mutating) (answer, error) {
	raw, err := m.by.Do(s.t.Context(), op, m.in)
	if err != nil {
		return answer{}, err
	}
	var a answer
	must(s.t, json.Unmarshal(raw, &a))
	a.raw = string(raw)
	return a, nil
}

func rowMutation(op api.Any, on func(*site) (*machine, any, func())) mutation {
	return mutation{op: op, on: func(s *site) mutating {
		m, in, other := on(s)
		return mutating{in, s.ada, other, func() uint64 { return m.row().Version }}
	}}
}

func rowMutations() []mutation {
	approved := func(s *site) *machine { m := s.machine(1); m.installed(); return m }
	plain := func(op api.Any, from func(*site) *machine) mutation {
		return rowMutation(op, func(s *site) (*machine, any, func()) {
			m := from(s)
			in := m.change()
			return m, in, func() { in.Server = uuidOf(9) }
		})
	}
	return []mutation{
		rowMutation(api.RegistrationApprove, func(s *site) (*machine, any, func()) {
			m := s.machine(1)
			out, _ := m.registers()
			in := approving(out.Code)
			return m, in, func() { in.Body.Code = "AAA-AAA" }
		}),
		rowMutation(api.RegistrationApproveSetup, func(s *site) (*machine, any, func()) {
			m := s.machine(1)
			m.sighted()
			m.announces()
			in := m.approving(m.planned())
			return m, in, func() { in.Body.Hostname = "another" }
		}),
		plain(api.RegistrationDisable, approved), plain(api.RegistrationFactoryReset, approved),
		plain(api.RegistrationDelete, func(s *site) *machine { m := s.machine(1); m.announces(); return m }),
		rowMutation(api.RegistrationLabel, func(s *site) (*machine, any, func()) {
			m := approved(s)
			in := &api.SetLabels{RegistrationChange: *m.change()}
			in.Body.Set = map[string]string{"a": "b"}
			return m, in, func() { in.Body.Set = map[string]string{"a": "c"} }
		}),
		rowMutation(api.RegistrationReservoir, func(s *site) (*machine, any, func()) {
			m := approved(s)
			in := &api.SetReservoir{RegistrationChange: *m.change()}
			in.Body.Bytes = 7
			return m, in, func() { in.Body.Bytes = 8 }
		}),
		rowMutation(api.RegistrationRootPassword, func(s *site) (*machine, any, func()) {
			m := approved(s)
			in := &api.SetRootPassword{RegistrationChange: *m.change()}
			in.Body.Hash = "$6$a$b"
			return m, in, func() { in.Body.Hash = "$6$a$c" }
		}),
	}
}

func bootMutations() []mutation {
	boot := func(op api.Any, before ...api.Op[api.BootChange, api.BootChanged]) mutation {
		return mutation{op: op, on: func(s *site) mutating {
			in := &api.BootChange{BootRef: api.BootRef{MAC: macOf(5)}}
			for _, b := range before {
				ask(s, b, s.ada, in)
			}
			return mutating{in, s.ada, func() { in.MAC = macOf(6) }, func() uint64 { return ask(s, api.BootShow, s.ada, &in.BootRef).Version }}
		}}
	}
	reactivated := []api.Op[api.BootChange, api.BootChanged]{api.BootEnroll, api.BootDecommission, api.BootReactivate}
	return []mutation{
		boot(api.BootEnroll, reactivated...), boot(api.BootDecommission, api.BootEnroll),
		boot(api.BootReactivate, api.BootEnroll, api.BootDecommission), boot(api.BootPurge, api.BootEnroll, api.BootDecommission),
		{op: api.BootMode, on: func(s *site) mutating {
			in := &api.SetMode{BootChange: api.BootChange{BootRef: api.BootRef{MAC: macOf(5)}}}
			ask(s, api.BootEnroll, s.ada, &in.BootChange)
			in.Body.Mode = "rescue"
			return mutating{in, s.ada, func() { in.Body.Mode = "normal" }, func() uint64 { return ask(s, api.BootShow, s.ada, &in.BootRef).Version }}
		}},
	}
}

func siteMutations() []mutation {
	window := func(op api.Any) mutation {
		return mutation{op: op, free: true, on: func(s *site) mutating {
			in := &api.OpenWindow{}
			in.Body.Ends = time.Now().Add(time.Hour).Round(time.Second)
			return mutating{in: in, by: s.ada, other: func() { in.Body.Slots = 2 }}
		}}
	}
	closing := func(op api.Any, open api.Op[api.OpenWindow, api.WindowChanged]) mutation {
		return mutation{op: op, free: true, on: func(s *site) mutating {
			in := &api.OpenWindow{}
			in.Body.Ends = time.Now().Add(time.Hour)
			ask(s, open, s.ada, in)
			end := &api.CloseWindow{}
			return mutating{in: end, by: s.ada, other: func() { end.Reason = "another" }}
		}}
	}
	return []mutation{
		{op: api.PolicySet, on: func(s *site) mutating {
			in := &api.SetPolicy{Body: ask(s, api.PolicyShow, s.ada, &api.Empty{}).Policy}
			in.Body.RescueImage = "help"
			return mutating{in, s.ada, func() { in.Body.RescueImage = "help2" }, func() uint64 { return ask(s, api.PolicyShow, s.ada, &api.Empty{}).Version }}
		}},
		window(api.AutoApproveOpen), window(api.EnrollWindowOpen),
		closing(api.AutoApproveClose, api.AutoApproveOpen), closing(api.EnrollWindowClose, api.EnrollWindowOpen),
	}
}

func nodeMutations() []mutation {
	node := func(op api.Any, before ...api.Op[api.NodeChange, api.NodeChanged]) mutation {
		return mutation{op: op, on: func(s *site) mutating {
			in := &api.NodeChange{NodeRef: api.NodeRef{Node: s.joined()}}
			for _, b := range before {
				ask(s, b, s.ada, in)
			}
			return mutating{in, s.ada, func() { in.Node = "node_00000000000000000000000099" }, func() uint64 { return ask(s, api.NodeShow, s.ada, &in.NodeRef).Version }}
		}}
	}
	return []mutation{
		node(api.NodeDelete), node(api.NodeCordon), node(api.NodeUncordon, api.NodeCordon),
		{op: api.NodeMaintenance, on: func(s *site) mutating {
			in := &api.Maintain{NodeChange: api.NodeChange{NodeRef: api.NodeRef{Node: s.joined()}}}
			in.Body.On = true
			return mutating{in, s.ada, func() { in.Body.On = false }, func() uint64 { return ask(s, api.NodeShow, s.ada, &in.NodeRef).Version }}
		}},
	}
}

func accessMutations() []mutation {
	one := func() uint64 { return 1 }
	return []mutation{
		{op: api.KeyMint, free: true, on: func(s *site) mutating {
			in := &api.MintKey{}
			in.Body.Scope = "full"
			return mutating{in: in, by: s.ada, other: func() { in.Body.Scope = "read_only" }}
		}},
		{op: api.KeyRevoke, on: func(s *site) mutating {
			in := &api.RevokeKey{KeyRef: api.KeyRef{Key: ask(s, api.SessionShow, s.mint("full"), &api.Empty{}).Key.ID}}
			return mutating{in, s.ada, func() { in.Key = "key_none" }, one}
		}},
		{op: api.SessionClose, on: func(s *site) mutating {
			in := &api.CloseSession{Session: ask(s, api.SessionShow, s.signIn("ada", password), &api.Empty{}).Session.ID}
			return mutating{in, s.ada, func() { in.Session = "other" }, one}
		}},
		{op: api.OperatorAdd, free: true, on: func(s *site) mutating {
			in := &api.AddOperator{}
			in.Body.Name, in.Body.Password = "zoe", password
			return mutating{in: in, by: s.host, other: func() { in.Body.Name = "zoe2" }}
		}},
		operatorMutation(api.OperatorPassword, func(ref api.OperatorChange) (any, func()) {
			in := &api.SetOperatorPassword{OperatorChange: ref}
			in.Body.Password = password
			return in, func() { in.Body.Password = "yet another password" }
		}),
		operatorMutation(api.OperatorTOTP, func(ref api.OperatorChange) (any, func()) {
			in := &api.EnrolTOTP{OperatorChange: ref}
			return in, func() { in.Body.Drop = true }
		}),
		operatorMutation(api.OperatorDisable, func(ref api.OperatorChange) (any, func()) {
			return &ref, func() { ref.Operator = "ada" }
		}),
		operatorMutation(api.OperatorRemove, func(ref api.OperatorChange) (any, func()) {
			return &ref, func() { ref.Operator = "ada" }
		}),
	}
}

func operatorMutation(op api.Any, in func(api.OperatorChange) (any, func())) mutation {
	return mutation{op: op, on: func(s *site) mutating {
		s.add("bob")
		ref := api.OperatorChange{OperatorRef: api.OperatorRef{Operator: "bob"}}
		given, other := in(ref)
		return mutating{given, s.host, other, func() uint64 { return ask(s, api.OperatorShow, s.ada, &ref.OperatorRef).Version }}
	}}
}

func mutations() []mutation {
	return slices.Concat(rowMutations(), bootMutations(), siteMutations(), nodeMutations(), metalMutations(), accessMutations())
}

// Every mutation that a person calls is in the tests below.
func TestEveryMutationIsTried(t *testing.T) {
	tried := map[string]bool{}
	for _, m := range mutations() {
		tried[m.op.Info().Name] = true
	}
	for _, a := range api.All() {
		if _, personal := a.In().FieldByName("Change"); personal != tried[a.Info().Name] {
			t.Errorf("%s: a person's change is %t, tried is %t", a.Info().Name, personal, tried[a.Info().Name])
		}
	}
}

func eachMutation(t *testing.T, try func(t *testing.T, s *site, m mutation, call mutating)) {
	for _, m := range mutations() {
		t.Run(m.op.Info().Name, func(t *testing.T) {
			s := newSite(t)
			s.policy()
			try(t, s, m, m.on(s))
		})
	}
}

// A dry run leaves the store as it is, to the byte, and says what the call does that
// follows it.
func TestDryRunOfEveryMutation(t *testing.T) {
	eachMutation(t, func(t *testing.T, s *site, m mutation, call mutating) {
		before := s.rows()
		dry, err := s.send(m.op, call.with(api.Change{DryRun: true, Reason: "why not"}))
		must(t, err)
		if changed := differ(before, s.rows()); len(changed) > 0 {
			t.Errorf("it wrote %v", changed)
		}
		real, err := s.send(m.op, call.with(api.Change{Reason: "why not"}))
		must(t, err)
		if !dry.Dry || real.Dry || len(real.Facts) == 0 || !slices.Equal(dry.Facts, real.Facts) || !reflect.DeepEqual(dry.Moves, real.Moves) {
			t.Errorf("it said %+v, and did %+v", dry.Outcome, real.Outcome)
		}
		if dry.Secret != "" || dry.URI != "" {
			t.Errorf("a dry run gives a secret: %s", dry.raw)
		}
		if a, b := kinds(dry.Rows), kinds(real.Rows); !slices.Equal(a, b) {
			t.Errorf("it would write %v, and wrote %v", a, b)
		}
	})
}

// kinds are rows without the names that are drawn.
func kinds(rows []api.Row) []string {
	var all []string
	for _, r := range rows {
		key, _, _ := strings.Cut(r.Key, "/")
		all = append(all, key+" "+r.Change)
	}
	slices.Sort(all)
	return all
}

// API-1: a stale version is a conflict and changes nothing; the right one passes; and
// the event carries the reason.
func TestVersionAndReasonOfEveryMutation(t *testing.T) {
	eachMutation(t, func(t *testing.T, s *site, m mutation, call mutating) {
		before := s.rows()
		if _, err := s.send(m.op, call.with(api.Change{Version: 999_999})); codeOf(err) != "CONFLICT" {
			t.Errorf("a stale version: %v", err)
		}
		if changed := differ(before, s.rows()); len(changed) > 0 {
			t.Errorf("it wrote %v", changed)
		}
		c := api.Change{Reason: "because of the fan"}
		if !m.free {
			c.Version = call.is()
		}
		done, err := s.send(m.op, call.with(c))
		must(t, err)
		if c.Version == 0 && !m.free {
			t.Error("the record has no version")
		}
		if !strings.Contains(s.logRow(done.Revision), "because of the fan") {
			t.Errorf("the row does not tell the reason: %s", s.logRow(done.Revision))
		}
	})
}

func (s *site) logRow(rev uint64) string { return s.rows()[store.LogKey(store.Rev(rev))] }

// One key, one effect: the same call again answers what the first did, without its
// secret; another call with the key is a conflict.
func TestIdempotencyKeyOfEveryMutation(t *testing.T) {
	eachMutation(t, func(t *testing.T, s *site, m mutation, call mutating) {
		first, err := s.send(m.op, call.with(api.Change{IdempotencyKey: "k-1", Reason: "why not"}))
		must(t, err)
		before := s.rows()
		again, err := s.send(m.op, call)
		must(t, err)
		if !again.Replayed || first.Replayed || again.Revision != first.Revision || !slices.Equal(again.Facts, first.Facts) {
			t.Errorf("first %+v, again %+v", first.Outcome, again.Outcome)
		}
		if again.Secret != "" || again.URI != "" {
			t.Errorf("the secret is given again: %s", again.raw)
		}
		call.other()
		if _, err := s.send(m.op, call); codeOf(err) != "CONFLICT" {
			t.Errorf("another call with the key: %v", err)
		}
		if changed := differ(before, s.rows()); len(changed) > 0 {
			t.Errorf("it wrote %v", changed)
		}
	})
}
