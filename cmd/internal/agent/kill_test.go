package agent_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/cmd/internal/agent"
)

// A run is a machine that loses its power at some steps of its life: a step is a
// write, a sync, or a message at the site.
type run struct {
	*world
	cuts []int // steps after the one before
	left int   // steps until the next cut; negative: none
	off  chan struct{}
	mu   sync.Mutex

	lost    int
	written []string // what went wrong
	over    bool     // Done has been sent: the site says approved
}

// step counts a step, and reports whether the machine still has power.
func (r *run) step() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left > 0 {
		r.left--
	}
	if r.left == 0 {
		r.left = -1
		r.lost++
		close(r.off)
		r.disk.mu.Lock()
		r.disk.life = -1 // nothing reaches the medium any more
		r.disk.mu.Unlock()
		return false
	}
	return true
}

func (r *run) arm() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left, r.off = -1, make(chan struct{})
	if len(r.cuts) > 0 {
		r.left, r.cuts = r.cuts[0], r.cuts[1:]
	}
}

// live boots the machine again and again until it was let in and stays so, and
// returns how the last life ended.
func (r *run) live(t *testing.T) string {
	for range 10 {
		r.arm()
		a, _ := r.boot()
		off := r.off
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
		ended := make(chan error, 1)
		go func() { ended <- a.Run(ctx) }()
		var err error
		select {
		case err = <-ended:
			cancel()
		case <-off:
			r.net.Kill("node")
			cancel()
			<-ended
			time.Sleep(20 * time.Second) // it boots
			continue
		}
		switch {
		case err == nil:
			r.restarted()
			continue
		case errors.Is(err, context.DeadlineExceeded):
			return "stays"
		}
		return err.Error()
	}
	return "boots for ever"
}

// restarted is a machine that says that it is set up.
func (r *run) restarted() {
	if state := r.row(); state != "approved" {
		r.fault("it restarted, and its row is " + state)
	}
}

func (r *run) fault(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.written = append(r.written, what)
}

// kept reads what is on the disk now, as whoever finds it.
func (r *run) kept() string {
	raw, err := r.keep.Load()
	if err != nil {
		r.fault(err.Error())
	}
	return string(raw)
}

// check is what holds for every life: the key is on the disk when the sentinel comes,
// and nothing but what is kept is written once the site said that it is done.
func (r *run) check() {
	r.disk.wrote = func(at int64) bool {
		if !r.step() {
			return false
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.over && at >= 0 && (at < agent.KeepFirst || at >= agent.KeepSecond+agent.KeepSize) {
			r.written = append(r.written, "a write after the end")
		}
		return true
	}
	r.site.step = func() { r.step() }
	r.sentinel = func(epoch uint64) {
		r.site.mu.Lock()
		bound, current := r.bound, r.epoch == epoch
		r.site.mu.Unlock()
		if current && !strings.Contains(r.kept(), `"`+bound+`"`) {
			r.fault("a sentinel without the key on the disk")
		}
	}
	r.done = func(uint64) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.over = r.row() == "approved"
		return true
	}
}

// A machine that loses its power anywhere, again and again, is let in in the end, with
// its key on its disk.
func TestPowerIsLostAnywhere(t *testing.T) {
	cuts := rapid.SliceOfN(rapid.IntRange(1, steps), 2, 4)
	for seed := range 12 {
		lifeWith(t, cuts.Example(seed))
	}
}

// steps are more than a life has.
const steps = 36

// Each single step, once.
func TestPowerIsLostAtEachStep(t *testing.T) {
	happened := 0
	for at := 1; at <= steps; at++ {
		happened += lifeWith(t, []int{at})
	}
	if happened < 25 || happened == steps {
		t.Errorf("the power was lost %d times in %d lives: the steps are not those that a life has", happened, steps)
	}
}

// lifeWith runs a machine whose power is lost so, and returns how often it was.
func lifeWith(t *testing.T, cuts []int) (lost int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, end := newWorld(t)
		r := &run{world: w, cuts: cuts}
		w.approves = 100
		r.check()
		how := r.live(t)
		if how != "stays" || w.count("restart") == 0 || w.row() != "approved" || !strings.Contains(r.kept(), `"`+w.bound+`"`) || len(r.written) > 0 {
			t.Errorf("cuts at %v: the machine %s, its row is %s, faults %q\n%s", cuts, how, w.row(), r.written, strings.Join(w.said, "\n"))
		}
		end()
		lost = r.lost
	})
	return lost
}
