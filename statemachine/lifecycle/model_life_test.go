package lifecycle_test

import (
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/ingotmetal/ingot/statemachine/explore"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// act is an input of a model: a name from the list of acts.
type act uint8

// do is what an act does to a place: an input of lifecycle, or a change of the
// world around it.
type do struct {
	name  string
	class explore.Class
	// input makes the lifecycle's input; nil changes only the world.
	input func(f *full) lifecycle.Input
	// world acts around the step: before it where input is nil, after it was
	// accepted where not. False means that the act cannot happen here.
	world func(f *full) bool
	// can says whether the act can happen at all; nil means always.
	can func(f *full) bool
}

// stepper is lifecycle.Step, or one with a planted fault.
type stepper func(lifecycle.State, lifecycle.Input, time.Time) (lifecycle.Outcome, error)

// life is a model of the whole life: which acts there are, and the parts of
// the places it has seen.
type life struct {
	name   string
	step   stepper
	acts   []do
	codes  bool // the model has codes, tokens and windows
	metal  bool // the model has the provision axis' verbs
	coarse bool // leaves schedule, failures' reasons and first inventories to the others
	pairs  bool // the two NICs are alike: places that differ only by exchanging them are one

	regs  parts[regKey, registration.Record]
	provs parts[provision.Record, provision.Record]
	nics  parts[netboot.Record, netboot.Record]
	rests parts[restKey, lifecycle.Node]
	sites parts[siteKey, lifecycle.Site]

	last last
}

// last remembers the newest step, which the laws look at right after it.
type last struct {
	from    place
	in      act
	was, is full
	input   lifecycle.Input
	out     lifecycle.Outcome
	err     error
	valid   bool
}

// errCannot is an act that the world does not offer here.
var errCannot = errors.New("the world offers no such thing here")

// start is the empty site with one machine that nobody has seen.
func (l *life) start() place {
	var f full
	f.Node = lifecycle.Fresh()
	f.Node.Version, f.Node.Identity.Generation = 1, 1
	f.Site.Epoch = siteEpoch
	f.Site.Policy = lifecycle.Policy{Network: network, Enrollment: imageName}
	f.Site.Pool = usable
	f.power = off
	return l.pack(&f)
}

// try takes one act from p, or finds it in memory. The newest place stays
// spelled out, since the explorer tries all its acts in a row.
func (l *life) try(p place, in act) *last {
	r := &l.last
	if r.valid && r.from == p && r.in == in {
		return r
	}
	if !r.valid || r.from != p {
		r.was = full{}
		l.unpack(p, &r.was)
	}
	r.from, r.in, r.valid, r.err, r.input = p, in, true, errCannot, nil
	a := &l.acts[in]
	if a.can != nil && !a.can(&r.was) {
		return r
	}
	if a.input == nil {
		l.turn(r, a)
		return r
	}
	r.input = a.input(&r.was)
	r.out, r.err = l.step(r.was.State, r.input, noon)
	if r.err == nil {
		r.is = full{r.out.Next, r.was.place}
		r.is.Node.NICs = slices.Clone(r.is.Node.NICs)
		if a.world != nil {
			a.world(&r.is)
		}
		l.tidy(&r.is, &r.was.State)
	}
	return r
}

// turn lets an act change the world alone.
func (l *life) turn(r *last, a *do) {
	r.is = r.was
	r.is.Node.NICs = slices.Clone(r.was.Node.NICs)
	if a.world(&r.is) {
		r.err = nil
		l.tidy(&r.is, &r.was.State)
	}
}

// Step is the model's step.
func (l *life) Step(p place, in act) (place, error) {
	r := l.try(p, in)
	if r.err != nil {
		return p, r.err
	}
	return l.fold(l.pack(&r.is)), nil
}

// fold makes one of two places that differ only by exchanging the NICs.
func (l *life) fold(p place) place {
	if l.pairs && p.nics[0] > p.nics[1] {
		p.nics[0], p.nics[1] = p.nics[1], p.nics[0]
	}
	return p
}

func (l *life) inputs(place) iter.Seq[act] {
	return func(yield func(act) bool) {
		for i := range l.acts {
			if !yield(act(i)) {
				return
			}
		}
	}
}

// model is l for the explorer.
func (l *life) model() explore.Model[place, act, place] {
	return explore.Model[place, act, place]{
		Name: l.name, Start: []place{l.start()}, Inputs: l.inputs, Step: l.Step,
		Key:        func(p place) place { return p },
		Invariants: l.laws(),
		Stable:     l.stable,
		Class:      func(in act) explore.Class { return l.acts[in].class },
		Event:      func(in act) string { return l.acts[in].name },
	}
}

// stable reports whether a machine may stay as it is: nothing holds it.
func (l *life) stable(p place) bool {
	var f full
	l.unpack(p, &f)
	return lifecycle.SlotOf(&f.Node).Holder == lifecycle.Free
}

// act finds an act by its name, for counterexamples told again.
func (l *life) act(name string) act {
	i := slices.IndexFunc(l.acts, func(d do) bool { return d.name == name })
	if i < 0 {
		panic("no act " + name)
	}
	return act(i)
}
