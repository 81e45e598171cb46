package booting

import (
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/booting/account"
)

// What is told of a machine is there for who asks, the same again once and with its
// newest time; of strangers nothing is kept.
func TestTell(t *testing.T) {
	c := &clock{at: noon}
	d := newDesk(t, place(), c.now, fleet()...)
	d.Answer(came(message(numbered(9), 1, pxe...)))
	for range 3 {
		for _, mac := range []string{known, numbered(9).String(), numbered(99).String(), "junk"} {
			d.Tell(mac, account.Moment{Stage: stageReport, Detail: "no"})
		}
		c.add(time.Minute)
	}
	d.Tell(known, account.Moment{Stage: stageReport, Detail: "other"})
	for mac, want := range map[string]int{known: 2, numbered(9).String(): 2, numbered(99).String(): 0} {
		at, _ := parseMAC(mac)
		if got := d.Why(at).Moments; len(got) != want || want > 0 && got[1].Time.Before(noon.Add(2*time.Minute)) {
			t.Errorf("%s: %+v", mac, got)
		}
	}
	if len(d.history.by) != 2 {
		t.Errorf("%d are remembered", len(d.history.by))
	}
}
