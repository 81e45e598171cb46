package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// A Subject is a store under test, in a place of its own that is empty at first:
// a file, a schema. The kit has one store open in it at a time. What a subject
// cannot do is nil, and the laws that need it are skipped.
type Subject struct {
	// Open opens the store on what the place holds.
	Open func(context.Context) (store.Store, error)
	// Crash opens a store on what a kill would leave now: it does not close the
	// one that is open, which may stop, and which the kit then closes. Nobody
	// uses that one meanwhile.
	Crash func(context.Context) (store.Store, error)
	// Arm has the nth commit from now meet a fault; 1 is the next. A store that
	// is opened afterwards has none. A fault may be one that leaves open whether
	// the commit happened, in place of Lost and Replyless. Refused is the nth
	// batch that begins.
	Arm func(n int, f Fault)
}

// Subject is a disk as a subject.
func (d *Disk) Subject() Subject {
	open := func(context.Context) (store.Store, error) { return d.Open(), nil }
	return Subject{Open: open, Crash: open, Arm: d.Arm}
}

// A Law is one promise of store.Store. Check opens the store as often as it needs
// to and closes it; it gives up when the context ends.
type Law struct {
	Name  string
	Needs Need
	Check func(context.Context, Subject) error
}

// A Need is what a law asks of a subject beyond Open.
type Need string

// The needs.
const (
	Crashes Need = "a subject that can crash"
	Faults  Need = "a subject that can meet faults"
)

// Missing is what the law needs and the subject cannot do; "" for nothing.
func (l Law) Missing(s Subject) Need {
	if l.Needs == Crashes && s.Crash == nil || l.Needs == Faults && s.Arm == nil {
		return l.Needs
	}
	return ""
}

// patience is how long a law may take. A healthy store needs a second or two.
const patience = time.Minute

// Run checks every law in a subtest, on a subject that open returns for it.
func Run(t *testing.T, open func(*testing.T) Subject) {
	for _, law := range Laws() {
		t.Run(law.Name, func(t *testing.T) {
			s := open(t)
			if lack := law.Missing(s); lack != "" {
				t.Skipf("the law needs %s", lack)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if err := law.Check(ctx, s); err != nil {
				t.Error(err)
			}
		})
	}
}

// Laws are all promises, in the order of the package's documentation.
func Laws() []Law {
	return slices.Concat(rowLaws(), refusalLaws(), logLaws(), viewLaws(), isolationLaws(), endLaws(), keepingLaws(), faultLaws())
}
