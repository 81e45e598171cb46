package booter_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/statemachine/netboot"
)

// wants is the hand-written matrix: for every state, mode and entry, the
// origins in the order of their claim, or the silence that the state demands.
var wants = []struct {
	state   netboot.State
	rescue  bool
	entry   bool
	origins string
	silence booter.Silence
	req     string
}{
	{"", false, false, "", booter.NoRecord, "BOOT-1"},
	{"", false, true, "", booter.NoRecord, "BOOT-1"},
	{"", true, false, "", booter.NoRecord, "BOOT-6"},
	{"", true, true, "", booter.NoRecord, "BOOT-6"},
	{netboot.Absent, false, false, "", booter.NoRecord, "BOOT-1"},
	{netboot.Absent, false, true, "", booter.NoRecord, "BOOT-1"},
	{netboot.Absent, true, false, "", booter.NoRecord, "BOOT-6"},
	{netboot.Absent, true, true, "", booter.NoRecord, "BOOT-6"},
	{netboot.Discovered, false, false, "", booter.StateDiscovered, "BOOT-1"},
	{netboot.Discovered, false, true, "entry", "", "BOOT-14"},
	{netboot.Discovered, true, false, "rescue enrollment", "", "BOOT-5"},
	{netboot.Discovered, true, true, "rescue enrollment", "", "BOOT-14"},
	{netboot.Enrolling, false, false, "enrollment", "", "BOOT-2"},
	{netboot.Enrolling, false, true, "entry", "", "BOOT-14"},
	{netboot.Enrolling, true, false, "rescue enrollment", "", "BOOT-5"},
	{netboot.Enrolling, true, true, "rescue enrollment", "", "BOOT-14"},
	{netboot.Enrolled, false, false, "record", "", "BOOT-3"},
	{netboot.Enrolled, false, true, "entry", "", "BOOT-14"},
	{netboot.Enrolled, true, false, "rescue record enrollment", "", "BOOT-5"},
	{netboot.Enrolled, true, true, "rescue record enrollment", "", "BOOT-14"},
	{netboot.Decommissioned, false, false, "", booter.StateDecommissioned, "BOOT-4"},
	{netboot.Decommissioned, false, true, "", booter.StateDecommissioned, "BOOT-14"},
	{netboot.Decommissioned, true, false, "rescue enrollment", "", "BOOT-5"},
	{netboot.Decommissioned, true, true, "rescue enrollment", "", "BOOT-14"},
	{"frozen", false, false, "", booter.StateUnknown, "EDGE-18"},
	{"frozen", false, true, "", booter.StateUnknown, "EDGE-18"},
	{"frozen", true, false, "", booter.StateUnknown, "EDGE-18"},
	{"frozen", true, true, "", booter.StateUnknown, "EDGE-18"},
}

// conditions are what an image can be: staged, or one of the three reasons.
var conditions = []struct {
	image string
	why   booter.Silence
}{
	{"staged", ""}, {"", booter.ImageUnset}, {"..", booter.ImageRefused}, {"elsewhere", booter.ImageUnstaged},
}

// TestEveryStateModeAndImage tries each row with every condition of each of
// the four images.
func TestEveryStateModeAndImage(t *testing.T) {
	origins := []string{"rescue", "entry", "record", "enrollment"}
	for n := range 256 {
		at := map[string]int{}
		for i, o := range origins {
			at[o] = n >> (2 * i) & 3
		}
		for _, w := range wants {
			tryBoot(t, w.state, w.rescue, w.entry, at, strings.Fields(w.origins), w.silence, w.req)
		}
	}
}

func tryBoot(t *testing.T, state netboot.State, rescue, entry bool, at map[string]int, origins []string, silence booter.Silence, req string) {
	t.Helper()
	image := func(origin string) string {
		if c := conditions[at[origin]]; c.why != "" {
			return c.image
		}
		return origin
	}
	p := booter.Policy{
		Rescue: image("rescue"), Enrollment: image("enrollment"),
		Staged: map[string]bool{"rescue": true, "entry": true, "record": true, "enrollment": true, "..": true, "": true},
	}
	rec := booter.Record{State: state, Rescue: rescue, Image: image("record"), Args: "own", RootHash: true}
	if entry {
		rec.Entry = booter.Entry{Image: image("entry"), Args: "held"}
	}
	want, why := expectBoot(rec, at, origins, silence)
	got, gotWhy := p.Boot(rec)
	if got != want || gotWhy != why {
		t.Errorf("%s (%s): %+v with %v:\n got %+v %q\nwant %+v %q", state, req, rec, at, got, gotWhy, want, why)
	}
}

// expectBoot takes the first origin that is staged; without one it blames the
// first that is set at all.
func expectBoot(rec booter.Record, at map[string]int, origins []string, silence booter.Silence) (booter.Boot, booter.Silence) {
	if silence != "" {
		return booter.Boot{}, silence
	}
	why := booter.ImageUnset
	for _, o := range slices.Backward(origins) {
		if c := conditions[at[o]]; c.why != "" && c.why != booter.ImageUnset {
			why = c.why
		}
	}
	for _, o := range origins {
		switch {
		case at[o] != 0:
			continue
		case rec.Rescue:
			return booter.Boot{Image: o, Origin: booter.Origin(o), Rescue: true}, ""
		case o == "entry":
			return booter.Boot{Image: o, Origin: "entry", Args: "held", ArchiveHash: true, Networking: true}, ""
		}
		return booter.Boot{Image: o, Origin: booter.Origin(o), Args: "own", ArchiveHash: true, Networking: true, RootShadow: o == "record"}, ""
	}
	return booter.Boot{}, why
}

// A newer schema is silent whatever the state says (EDGE-18).
func TestNewerSchema(t *testing.T) {
	for _, w := range wants {
		p := site()
		rec := booter.Record{State: w.state, Newer: true, Rescue: w.rescue, Address: reserved, Image: "own"}
		if _, why := p.Boot(rec); why != booter.StateUnknown {
			t.Errorf("%s: %q", w.state, why)
		}
	}
}

// An entry without an image is still an entry: it is not passed over.
func TestEntryWithoutImage(t *testing.T) {
	p, rec := site(), enrolling()
	rec.Entry.Args = "held"
	if b, why := p.Boot(rec); why != booter.ImageUnset {
		t.Errorf("%+v, %q", b, why)
	}
}

// No hash set, none rendered.
func TestNoRootHash(t *testing.T) {
	p := site()
	b, why := p.Boot(booter.Record{State: netboot.Enrolled, Image: "own"})
	if why != "" || b.RootShadow {
		t.Errorf("%+v, %q", b, why)
	}
}

// Choices tells an operator the whole chain.
func TestChoices(t *testing.T) {
	p := site()
	p.Rescue, p.Enrollment = "", "a/b"
	got := p.Choices(booter.Record{State: netboot.Enrolled, Rescue: true, Image: "elsewhere"})
	want := []booter.Choice{
		{Origin: booter.FromRescue, Why: booter.ImageUnset},
		{Origin: booter.FromRecord, Image: "elsewhere", Why: booter.ImageUnstaged},
		{Origin: booter.FromEnrollment, Image: "a/b", Why: booter.ImageRefused},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if got := p.Choices(booter.Record{State: "frozen", Rescue: true}); len(got) != 0 {
		t.Errorf("an unknown state has choices: %+v", got)
	}
}
