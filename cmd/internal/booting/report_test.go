package booting

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/api"
)

const (
	sightingsPath = "/v1/booter/sightings"
	bootsPath     = "/v1/booter/boots"
)

// reporting runs a reporter in a bubble.
func reporting(t *testing.T, during func(t *testing.T, d *Desk, p *plane)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, place(), time.Now, fleet()...)
		p := newPlane()
		p.on(sightingsPath, func([]byte) (any, error) { return api.SightingsTaken{}, nil })
		p.on(bootsPath, func([]byte) (any, error) { return api.BootsTaken{}, nil })
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { (&Reporter{Client: p.client(), Desk: d, Log: quiet}).Run(ctx); close(ended) }()
		during(t, d, p)
		cancel()
		<-ended
	})
}

func toldOf[T any](t *testing.T, p *plane, path string) (v T) {
	t.Helper()
	if err := json.Unmarshal(p.last(path), &v); err != nil {
		t.Fatalf("%s: %v: %s", path, err, p.last(path))
	}
	return v
}

type (
	boots = struct {
		Booter string
		Boots  []api.ServedOnce
		Staged []string
	}
	sightings = struct {
		Booter    string
		Sightings []api.SeenBoot
	}
)

// A booter says what is staged when it starts, at least every 30 seconds, and soon
// after that changed.
func TestReporterTellsWhatIsStaged(t *testing.T) {
	reporting(t, func(t *testing.T, d *Desk, p *plane) {
		synctest.Wait()
		if got := toldOf[boots](t, p, bootsPath); got.Booter != "b1" || len(got.Staged) != 4 || got.Boots == nil {
			t.Errorf("%+v", got)
		}
		n := p.count(bootsPath)
		time.Sleep(5 * time.Minute)
		if got := p.count(bootsPath) - n; got < 9 || got > 12 {
			t.Errorf("told %d times in five minutes of quiet", got)
		}
		if p.count(sightingsPath) != 0 {
			t.Error("sightings of nobody")
		}
		stage(t, d.store, images.Manifest{Name: "late", Boots: map[booter.Platform]images.Boots{images.Any: {Kernel: "vmlinuz"}}}, "vmlinuz")
		time.Sleep(stageEvery + reportEvery)
		synctest.Wait()
		if got := toldOf[boots](t, p, bootsPath); len(got.Staged) != 5 || !d.policy.Staged["late"] {
			t.Errorf("%+v", got)
		}
	})
}

// What was seen and served while the control plane was away is told when it is back.
func TestReporterKeepsWhatDidNotArrive(t *testing.T) {
	reporting(t, func(t *testing.T, d *Desk, p *plane) {
		synctest.Wait()
		var told atomic.Uint64
		p.on(bootsPath, func(body []byte) (any, error) {
			var b boots
			_ = json.Unmarshal(body, &b)
			for _, once := range b.Boots {
				told.Add(once.Count)
			}
			return api.BootsTaken{}, nil
		})
		p.leave(true)
		d.Answer(came(message(mac(known), 1, pxe...)))
		d.Answer(came(message(numbered(9), 1, pxe...)))
		time.Sleep(10 * time.Minute)
		d.Answer(came(message(mac(known), 1, pxe...)))
		p.leave(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := toldOf[sightings](t, p, sightingsPath); len(got.Sightings) != 1 || got.Sightings[0].MAC != numbered(9).String() {
			t.Errorf("%+v", got)
		}
		if told.Load() != 2 || d.served.Dropped != 0 {
			t.Errorf("%d boots told, %d dropped", told.Load(), d.served.Dropped)
		}
	})
}

// One that was taken in is not told again, and one that is refused for good is let go.
func TestReporterTellsOnce(t *testing.T) {
	reporting(t, func(t *testing.T, d *Desk, p *plane) {
		synctest.Wait()
		var mu sync.Mutex
		all := []api.ServedOnce{}
		p.on(bootsPath, func(body []byte) (any, error) {
			var b boots
			_ = json.Unmarshal(body, &b)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, b.Boots...)
			return api.BootsTaken{}, nil
		})
		for range 4 {
			d.Answer(came(message(mac(known), 1, pxe...)))
		}
		time.Sleep(5 * time.Minute)
		mu.Lock()
		sum := uint64(0) // a report may leave between two of them
		for _, b := range all {
			sum += b.Count
		}
		if sum != 4 {
			t.Errorf("%+v", all)
		}
		mu.Unlock()
		p.on(bootsPath, func([]byte) (any, error) { return nil, api.NewProblem("INVALID_INPUT", "no") })
		d.Answer(came(message(mac(known), 1, pxe...)))
		time.Sleep(5 * time.Minute)
		d.mu.Lock()
		defer d.mu.Unlock()
		if len(d.served.queue) != 0 {
			t.Errorf("%+v", d.served.queue)
		}
	})
}

// A storm makes no more than one report a second.
func TestReporterIsNotHurried(t *testing.T) {
	reporting(t, func(t *testing.T, d *Desk, p *plane) {
		synctest.Wait()
		n := p.count(sightingsPath)
		for i := range 1000 {
			d.Answer(came(message(numbered(i+100), 1, pxe...)))
			time.Sleep(10 * time.Millisecond)
		}
		if got := p.count(sightingsPath) - n; got > 11 {
			t.Errorf("%d reports in ten seconds", got)
		}
	})
}

// Why a machine is not admitted is there for who asks why it is silent, once, beside
// its packets.
func TestReporterTellsWhyNobodyIsAdmitted(t *testing.T) {
	reporting(t, func(t *testing.T, d *Desk, p *plane) {
		synctest.Wait()
		p.on(sightingsPath, func([]byte) (any, error) {
			return api.SightingsTaken{Admissions: []api.Admission{{MAC: numbered(9).String(), State: "discovered", Code: "UNAVAILABLE", Why: "the admin network has no free address"}}}, nil
		})
		for range 2 {
			d.Answer(came(message(numbered(9), 1, pxe...)))
			time.Sleep(2 * time.Second)
		}
		n := 0
		for _, m := range d.Why(numbered(9)).Moments {
			if m.Stage == stageReport && m.Detail == "the admin network has no free address" {
				n++
			}
		}
		if n == 0 {
			t.Errorf("%+v", d.Why(numbered(9)).Moments)
		}
	})
}
