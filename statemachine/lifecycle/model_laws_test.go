package lifecycle_test

import (
	"errors"
	"fmt"

	"github.com/ingotmetal/ingot/statemachine/explore"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// law is a promise about one step, with the states spelled out and the step's
// own outcome before it was made tidy.
type law struct {
	name, req string
	check     func(s *last) error
}

// invariants asks every law after each step.
func (l *life) laws() []explore.Invariant[place, act] {
	var list []explore.Invariant[place, act]
	for _, w := range laws {
		list = append(list, explore.Invariant[place, act]{Name: w.name, Req: w.req, Check: func(from place, in act, _ place) error {
			return w.check(l.try(from, in))
		}})
	}
	return list
}

var laws = []law{
	{"one attempt holds the machine", "MACH-3", func(s *last) error {
		holders := 0
		n := &s.is.Node
		for _, open := range []bool{registration.Table.Open(n.Reg.At), provision.Table.Open(n.Prov.At), run.Table.Open(n.Run.At), n.Run.Retiring()} {
			if open {
				holders++
			}
		}
		return unless(holders <= 1, "%d attempts hold it", holders)
	}},
	{"an attempt has an end", "MACH-4", func(s *last) error {
		n := &s.is.Node
		_, _, due := lifecycle.Due(n)
		return unless(due || lifecycle.SlotOf(n).Holder == lifecycle.Free, "an attempt of %s never ends", lifecycle.SlotOf(n).Holder)
	}},
	{"only approve-setup leads to setting_up", "SET-1", func(s *last) error {
		moved := s.is.Node.Reg.State == registration.SettingUp && s.was.Node.Reg.State != registration.SettingUp
		_, approved := s.input.(lifecycle.ApproveSetup)
		return unless(!moved || approved, "another input did")
	}},
	{"no key outlives what it was made for", "SET-11", func(s *last) error {
		r := &s.is.Node.Reg
		live := r.Bound.ID != "" || r.Tickets[0].ID != "" || r.Waiting != ""
		return unless(!live || r.State == registration.SettingUp || r.State == registration.Approved, "a key is alive in %s", r.State)
	}},
	{"a bundle is delivered once, and only in a setup", "SET-6", func(s *last) error {
		r := &s.is.Node.Reg
		if r.Bundle != (registration.Bundle{}) && r.State != registration.SettingUp {
			return fmt.Errorf("a bundle in %s", r.State)
		}
		drain, is := s.input.(lifecycle.Drain)
		return unless(!is || !s.was.Node.Reg.Bundle.Consumed && drain.AgentKey == s.was.Node.Reg.AgentKey, "it was delivered again, or to another key")
	}},
	{"a setup completes only with its bundle delivered", "EDGE-6", func(s *last) error {
		completed := s.was.Node.Reg.State == registration.SettingUp && s.is.Node.Reg.State == registration.Approved
		return unless(!completed || s.was.Node.Reg.Bundle.Consumed, "it was never drained")
	}},
	{"a report of another attempt has no effect", "MACH-4", staleness},
	{"an enrolled record has an image and an owner", "BOOT-3", func(s *last) error {
		for _, b := range s.is.Node.NICs {
			if b.State == netboot.Enrolled && (b.Image == "" || b.Owner == netboot.Owner{}) {
				return errors.New("it has none")
			}
		}
		return nil
	}},
	{"an address is free, or one record's", "BOOT-7", addresses},
	{"a reset needs an image", "REG-18", func(s *last) error {
		reset, is := s.input.(lifecycle.FactoryReset)
		return unless(!is || len(reset.World.Staged) > 0, "the site had none")
	}},
	{"a reset machine has no key, image or plan", "REG-12", func(s *last) error {
		_, is := s.input.(lifecycle.FactoryReset)
		r := &s.is.Node.Reg
		clean := r.Bound.ID == "" && r.Image == "" && r.Plan.Approver == "" && r.ApprovedAt.IsZero()
		return unless(!is || clean, "it has")
	}},
	{"a grant is the writing attempt's", "MACH-7", grants},
	{"ready is earned by a wipe", "PROV-2", func(s *last) error {
		was, is := &s.was.Node.Prov, &s.is.Node.Prov
		ready := is.State == provision.Ready && was.State != provision.Ready
		return unless(!ready || was.Proof == evidence || was.State == provision.Releasing && was.Wipe == provision.WipeNone, "there was no evidence")
	}},
	{"a failed machine is in maintenance until a person clears it", "JOINT-7", func(s *last) error {
		failed := s.is.Node.Prov.State == provision.Failed && s.was.Node.Prov.State != provision.Failed
		return unless(!failed || s.out.Next.Node.Sched.Service == schedule.Maintenance, "it is not")
	}},
	{"a retired machine was off, and is nobody", "JOINT-6", func(s *last) error {
		n := &s.is.Node
		if n.Prov.State != provision.Retired {
			return nil
		}
		if s.was.Node.Prov.State != provision.Retired && s.was.seen != off {
			return errors.New("it was not seen off")
		}
		for _, b := range n.NICs {
			if b.Owner.Node == string(selfID) && b.State != netboot.Decommissioned {
				return errors.New("a boot record is served")
			}
		}
		return unless(len(n.Identity.Live) == 0 && n.Reg.Bound.ID == "", "it has a key or certificate")
	}},
	{"nothing is erased while somebody holds it", "PROV-13", func(s *last) error {
		v, is := s.input.(lifecycle.Verb)
		return unless(!is || v.World.Open == 0, "%s was accepted", s.input)
	}},
	{"a revoked identity never comes back by itself", "ID-2", func(s *last) error {
		_, renewed := s.input.(lifecycle.Renew)
		return unless(!renewed, "it renewed")
	}},
	{"a change has a fact, and a fact a version", "EVENT-1", func(s *last) error {
		if s.input == nil || s.is.Node.ID == "" || s.was.Node.ID == "" {
			return nil
		}
		grew := s.out.Next.Node.Version - s.was.Node.Version
		return unless(len(s.out.Facts) == 0 && grew == 0 || len(s.out.Facts) > 0 && grew == 1, "%d facts, version by %d", len(s.out.Facts), grew)
	}},
}

// unless is nil where ok holds.
func unless(ok bool, format string, a ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, a...)
}

