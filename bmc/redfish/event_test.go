package redfish_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
)

// TestEventsOfPower polls the log of every tree that has one.
func TestEventsOfPower(t *testing.T) {
	for name, tree := range oracle(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			uri := tree.Systems[0].URI
			r := newRig(t, name, bmcsim.Options{})
			if r.EventLog(uri) == "" || name == xcc {
				t.Skip("the tree has no log, or one that links to no entries")
			}
			s := r.system(uri)
			for _, a := range []bmc.Action{bmc.SendOn, bmc.SendOff} { // the trees come without entries
				if _, err := s.SendPower(t.Context(), a); err != nil {
					t.Fatal(err)
				}
				readPower(t, s)
			}
			list, at, err := s.Events(t.Context(), "")
			if err != nil || len(list) != 0 || at == "" {
				t.Fatalf("%v, %q, %v", list, at, err)
			}
			for _, a := range []bmc.Action{bmc.SendOn, bmc.SendOff, bmc.SendOn} {
				if _, err := s.SendPower(t.Context(), a); err != nil {
					t.Fatal(err)
				}
				readPower(t, s)
			}
			list, next, err := s.Events(t.Context(), at)
			must(t, err)
			if len(list) < 2 || next == at || !strings.Contains(list[len(list)-1].Message, "powered on") || list[0].At.IsZero() {
				t.Errorf("%d events to %q: %+v", len(list), next, list)
			}
			if list, again, err := s.Events(t.Context(), next); err != nil || len(list) != 0 || again != next {
				t.Errorf("once more: %v, %q, %v", list, again, err)
			}
		})
	}
}

// logOf serves entries of a Dell's log.
func logOf(t *testing.T, entries ...map[string]any) *rig {
	t.Helper()
	var members []any
	for _, e := range entries {
		members = append(members, e)
	}
	return newRig(t, dell, rule("GET", "*/LogServices/*/Entries", bmcsim.Effect{Status: 200, Answer: jsonOf(t, map[string]any{"Members": members})}))
}

func logged(id int, created string) map[string]any {
	return map[string]any{"@odata.id": fmt.Sprintf("/redfish/v1/log/Entries/%d", id), "Id": "1", "Created": created, "Message": fmt.Sprintf("entry %d", id), "Severity": "OK"}
}

func TestEventOrderAndRestart(t *testing.T) {
	const morning, noon = "2026-05-01T06:00:00Z", "2026-05-01T12:00:00Z"
	ids := func(r *rig, after string) string {
		list, next, err := r.open().Events(t.Context(), after)
		must(t, err)
		var out []string
		for _, e := range list {
			out = append(out, e.ID)
		}
		return strings.Join(out, " ") + " to " + next
	}
	for _, c := range []struct {
		name  string
		r     *rig
		after string
		want  string
	}{
		{"the end, newest first", logOf(t, logged(10, noon), logged(9, morning)), "", " to 10@" + noon},
		{"in the order of numbers", logOf(t, logged(10, noon), logged(9, noon), logged(8, morning)), "8@" + morning, "9 10 to 10@" + noon},
		{"none", logOf(t, logged(10, noon)), "10@" + noon, " to 10@" + noon},
		{"an empty log", logOf(t), "", " to @"},
		{"after an empty log", logOf(t, logged(1, noon)), "@", "1 to 1@" + noon},
		{"cleared, the number is used again", logOf(t, logged(1, noon), logged(2, noon)), "2@" + morning, "1 2 to 2@" + noon},
		{"cleared, and still short", logOf(t, logged(1, noon)), "7@" + morning, "1 to 1@" + noon},
		{"the entry was dropped", logOf(t, logged(8, noon), logged(9, noon)), "3@" + morning, "8 9 to 9@" + noon},
	} {
		if got := ids(c.r, c.after); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
