package bmc_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// at is so many tenths of a second after noon.
func at(tenths int) time.Time { return noon.Add(time.Duration(tenths) * 100 * time.Millisecond) }

func read(s bmc.State, began, ended int) bmc.PowerObservation {
	return bmc.PowerObservation{State: s, Began: at(began), Ended: at(ended)}
}

func withChassis(o bmc.PowerObservation, s bmc.State) bmc.PowerObservation {
	o.Chassis = s
	return o
}

// Each row is the reads of one request made at noon, by BMC-2.
func TestConfirm(t *testing.T) {
	const on, off = bmc.On, bmc.Off
	type reads []bmc.PowerObservation
	tests := []struct {
		name string
		of   reads
		want bool
	}{
		{"nothing was read", nil, false},
		{"one read", reads{read(off, 0, 1)}, false},
		{"two, 3 s apart", reads{read(off, 0, 1), read(off, 31, 32)}, true},
		{"two, not quite", reads{read(off, 0, 1), read(off, 30, 99)}, false},
		{"the first took long: its end counts", reads{read(off, 0, 20), read(off, 31, 32)}, false},
		{"three that span it", reads{read(off, 0, 1), read(off, 20, 21), read(off, 31, 32)}, true},
		{"the first is older than the request", reads{read(off, -1, 1), read(off, 31, 32)}, false},
		{"two older than the request", reads{read(off, -80, -79), read(off, -40, -39)}, false},
		{"begun at the request", reads{read(off, 0, 0), read(off, 30, 30)}, true},
		{"on between", reads{read(off, 0, 1), read(on, 10, 11), read(off, 31, 32)}, false},
		{"on between, then twice", reads{read(off, 0, 1), read(on, 10, 11), read(off, 31, 32), read(off, 62, 63)}, true},
		{"a transition between", reads{read(off, 0, 1), read(bmc.PoweringOff, 10, 11), read(off, 31, 32)}, false},
		{"unknown between", reads{read(off, 0, 1), read(bmc.Unknown, 10, 11), read(off, 31, 32)}, false},
		{"paused is not off", reads{read(bmc.Paused, 0, 1), read(bmc.Paused, 31, 32)}, false},
		{"powering off is not off", reads{read(bmc.PoweringOff, 0, 1), read(bmc.PoweringOff, 31, 32)}, false},
		{"the chassis agrees", reads{withChassis(read(off, 0, 1), off), withChassis(read(off, 31, 32), off)}, true},
		{"the chassis has power", reads{withChassis(read(off, 0, 1), on), withChassis(read(off, 31, 32), on)}, false},
		{"the chassis has power in the second", reads{read(off, 0, 1), withChassis(read(off, 31, 32), on)}, false},
		{"the chassis has power between", reads{read(off, 0, 1), withChassis(read(off, 10, 11), on), read(off, 31, 32)}, false},
		{"the chassis says nothing that is known", reads{withChassis(read(off, 0, 1), bmc.Unknown), withChassis(read(off, 31, 32), bmc.Unknown)}, false},
		{"on after the proof", reads{read(off, 0, 1), read(off, 31, 32), read(on, 40, 41)}, false},
		{"on before all", reads{read(on, 0, 1), read(off, 2, 3), read(off, 33, 34)}, true},
		{"a slow on is told after the off that it outlasts", reads{read(off, 0, 1), read(on, 0, 20), read(off, 31, 32)}, false},
		{"a later on is told before the earlier off", reads{read(on, 20, 21), read(off, 0, 1), read(off, 31, 32)}, false},
		{"an on that was over before is told late", reads{read(off, 10, 11), read(on, 2, 3), read(off, 41, 42)}, true},
		{"an end before its beginning", reads{read(off, 5, 1), read(off, 36, 37)}, false},
	}
	for _, tt := range tests {
		c := bmc.Confirm{Since: noon}
		for _, o := range tt.of {
			c = c.See(o)
		}
		if c.Off() != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, c.Off(), tt.want)
		}
	}
}