// staleness looks at reports of epochs that are over.
func staleness(s *last) error {
	var epoch uint64
	switch in := s.input.(type) {
	case lifecycle.SetupReport:
		epoch = in.Epoch
	case lifecycle.Report:
		epoch = in.Epoch
	default:
		return nil
	}
	return unless(epoch != lateEpoch || len(s.out.Facts) == 0, "it changed the machine")
}

// addresses looks at the pool and the records before they are made tidy.
func addresses(s *last) error {
	if s.input == nil {
		return nil
	}
	next, held := &s.out.Next, 0
	for i, b := range next.Node.NICs {
		if !b.Address.IsValid() {
			continue
		}
		held++
		for _, o := range next.Node.NICs[:i] {
			if o.Address == b.Address {
				return fmt.Errorf("%s is two records'", b.Address)
			}
		}
		if _, err := next.Site.Pool.Take(b.Address); err == nil {
			return fmt.Errorf("%s is a record's, and free", b.Address)
		}
	}
	return unless(held+next.Site.Pool.Count() == 2, "%d held and %d free of 2", held, next.Site.Pool.Count())
}

// grants looks at who may write.
func grants(s *last) error {
	n := &s.is.Node
	slot := lifecycle.SlotOf(n)
	g := n.Grant
	if g.Writing == "" {
		return unless(slot.Holder != lifecycle.Setup, "a setup without a grant")
	}
	if n.Prov.AwaitOff {
		return errors.New("a grant before confirmed off")
	}
	return unless(g.Epoch == slot.Epoch && g.Approver != "" && slot.Holder != lifecycle.Free, "a grant of attempt %d, held by %+v", g.Epoch, slot)
}
