package booting

import (
	"context"
	"log/slog"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/booting/account"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// A Reporter tells the control plane what a desk saw and served, and what is staged
// here.
type Reporter struct {
	Client *api.Client
	Desk   *Desk
	Log    *slog.Logger

	told offer // last
}

const (
	reportEvery = time.Second      // at most
	stageEvery  = 2 * time.Second  // what other processes staged is looked for
	tellEvery   = 30 * time.Second // at least, so that what is staged is known after a restart of the control plane
)

// Run reports until ctx ends. What is due is decided by the time alone, so that it does
// not matter which of two that are ready together is taken first.
func (r *Reporter) Run(ctx context.Context) {
	r.tell(ctx, true)
	now := r.Desk.now()
	look, told := now.Add(stageEvery), now.Add(tellEvery)
	due := time.NewTimer(0)
	defer due.Stop()
	for sent := true; !sent || pause.For(ctx, reportEvery); {
		due.Reset(earlier(look, told).Sub(r.Desk.now()))
		select {
		case <-ctx.Done():
			return
		case <-r.Desk.Wake():
		case <-due.C:
		}
		select { // what it told of is in this report
		case <-r.Desk.Wake():
		default:
		}
		now := r.Desk.now()
		force := !now.Before(told)
		if !now.Before(look) {
			look = now.Add(stageEvery)
			force = r.restaged() || force
		}
		if force {
			told = now.Add(tellEvery)
		}
		sent = r.tell(ctx, force)
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// restaged looks for what other processes staged, and reports whether it changed.
func (r *Reporter) restaged() bool {
	changed, err := r.Desk.Restage()
	if err != nil {
		r.Log.Warn("the staged images could not be looked at", "error", err)
	}
	return changed && err == nil
}

// tell reports, and says whether there was anything to report.
func (r *Reporter) tell(ctx context.Context, force bool) (sent bool) {
	seen, err := r.sightings(ctx)
	if err != nil && ctx.Err() == nil {
		r.Log.Warn("sightings could not be reported; they are kept", "error", err)
	}
	served, err := r.boots(ctx, force)
	if err != nil && ctx.Err() == nil {
		r.Log.Warn("boots could not be reported", "error", err)
	}
	return seen || served
}

func (r *Reporter) sightings(ctx context.Context) (sent bool, err error) {
	d := r.Desk
	d.mu.Lock()
	seen, news := d.seen.Report(d.now())
	d.mu.Unlock()
	if !news {
		return false, nil
	}
	in := api.ReportSightings{}
	in.Body.Booter, in.Body.Sightings = d.place.Name, seen
	got, err := api.BooterSightings.Call(ctx, r.Client, &in)
	if err != nil {
		d.mu.Lock()
		d.seen.Again()
		d.mu.Unlock()
		return true, err
	}
	for _, a := range got.Admissions {
		if a.Why != "" {
			d.Tell(a.MAC, account.Moment{Stage: stageReport, What: "admission", Detail: a.Why})
			r.Log.Info("a machine was not admitted", "mac", a.MAC, "state", a.State, "code", a.Code, "why", a.Why)
		}
	}
	return true, nil
}

func (r *Reporter) boots(ctx context.Context, force bool) (sent bool, err error) {
	d := r.Desk
	d.mu.Lock()
	queue := d.served.Take()
	d.mu.Unlock()
	now := d.offer()
	if len(queue) == 0 && !force && now.equal(r.told) {
		return false, nil
	}
	if now.left != r.told.left {
		r.told.left = now.left
		r.Log.Warn("not all that is staged is told to the control plane; what the site names comes first", "left_out", now.left, "at_most", maxOffered, "next", "remove images that nobody boots")
	}
	in := api.ReportBoots{}
	in.Body.Booter, in.Body.Boots, in.Body.Staged, in.Body.Disks = d.place.Name, queue, now.staged, now.disks
	if in.Body.Boots == nil {
		in.Body.Boots = []api.ServedOnce{}
	}
	if _, err := api.BooterBoots.Call(ctx, r.Client, &in); err != nil {
		if passing(err) {
			d.mu.Lock()
			d.served.Back(queue)
			d.mu.Unlock()
		}
		return true, err
	}
	r.told = now
	return true, nil
}