// proves is BMC-2 word for word, over all reads at once.
func proves(since time.Time, reads []bmc.PowerObservation) bool {
	off := func(o bmc.PowerObservation) bool {
		return o.State == bmc.Off && (o.Chassis == "" || o.Chassis == bmc.Off) && !o.Began.Before(since) && !o.Ended.Before(o.Began)
	}
	contradicts := func(o bmc.PowerObservation) bool {
		return o.State != bmc.Off || o.Chassis != "" && o.Chassis != bmc.Off
	}
	end := func(o bmc.PowerObservation) time.Time {
		return slices.MaxFunc([]time.Time{o.Began, o.Ended}, time.Time.Compare)
	}
	for _, a := range reads {
		for _, b := range reads {
			if !off(a) || !off(b) || b.Began.Sub(a.Ended) < 3*time.Second {
				continue
			}
			// Nothing that says otherwise was still being read when a began, or later:
			// between them it would break the proof, and after them undo it.
			if !slices.ContainsFunc(reads, func(o bmc.PowerObservation) bool { return contradicts(o) && end(o).After(a.Began) }) {
				return true
			}
		}
	}
	return false
}

// drawRead draws a read; on a calm machine it says nothing but off.
func drawRead(t *rapid.T, earliest int, calm bool) bmc.PowerObservation {
	states := rapid.SampledFrom([]bmc.State{bmc.Off, bmc.Off, bmc.Off, bmc.Off, bmc.Off, bmc.On, bmc.Unknown, bmc.PoweringOff})
	chassis := rapid.SampledFrom([]bmc.State{"", "", bmc.Off, bmc.Off, bmc.On, bmc.Unknown})
	// Around the three seconds of a proof; rapid prefers what stands first.
	began := earliest + rapid.SampledFrom([]int{31, 30, 29, 40, 0, 1, 10}).Draw(t, "began")
	if calm {
		states, chassis = rapid.Just(bmc.Off), rapid.SampledFrom([]bmc.State{"", bmc.Off})
	}
	o := read(states.Draw(t, "state"), began, began+rapid.IntRange(0, 20).Draw(t, "took"))
	return withChassis(o, chassis.Draw(t, "chassis"))
}

// Reads one after the other, as one reader makes them, prove what BMC-2 says
// they prove, no less and no more, at every step.
func TestConfirmInOrder(t *testing.T) {
	proofs := 0
	rapid.Check(t, func(t *rapid.T) {
		c := bmc.Confirm{Since: noon}
		var reads []bmc.PowerObservation
		next, calm := -50, rapid.Bool().Draw(t, "calm")
		for range rapid.IntRange(1, 12).Draw(t, "reads") {
			o := drawRead(t, next, calm)
			next = int(o.Ended.Sub(noon)/(100*time.Millisecond)) + 1
			reads = append(reads, o)
			c = c.See(o)
			if want := proves(noon, reads); c.Off() != want {
				t.Fatalf("%v, BMC-2 says %v of %+v", c.Off(), want, reads)
			}
			if c.Off() {
				proofs++
			}
		}
	})
	if proofs == 0 && !testing.Short() { // short tries too few
		t.Error("nothing was ever proved")
	}
}

// Reads of several readers overlap and are told in any order. What is held for
// proved is proved; Next then has nothing to say.
func TestConfirmInAnyOrder(t *testing.T) {
	proofs := 0
	rapid.Check(t, func(t *rapid.T) {
		c := bmc.Confirm{Since: noon}
		var reads []bmc.PowerObservation
		calm := rapid.Bool().Draw(t, "calm")
		for range rapid.IntRange(1, 8).Draw(t, "reads") {
			o := drawRead(t, rapid.SampledFrom([]int{0, 35, 70, -20, 20, 80}).Draw(t, "from"), calm)
			if rapid.IntRange(0, 9).Draw(t, "clock") == 0 {
				o.Began, o.Ended = o.Ended, o.Began
			}
			reads = append(reads, o)
			c = c.See(o)
			if c.Off() && !proves(noon, reads) {
				t.Fatalf("proved by %+v", reads)
			}
			if c.Off() && !c.Next().IsZero() {
				t.Fatalf("proved, and Next is %s", c.Next())
			}
			if c.Off() {
				proofs++
			}
		}
	})
	if proofs == 0 && !testing.Short() { // short tries too few
		t.Error("nothing was ever proved")
	}
}

// A read that begins at Next completes the proof; one that begins before does not.
func TestConfirmNext(t *testing.T) {
	c := bmc.Confirm{Since: noon}
	if !c.Next().IsZero() {
		t.Errorf("Next is %s before any read", c.Next())
	}
	c = c.See(read(bmc.Off, 1, 4))
	if c.Next() != at(34) {
		t.Errorf("Next is %s, want 3 s after the end of the first", c.Next().Sub(noon))
	}
	if c.See(read(bmc.Off, 33, 33)).Off() || !c.See(read(bmc.Off, 34, 34)).Off() {
		t.Error("Next is not the first instant that counts")
	}
}
