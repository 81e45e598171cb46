package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// A moment is a line of the timeline.
type moment struct {
	Seconds float64 `json:"t"`
	Who     string  `json:"who"`
	What    string  `json:"what"`
	Detail  string  `json:"detail,omitempty"`
}

// A timeline tells what happens as it happens. It is safe for concurrent use.
type timeline struct {
	out    io.Writer
	json   bool
	colour bool
	quiet  bool // of what is many machines' alike
	now    func() time.Time
	began  time.Time
	mu     sync.Mutex
	counts map[string]int
}

// The colours of a terminal, by what happened.
var colours = map[string]string{"failed": "31", "trouble": "31", "approved": "32", "checked": "32", "approve": "33", "disabled": "35", "fault": "31"}

// crowd is with how many machines a timeline shows those of the first few alone.
const crowd, shown = 8, 2

func (t *timeline) say(who, what, detail string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	t.counts[what]++
	m := moment{t.now().Sub(t.began).Seconds(), who, what, detail}
	if t.json {
		_ = json.NewEncoder(t.out).Encode(m) // whoever reads it is gone, or has it
		return
	}
	if t.quiet && strings.HasPrefix(who, "m") && who > fmt.Sprintf("m%03d", shown) && what != "failed" && what != "trouble" {
		if n := t.counts[what]; what == "approved" && n%50 == 0 {
			fmt.Fprintf(t.out, "%8.2f s  %-6s %-14s %d machines\n", m.Seconds, "", "approved", n)
		}
		return
	}
	word := fmt.Sprintf("%-14s", what)
	if c := colours[what]; t.colour && c != "" {
		word = "\x1b[" + c + "m" + word + "\x1b[0m"
	}
	lines := strings.Split(strings.TrimRight(detail, "\n"), "\n")
	fmt.Fprintf(t.out, "%8.2f s  %-6s %s %s\n", m.Seconds, who, word, lines[0])
	for _, l := range lines[1:] {
		fmt.Fprintf(t.out, "%34s%s\n", "", l)
	}
}
