package bmc_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// able is a machine that can do everything.
func able() *bmc.Probed {
	p := &bmc.Probed{Supports: map[bmc.Feature]bmc.Support{}}
	for _, f := range bmc.Features() {
		p.Supports[f] = bmc.Support{Level: bmc.Native}
	}
	return p
}

// The first thing that a verb does on each machine, by BMC-1 and BMC-2. The
// columns are the states, and in each the chassis: not reported, on, off.
// D: done. W: look again. C: conflict. 1, 0, G, R, N: send on, off, graceful-off,
// reset, nmi.
//
// A chassis without power decides, whatever the system says, but proves
// nothing. Off with a chassis that has power is not off either. Only force does
// not wait for the end of a transition.
var firsts = []struct {
	verb                                              bmc.Verb
	unknown, on, off, poweringOn, poweringOff, paused string
}{
	{bmc.TurnOn, "111", "DD1", "111", "WWW", "WWW", "111"},
	{bmc.TurnOff, "000", "000", "W0W", "000", "000", "000"},
	{bmc.GracefulOff, "GGG", "GGG", "WGW", "WWW", "WWW", "GGG"},
	{bmc.Reset, "RRC", "RRC", "CCC", "WWC", "WWC", "RRC"},
	{bmc.GracefulRestart, "GGC", "GGC", "CCC", "WWC", "WWC", "GGC"},
	{bmc.Cycle, "000", "000", "W0W", "000", "000", "000"},
	{bmc.NMI, "NNC", "NNC", "CCC", "WWC", "WWC", "NNC"},
}

var letters = map[bmc.Action]byte{bmc.SendOn: '1', bmc.SendOff: '0', bmc.SendGraceful: 'G', bmc.SendReset: 'R', bmc.SendNMI: 'N'}

func TestFirstThing(t *testing.T) {
	if len(firsts) != len(bmc.Verbs()) {
		t.Fatalf("the matrix has %d verbs of %d", len(firsts), len(bmc.Verbs()))
	}
	for _, row := range firsts {
		states := map[bmc.State]string{
			bmc.Unknown: row.unknown, bmc.On: row.on, bmc.Off: row.off,
			bmc.PoweringOn: row.poweringOn, bmc.PoweringOff: row.poweringOff, bmc.Paused: row.paused,
		}
		for state, cells := range states {
			for i, chassis := range []bmc.State{"", bmc.On, bmc.Off} {
				if got := firstThing(t, row.verb, state, chassis); got != cells[i] {
					t.Errorf("%s of a machine that is %s, chassis %q: %c, want %c", row.verb, state, chassis, got, cells[i])
				}
			}
		}
	}
}

func firstThing(t *testing.T, v bmc.Verb, s, chassis bmc.State) byte {
	t.Helper()
	c, err := bmc.Begin(v, able(), bmc.Patience{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	if m := c.Next(); m.Do != bmc.MoveRead || m.At.After(noon) {
		t.Fatalf("%s begins with %+v, and not with a look", v, m)
	}
	c.Saw(withChassis(read(s, 1, 2), chassis), at(2))
	m := c.Next()
	result, err := c.Result()
	e, _ := errors.AsType[*bmc.Error](err)
	switch {
	case m.Do == bmc.MoveSend:
		if m.Once != slices.Contains([]bmc.Verb{bmc.Reset, bmc.GracefulRestart, bmc.Cycle, bmc.NMI}, v) {
			t.Errorf("%s: Once is %v", v, m.Once)
		}
		return letters[m.Send]
	case m.Do == bmc.MoveRead:
		return 'W'
	case err == nil && !result.Changed && result.Last.State == s:
		return 'D'
	case e != nil && e.Kind == bmc.Conflict && e.Sent == bmc.SentNo && e.State == bmc.Off && e.Code() == "CONFLICT":
		return 'C'
	}
	t.Errorf("%s of %s: %+v, %v", v, s, result, err)
	return '?'
}

// What cannot be done is refused before anything is sent, and the refusal says
// what can.
func TestBeginRefuses(t *testing.T) {
	lacking := able()
	lacking.Supports[bmc.PowerGraceful] = bmc.Support{Level: bmc.Unsupported, Why: "not listed"}
	delete(lacking.Supports, bmc.PowerNMI)
	for _, v := range bmc.Verbs() {
		_, err := bmc.Begin(v, lacking, bmc.Patience{}, noon)
		e, _ := errors.AsType[*bmc.Error](err)
		lacks := slices.Contains([]bmc.Verb{bmc.GracefulOff, bmc.GracefulRestart, bmc.NMI}, v)
		if lacks != (e != nil && e.Kind == bmc.Unsupports && e.Do == "the machine does: on, off, reset, cycle") {
			t.Errorf("%s: %v", v, err)
		}
	}
	_, err := bmc.Begin("restart", able(), bmc.Patience{}, noon)
	if e, ok := errors.AsType[*bmc.Error](err); !ok || e.Kind != bmc.InvalidOption {
		t.Errorf("an unknown verb: %v", err)
	}
	if _, err := bmc.Begin(bmc.TurnOn, &bmc.Probed{}, bmc.Patience{}, noon); err == nil || !errors.As(err, new(*bmc.Error)) {
		t.Errorf("a machine that can do nothing: %v", err)
	}
}

func TestSupport(t *testing.T) {
	p := able()
	p.Supports[bmc.PowerReset] = bmc.Support{Level: bmc.Emulated, Why: "by PowerCycle"}
	want := map[bmc.Verb]bmc.Level{
		bmc.TurnOn: bmc.Native, bmc.TurnOff: bmc.Native, bmc.GracefulOff: bmc.Native, bmc.Reset: bmc.Emulated,
		bmc.GracefulRestart: bmc.Emulated, bmc.Cycle: bmc.Emulated, bmc.NMI: bmc.Native, "restart": bmc.Unsupported,
	}
	for v, level := range want {
		if got := v.Support(p); got.Level != level || (got.Why == "") != (level == bmc.Native) {
			t.Errorf("%s: %+v, want %s", v, got, level)
		}
	}
	if d := bmc.Dwell; d < 5*time.Second {
		t.Errorf("a cycle leaves the machine without power for %s, want 5 s and more", d)
	}
}
