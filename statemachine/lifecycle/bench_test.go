package lifecycle_test

import (
	"testing"
	"unsafe"

	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/provision"
)

// blife is a recorded life: each input with the state that it met.
type blife struct {
	states []lifecycle.State
	inputs []lifecycle.Input
	now    *host
}

func (l *blife) step(in lifecycle.Input) {
	l.states, l.inputs = append(l.states, l.now.State), append(l.inputs, in)
	l.now.do(in)
}

// bmember registers, is approved, works, and is cordoned and drained.
func bmember(t testing.TB) *blife {
	l := &blife{now: newHost(t)}
	h := l.now
	l.step(h.register())
	l.step(h.approve())
	l.step(lifecycle.Acknowledge{Token: h.Node.Reg.Poll.Hash})
	l.step(lifecycle.Join{Certificate: "c-1"})
	l.step(opened(1))
	l.step(h.reported(true))
	l.step(bsched("cordon"))
	l.step(bsched("drain"))
	l.step(lifecycle.Drained{World: idle})
	l.step(bsched("uncordon"))
	return l
}

// binstalled boots, is set up, joins, and is reset.
func binstalled(t testing.TB) *blife {
	l := &blife{now: newHost(t)}
	h := l.now
	l.step(lifecycle.Sighted{MAC: nicA})
	l.step(lifecycle.Sighted{MAC: nicB})
	l.step(h.announce())
	l.step(h.approveSetup())
	l.step(h.drain())
	l.step(h.ended(true))
	l.step(opened(1))
	l.step(h.reported(true))
	l.step(lifecycle.FactoryReset{Call: ops, World: idle})
	return l
}

// bmetal is enrolled, deployed and released.
func bmetal(t testing.TB) *blife {
	l := &blife{now: ready(t)}
	h := l.now
	l.step(verb(provision.Deploy))
	l.step(h.reported(true))
	l.step(verb(provision.Undeploy))
	l.step(h.wiped())
	l.step(h.reported(true))
	return l
}

// BenchmarkStep steps the inputs of typical lives, in turn; ns/op is one step.
func BenchmarkStep(b *testing.B) {
	for name, life := range map[string]func(testing.TB) *blife{"member": bmember, "installed": binstalled, "metal": bmetal} {
		b.Run(name, func(b *testing.B) {
			l := life(b)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, err := lifecycle.Step(l.states[i], l.inputs[i], dawn); err != nil {
					b.Fatal(err)
				}
				if i++; i == len(l.inputs) {
					i = 0
				}
			}
		})
	}
}

// BenchmarkRows encodes all rows of a machine and its site, and reports what
// a node takes: in memory without what it points to, and in rows.
func BenchmarkRows(b *testing.B) {
	for name, life := range map[string]func(testing.TB) *blife{"member": bmember, "installed": binstalled, "metal": bmetal} {
		b.Run(name, func(b *testing.B) {
			s := life(b).now.State
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				size = 0
				for key, val := range lifecycle.Rows(s) {
					size += len(key) + len(val)
				}
			}
			for key, val := range lifecycle.Rows(lifecycle.State{Node: lifecycle.Fresh(), Site: s.Site}) {
				size -= len(key) + len(val)
			}
			b.ReportMetric(float64(unsafe.Sizeof(s.Node)), "struct-B/node")
			b.ReportMetric(float64(size), "row-B/node")
		})
	}
}

// BenchmarkLoad reads a machine and its site back.
func BenchmarkLoad(b *testing.B) {
	rows := browsOf(binstalled(b).now.State)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := lifecycle.Load(byKey(rows)); err != nil {
			b.Fatal(err)
		}
	}
}
