package booting

import (
	"sync"

	"github.com/ingotmetal/ingot/booter"
)

// counts are how often each reason of silence was given, and how often something was
// answered.
type counts struct {
	mu sync.Mutex
	by map[string]uint64
}

// What is counted beside the reasons of silence.
const (
	Answered = "answered"
	Stranger = "stranger" // nobody has that address or token
	Absent   = "absent"   // no such file for this machine
	Broken   = "failed"   // it could not be read
)

// The stages of a boot at which a machine is served, as they are counted and reported.
const (
	stageDHCP = "dhcp"
	stageTFTP = "tftp"
	stageHTTP = "http"
)

// Other moments of a machine that people are shown.
const (
	stageSetup  = "setup"
	stageReport = "report"
)

func (c *counts) packet(why booter.Silence) { c.add(stageDHCP, string(why)) }

// add counts one outcome of a stage; "" is an answer.
func (c *counts) add(stage, outcome string) {
	if outcome == "" {
		outcome = Answered
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]uint64{}
	}
	c.by[stage+"/"+outcome]++
}

// Counts are the outcomes of packets and requests so far, by stage/outcome.
func (d *Desk) Counts() map[string]uint64 {
	d.counts.mu.Lock()
	defer d.counts.mu.Unlock()
	out := make(map[string]uint64, len(d.counts.by))
	for k, n := range d.counts.by {
		out[k] = n
	}
	return out
}
