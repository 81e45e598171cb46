package placement_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/ingotmetal/ingot/placement"
	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
)

// hard keeps the taints that bar new work, as the scheduler's filter does.
func hard(t *v1.Taint) bool {
	return t.Effect == v1.TaintEffectNoSchedule || t.Effect == v1.TaintEffectNoExecute
}

// judged appends the slots that the predicate lets t into, node by node.
func (f *fleet) judged(dst []int32, t placement.Tenant, p placement.Policy) []int32 {
	for i := range f.nodes {
		if placement.Judge(f.nodes[i], t, p).Placeable() {
			dst = append(dst, int32(i))
		}
	}
	return dst
}

// matched appends the slots whose taints are all tolerated. A nil filter is
// the peer at its fastest: it then looks at the taints in place.
func (f *fleet) matched(dst []int32, list []v1.Toleration, filter func(*v1.Taint) bool) []int32 {
	logger := klog.Background()
	for i, n := range f.peers {
		if _, untolerated := corev1.FindMatchingUntoleratedTaint(logger, n.Spec.Taints, list, filter, false); !untolerated {
			dst = append(dst, int32(i))
		}
	}
	return dst
}

// TestSameVerdicts demands that all sides let every tenant into the same nodes,
// since a comparison of speed is worth nothing otherwise.
func TestSameVerdicts(t *testing.T) {
	for name, f := range map[string]*fleet{"mixed": mixed(), "full": full()} {
		for _, tenant := range []placement.Tenant{"tenant-00", "tenant-49", "other", "stranger"} {
			for _, p := range []placement.Policy{placement.EveryReason, placement.DedicationsOnly} {
				want := f.matched(nil, tolerations(tenant, p), hard)
				if len(want) == 0 || len(want) == size {
					t.Errorf("%s, %s: %d of %d fit: nothing to compare", name, tenant, len(want), size)
				}
				for side, got := range map[string][]int32{
					"unfiltered": f.matched(nil, tolerations(tenant, p), nil),
					"predicate":  f.judged(nil, tenant, p),
					"index":      f.index.Append(nil, tenant, p),
				} {
					if !slices.Equal(got, want) {
						t.Errorf("%s, %s, policy %d: %s lets %d in, the peer %d", name, tenant, p, side, len(got), len(want))
					}
				}
			}
		}
	}
}

// BenchmarkFilter lists the nodes of a mixed fleet that fit one tenant.
func BenchmarkFilter(b *testing.B) {
	const tenant, policy = "tenant-07", placement.EveryReason
	f, list := mixed(), tolerations(tenant, policy)
	dst := make([]int32, 0, size)
	b.Run("ingot", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst = f.index.Append(dst[:0], tenant, policy)
		}
	})
	b.Run("ingot-predicate", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst = f.judged(dst[:0], tenant, policy)
		}
	})
	b.Run("k8s", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst = f.matched(dst[:0], list, hard)
		}
	})
	b.Run("k8s-nofilter", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst = f.matched(dst[:0], list, nil)
		}
	})
}

// BenchmarkCount counts the nodes that fit one tenant.
func BenchmarkCount(b *testing.B) {
	const tenant, policy = "tenant-07", placement.EveryReason
	f, list := mixed(), tolerations(tenant, policy)
	var n int
	b.Run("ingot", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n = f.index.Count(tenant, policy)
		}
	})
	b.Run("k8s", func(b *testing.B) {
		b.ReportAllocs()
		logger := klog.Background()
		for b.Loop() {
			n = 0
			for _, peer := range f.peers {
				if _, untolerated := corev1.FindMatchingUntoleratedTaint(logger, peer.Spec.Taints, list, hard, false); !untolerated {
					n++
				}
			}
		}
	})
	if n != f.index.Count(tenant, policy) {
		b.Fatal("the sides differ")
	}
}

// BenchmarkFirstFit finds the one node that fits, the last of the fleet.
func BenchmarkFirstFit(b *testing.B) {
	const tenant, policy = "tenant-07", placement.EveryReason
	f, list := full(), tolerations(tenant, policy)
	at := -1
	b.Run("ingot", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for at = range f.index.All(tenant, policy) {
				break
			}
		}
	})
	b.Run("k8s", func(b *testing.B) {
		b.ReportAllocs()
		logger := klog.Background()
		for b.Loop() {
			at = slices.IndexFunc(f.peers, func(n *v1.Node) bool {
				_, untolerated := corev1.FindMatchingUntoleratedTaint(logger, n.Spec.Taints, list, hard, false)
				return !untolerated
			})
		}
	})
	if at != size-1 {
		b.Fatalf("found %d", at)
	}
}

// BenchmarkIndexSet changes one node of a mixed fleet.
func BenchmarkIndexSet(b *testing.B) {
	f := mixed()
	b.Run("ingot", func(b *testing.B) {
		b.ReportAllocs()
		slot := 0
		for b.Loop() {
			if err := f.index.Set(slot, f.nodes[(slot+1)%size]); err != nil {
				b.Fatal(err)
			}
			slot = (slot + 7919) % size
		}
	})
}

// BenchmarkIndexBuild builds the index of a mixed fleet, and reports the heap
// that it holds, in bytes a node.
func BenchmarkIndexBuild(b *testing.B) {
	f := mixed()
	b.Run("ingot", func(b *testing.B) {
		b.ReportAllocs()
		var x *placement.Index
		before := heap()
		for b.Loop() {
			x = new(placement.Index)
			for slot, n := range f.nodes {
				if err := x.Set(slot, n); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(heap()-before)/size, "heap-B/node")
		runtime.KeepAlive(x)
	})
}

// heap is the live heap in bytes.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
