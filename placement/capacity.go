package placement

// Device is all that placement needs of one bookable device. The zero value is
// a free device of an open node.
type Device struct {
	Node      Node   // the node it sits in
	Holds     Causes // Missing, Unbookable; an unknown bit blocks as well
	Allocated bool   // an open allocation holds it (PLACE-4)
}

// JudgeDevice is [Judge] with what keeps work off the device itself. Whether
// the device is taken at some time is not its question.
func JudgeDevice(d Device, t Tenant, p Policy) Causes {
	return d.Holds | Judge(d.Node, t, p)
}

// Bucket is where a device counts in a capacity rollup.
type Bucket uint8

// The buckets, in the order in which they are tried (PLACE-2).
const (
	InUnbookable  Bucket = iota // the device's own holds, or the node is deleted (PROV-8)
	InMaintenance               // its own bucket, whatever the reasons (SCHED-3)
	InUnhealthy                 // any NoSchedule reason, a dedication too (TAINT-2), or any other hold but a cordon
	InCordoned
	InAllocated
	InFree

	// Buckets is the number of buckets.
	Buckets = iota
)

// bucketNames are the wire names, in the order of the buckets.
var bucketNames = [Buckets]string{"unbookable", "maintenance", "unhealthy", "cordoned", "allocated", "free"}

// String is the bucket's wire name, or "unknown".
func (b Bucket) String() string {
	if b >= Buckets {
		return "unknown"
	}
	return bucketNames[b]
}

// Bucket is the first bucket that fits d (PLACE-2). Disabled, quarantined and
// unprovisioned nodes count as unhealthy, so that what is free is what a new
// tenant can get.
func (d Device) Bucket() Bucket {
	n := d.Node
	switch {
	case d.Holds != 0 || n.Holds&Tombstoned != 0:
		return InUnbookable
	case n.Holds&Maintenance != 0:
		return InMaintenance
	case n.Others || n.Dedications > 0 || n.Holds&^Cordoned != 0:
		return InUnhealthy
	case n.Holds&Cordoned != 0:
		return InCordoned
	case d.Allocated:
		return InAllocated
	}
	return InFree
}

// Rollup counts devices. It is a value; the zero value counts none.
type Rollup struct {
	In        [Buckets]int // by bucket; each device counts in exactly one
	Allocated int          // allocated devices in any bucket (PLACE-2)
}

// Plus returns the rollup with d counted in.
func (r Rollup) Plus(d Device) Rollup { return r.count(d, 1) }

// Minus returns the rollup with d counted out. To keep a rollup equal to a
// recount, count out the device as it was and count it in as it is.
func (r Rollup) Minus(d Device) Rollup { return r.count(d, -1) }

// Total is the number of devices.
func (r Rollup) Total() int {
	var n int
	for _, in := range r.In {
		n += in
	}
	return n
}

func (r Rollup) count(d Device, by int) Rollup {
	r.In[d.Bucket()] += by
	if d.Allocated {
		r.Allocated += by
	}
	return r
}
