package demo

import (
	"context"
	"slices"
)

// A Fault is what goes wrong in a demo on purpose, once.
type Fault string

// The faults.
const (
	NoFault       Fault = ""
	WrongDigest   Fault = "wrong-digest"    // the disk image is not what its digest says, until it is staged anew
	StopIngotd    Fault = "stop-ingotd"     // the control plane stops while machines are set up, and starts again
	StopBooterd   Fault = "stop-booterd"    // and so does the booter
	FullState     Fault = "full-state"      // the booter's state folder takes nothing for a while
	FullDisk      Fault = "full-disk"       // a machine's disk ends before its size, once
	SmallDisk     Fault = "small-disk"      // a machine's disk is another, and smaller, by the time it is written
	LostImage     Fault = "lost-image"      // the kernel that machines enroll with is gone from the booter's disk
	LostDiskImage Fault = "lost-disk-image" // and so is what is installed, once machines are approved
	TwoBooters    Fault = "two-booters"     // machines come to one booter, and then to another
	TwoOperators  Fault = "two-operators"   // two operators approve the same machine at once
	FullPool      Fault = "full-pool"       // there are more machines than addresses
	PowerCut      Fault = "power-cut"       // a machine loses its power while its disk is written
)

// Faults are all of them.
func Faults() []Fault {
	out := []Fault{NoFault}
	for _, t := range troubles() {
		out = append(out, t.fault)
	}
	return out
}

// A trouble is what is done for a fault, and when; a step that is nil is not done. All
// of them run in the operator's goroutine, but for wrote.
type trouble struct {
	fault  Fault
	before func(context.Context, *lab) error           // before the machines have power
	on     func(context.Context, *lab) error           // once they have
	waits  func(context.Context, *lab, *machine) error // each time before a machine is approved
	after  func(context.Context, *lab, *machine) error // once the first setup was approved
	// approve is how a machine is approved, in place of looking at its plan and
	// approving that.
	approve func(context.Context, *lab, *machine) error
}

func troubles() []trouble {
	return []trouble{
		{fault: WrongDigest, before: spoilDiskImage, waits: stageAnew},
		{fault: StopIngotd, after: func(ctx context.Context, l *lab, _ *machine) error {
			return l.again(ctx, &l.stopPlane, l.runPlane, "the control plane")
		}},
		{fault: StopBooterd, after: func(ctx context.Context, l *lab, _ *machine) error {
			return l.again(ctx, &l.booters[0].stop, l.booters[0].run, "the booter")
		}},
		{fault: FullState, before: takeState, after: giveState},
		{fault: FullDisk, before: fillDisk, waits: notStamped},
		{fault: SmallDisk, waits: shrinkDisk},
		{fault: LostImage, before: loseKernel, on: findKernel},
		{fault: LostDiskImage, after: loseDiskImage, waits: stageAnew, approve: approveStaged},
		{fault: TwoBooters, before: secondBooter, waits: moveOne, after: moveBack},
		{fault: TwoOperators, before: secondOperator, approve: approveTwice},
		{fault: FullPool, before: narrowPool, on: makeRoom},
		{fault: PowerCut, before: plantCut, after: powerAgain},
	}
}

// trouble is that of a fault; none does nothing.
func (f Fault) trouble() trouble {
	all := troubles()
	if i := slices.IndexFunc(all, func(t trouble) bool { return t.fault == f }); i >= 0 {
		return all[i]
	}
	return trouble{}
}

// before does what is done before the machines have power.
func (l *lab) before(ctx context.Context) error {
	l.trouble = l.opts.Fault.trouble()
	if l.trouble.before == nil {
		return nil
	}
	return l.trouble.before(ctx, l)
}

// approving is what an operator does with a machine that waits for it.
func (l *lab) approving(ctx context.Context, m *machine) error {
	if l.trouble.waits != nil {
		if err := l.trouble.waits(ctx, l, m); err != nil {
			return err
		}
	}
	approve := l.trouble.approve
	if approve == nil {
		approve = func(ctx context.Context, l *lab, m *machine) error { return l.approve(ctx, m) }
	}
	if err := approve(ctx, l, m); err != nil || l.trouble.after == nil || l.struck {
		return err
	}
	l.struck = true
	return l.trouble.after(ctx, l, m)
}

// again stops a daemon and starts it anew.
func (l *lab) again(ctx context.Context, stop *func() error, start func(context.Context) error, what string) error {
	l.say("site", "fault", what+" stops")
	if err := (*stop)(); err != nil {
		return err
	}
	return start(ctx)
}
