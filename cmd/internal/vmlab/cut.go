package vmlab

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// A Cut is a loss of power that a seed draws: of what, and when in a setup.
type Cut struct {
	Seed   uint64        `json:"seed"`
	Victim string        `json:"victim"` // the machine, ingotd or booterd
	At     string        `json:"at"`     // what the machine's console shows
	After  time.Duration `json:"after"`  // from then on
	Away   time.Duration `json:"away"`   // until it is there again
}

// String is a line for a reader.
func (c Cut) String() string {
	return fmt.Sprintf("%s, %.1f s after %q, for %.1f s", c.Victim, c.After.Seconds(), c.At, c.Away.Seconds())
}

// Who a cut may hit. The machine is named first, and drawn as often as both others.
const (
	machine = "the machine"
	ingotd  = "ingotd"
	booterd = "booterd"
)

// moments are what the console shows of a setup, with how long it then stays at that.
// The image takes longest, and is drawn as often as its share of a setup asks.
func moments() []struct {
	text string
	last time.Duration
} {
	return []struct {
		text string
		last time.Duration
	}{
		{"a setup begins", time.Second}, {": check", 2 * time.Second}, {": clear", time.Second},
		{": image", 6 * time.Second}, {": image", 15 * time.Second}, {": image", 20 * time.Second},
		{": format", 2 * time.Second}, {": table", time.Second}, {": verify", time.Second},
		{"the setup is complete", time.Second}, {"Restarting system", 15 * time.Second},
	}
}

// reached are the texts that show that the moment is there, or has passed: a step that is
// done at once is not shown.
func (c Cut) reached() (texts []string) {
	for _, m := range moments() {
		if len(texts) > 0 || m.text == c.At {
			texts = append(texts, m.text)
		}
	}
	return slices.Compact(texts)
}

// cutOf is the cut of a seed, always the same.
func cutOf(seed uint64) Cut {
	r := rand.New(rand.NewPCG(seed, 0x1ab))
	all := moments()
	m := all[r.IntN(len(all))]
	return Cut{
		Seed: seed, Victim: []string{machine, machine, ingotd, booterd}[r.IntN(4)], At: m.text,
		After: time.Duration(r.Int64N(int64(m.last))).Round(time.Millisecond),
		Away:  time.Duration(r.Int64N(int64(15 * time.Second))).Round(time.Millisecond),
	}
}
