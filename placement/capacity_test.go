package placement_test

import (
	"testing"

	"github.com/ingotmetal/ingot/placement"
	"github.com/ingotmetal/ingot/placement/placementtest"
	"pgregory.net/rapid"
)

func devices() *rapid.Generator[placement.Device] {
	return rapid.Custom(func(t *rapid.T) placement.Device {
		return placement.Device{
			Node:      placementtest.Nodes().Draw(t, "node"),
			Holds:     rapid.SampledFrom([]placement.Causes{0, 0, 0, placement.Missing, placement.Unbookable, 1 << 15}).Draw(t, "holds"),
			Allocated: rapid.Bool().Draw(t, "allocated"),
		}
	})
}

func TestBucketByHand(t *testing.T) {
	const every = ^placement.Causes(0)
	for _, c := range []struct {
		name string
		in   placement.Device
		want string
	}{
		{"a new device", placement.Device{}, "free"},
		{"booked", placement.Device{Allocated: true}, "allocated"},
		{"cordoned and booked", placement.Device{Node: placement.Node{Holds: placement.Cordoned}, Allocated: true}, "cordoned"},
		{"draining, so cordoned", placement.Device{Node: placement.Node{Holds: placement.Cordoned, Others: true}}, "unhealthy"},
		{"dedicated (P31)", placement.Device{Node: placement.Node{Dedications: 1, Tenant: "acme"}}, "unhealthy"},
		{"contested", placement.Device{Node: placement.Node{Dedications: 2}}, "unhealthy"},
		{"disabled", placement.Device{Node: placement.Node{Holds: placement.Disabled}}, "unhealthy"},
		{"quarantined", placement.Device{Node: placement.Node{Holds: placement.Quarantined | placement.Cordoned}}, "unhealthy"},
		{"failed (P32)", placement.Device{Node: placement.Node{Holds: placement.Maintenance | placement.Unprovisioned, Others: true}}, "maintenance"},
		{"of a deleted node", placement.Device{Node: placement.Node{Holds: placement.Tombstoned | placement.Maintenance}}, "unbookable"},
		{"gone from inventory", placement.Device{Holds: placement.Missing, Allocated: true}, "unbookable"},
		{"everything", placement.Device{Holds: every, Node: placement.Node{Holds: every, Others: true, Dedications: 2}, Allocated: true}, "unbookable"},
	} {
		if got := c.in.Bucket().String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if got := placement.Bucket(placement.Buckets).String(); got != "unknown" {
		t.Errorf("a bucket of a newer version is %q", got)
	}
}

// fits are PLACE-2's buckets, each for itself and in no order.
func fits(d placement.Device) [placement.Buckets]bool {
	h := d.Node.Holds
	others := h &^ (placement.Cordoned | placement.Maintenance | placement.Tombstoned)
	return [placement.Buckets]bool{
		placement.InUnbookable:  d.Holds != 0 || h&placement.Tombstoned != 0,
		placement.InMaintenance: h&placement.Maintenance != 0,
		placement.InUnhealthy:   d.Node.Others || d.Node.Dedications != 0 || others != 0,
		placement.InCordoned:    h&placement.Cordoned != 0,
		placement.InAllocated:   d.Allocated,
		placement.InFree:        true,
	}
}

// P29: a device fits its bucket, and none before it.
func TestBucketIsTheFirstThatFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := devices().Draw(t, "device")
		got := d.Bucket()
		for b, fit := range fits(d) {
			if b := placement.Bucket(b); b < got && fit || b == got && !fit {
				t.Fatalf("%+v is in %v; fits %v: %t", d, got, b, fit)
			}
		}
	})
}

// What is free any tenant can book, and what is neither free nor allocated
// nobody but a dedication's tenant can. P6 too: a hold of the device is final.
func TestBucketAgreesWithJudge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := devices().Draw(t, "device")
		for _, tenant := range askers() {
			c := placement.JudgeDevice(d, tenant, placement.EveryReason)
			b := d.Bucket()
			openBucket := b == placement.InFree || b == placement.InAllocated
			ours := b == placement.InUnhealthy && d.Node.Tenant == tenant && d.Node.Dedications == 1
			if openBucket && !c.Placeable() || c.Placeable() && !openBucket && !ours {
				t.Fatalf("%+v is in %v, and for %q: %v", d, b, tenant, c)
			}
			if d.Holds != 0 && (c.Placeable() || c&d.Holds != d.Holds) {
				t.Fatalf("%+v: %v", d, c)
			}
		}
	})
}

// P29 and P30: after any sequence the rollup equals a recount, its buckets add
// up to the devices, and allocated counts across buckets.
func TestRollupEqualsRecount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r placement.Rollup
		var all []placement.Device
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				d := devices().Draw(t, "device")
				r, all = r.Plus(d), append(all, d)
			},
			"change": func(t *rapid.T) {
				if len(all) == 0 {
					return
				}
				i, d := rapid.IntRange(0, len(all)-1).Draw(t, "at"), devices().Draw(t, "device")
				r, all[i] = r.Minus(all[i]).Plus(d), d
			},
			"remove": func(t *rapid.T) {
				if len(all) == 0 {
					return
				}
				r, all = r.Minus(all[0]), all[1:]
			},
			"": func(t *rapid.T) {
				var in [placement.Buckets]int
				var allocated int
				for _, d := range all {
					in[d.Bucket()]++
					if d.Allocated {
						allocated++
					}
				}
				if r.In != in || r.Allocated != allocated || r.Total() != len(all) {
					t.Fatalf("got %+v, want %v and %d of %d", r, in, allocated, len(all))
				}
			},
		})
	})
}
