package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/booter/images"
)

// barEvery is how often a bar is drawn.
const barEvery = 100 * time.Millisecond

// A bar shows people how far something long has come. It draws on standard error,
// and only where that is a terminal that can clear a line.
type bar struct {
	*app
	verb  string
	on    bool
	drawn time.Time
}

func (a *app) bar(verb string) *bar {
	return &bar{app: a, verb: verb, on: a.ErrTerminal && a.Env("TERM") != "dumb"}
}

// show draws the bar, unless it did just now.
func (b *bar) show(p images.Progress) {
	now := b.Now()
	if !b.on || !b.drawn.IsZero() && now.Sub(b.drawn) < barEvery {
		return
	}
	b.drawn = now
	_, _ = fmt.Fprintf(b.Err, "\r\x1b[K%s %s %s", b.verb, p.File, amount(p))
}

// end clears the line.
func (b *bar) end() {
	if !b.drawn.IsZero() {
		_, _ = fmt.Fprint(b.Err, "\r\x1b[K")
	}
}

// barWidth is the length of a full bar.
const barWidth = 20

func amount(p images.Progress) string {
	if p.Total <= 0 {
		return bytesOf(p.Done)
	}
	done := min(p.Done, p.Total)
	share := float64(done) / float64(p.Total)
	full := int(share * barWidth)
	return fmt.Sprintf("[%s%s] %d%% of %s", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), int(share*100), bytesOf(p.Total))
}
