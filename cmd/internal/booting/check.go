package booting

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// A Checker reads the staged images again, slowly, and holds each file against the
// digest that it was staged with. A disk that lost or changed a byte of an image is
// noticed so before a machine boots it: the image is offered no longer, its machines
// are silent with that reason, and the control plane hears what is staged.
type Checker struct {
	Desk  *Desk
	Log   *slog.Logger
	Every time.Duration // between the end of a check and the next; default 24 h
	Rate  int64         // bytes a second at most; default 32 MiB
}

const (
	checkEvery = 24 * time.Hour
	checkRate  = 32 << 20
	// firstCheck is how long after the start the first check is. A booter that is
	// started anew every day checks as well.
	firstCheck = 10 * time.Minute
)

// Run checks until ctx ends.
func (c *Checker) Run(ctx context.Context) {
	for wait := firstCheck; pause.For(ctx, wait); wait = cmp.Or(c.Every, checkEvery) {
		for _, i := range c.Desk.store.List() {
			if i.Flaw == nil && ctx.Err() == nil {
				c.check(ctx, i.Name)
			}
		}
	}
}

// check reads one image. It is taken out of what is offered at once, where it is
// harmed: the others may take hours.
func (c *Checker) check(ctx context.Context, name string) {
	p := &pace{ctx: ctx, rate: cmp.Or(c.Rate, checkRate), now: c.Desk.now, began: c.Desk.now()}
	results, err := c.Desk.store.Verify(ctx, name, p.wait)
	gone, _ := errors.AsType[*images.Unknown](err)
	switch {
	case ctx.Err() != nil || gone != nil:
		return
	case err != nil:
		c.Log.Warn("an image could not be checked", "image", name, "error", err)
		return
	}
	for _, r := range results {
		if r.Flaw != "" {
			c.Log.Error("an image is harmed, and is not offered any more", "image", r.Image, "file", r.File, "flaw", r.Flaw, "next", "stage it again, and look after the disk")
		}
	}
	if changed, err := c.Desk.Restage(); changed && err == nil {
		c.Desk.tell()
	}
}

// A pace holds a check to its rate.
type pace struct {
	ctx   context.Context
	rate  int64
	now   func() time.Time
	began time.Time
}

func (p *pace) wait(at images.Progress) {
	due := p.began.Add(time.Duration(float64(at.Done) / float64(p.rate) * float64(time.Second)))
	if left := due.Sub(p.now()); left > 0 {
		pause.For(p.ctx, left)
	}
}

// harmed is how many images are not whole.
func (d *Desk) harmed() (n int) {
	for _, i := range d.store.List() {
		if i.Flaw != nil {
			n++
		}
	}
	return n
}
