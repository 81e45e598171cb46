package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/cmd/internal/simnet"
)

// A world is a site, a machine with a disk, and what its agents logged.
type world struct {
	*site
	disk  *disk
	lives int
	logs  heap
	keep  agent.Keep // of the life that was made last
}

// in runs f in a bubble with a world.
func in(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, end := newWorld(t)
		f(t, w)
		end()
	})
}

// newWorld begins a world; end must be called before the bubble ends.
func newWorld(t *testing.T) (w *world, end func()) {
	t.Helper()
	n := simnet.New(1, simnet.Options{})
	w = &world{site: begin(t, n), disk: newDisk("A1")}
	ctx, cancel := context.WithCancel(t.Context())
	var operator sync.WaitGroup
	operator.Go(func() { w.operate(ctx) })
	return w, func() {
		cancel()
		operator.Wait()
		w.close()
		n.Close()
		w.noSecrets(t)
	}
}

// noSecrets is the canary: no key, bundle, nonce or token is seen.
func (w *world) noSecrets(t *testing.T) {
	t.Helper()
	seen := w.logs.String() + strings.Join(w.said, "\n") + strings.Join(w.failures, "\n")
	for _, s := range append(w.secrets, imageToken) {
		if strings.Contains(seen, s) {
			t.Errorf("a secret is seen: %.12s...", s)
		}
	}
}

// boot is a new life of the machine and its agent.
func (w *world) boot() (*agent.Agent, *machine) {
	w.lives++
	w.disk.mu.Lock()
	w.disk.life, w.disk.held = w.lives, 0
	w.disk.mu.Unlock()
	m := &machine{disk: w.disk, life: w.lives, set: func(what string) { w.note("%s", what) }}
	w.keep = agent.DiskKeep{Machine: own, Disks: m.Disks}
	return &agent.Agent{Machine: m, Keep: w.keep, Config: agent.Config{Booter: "booter:443", BooterPin: w.pin, Server: "ingotd:443", ServerPin: w.pin},
		Dial: w.net.Host("node").DialContext, Now: time.Now, Entropy: rand.NewChaCha8([32]byte{byte(w.lives), 3}), Log: logger(&w.logs), Version: "test",
		Tell: func(t agent.Told) {
			raw, _ := json.Marshal(t)
			fmt.Fprintf(&w.logs, "%s\n", raw)
		}}, m
}

func (w *world) row() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// A machine is announced, approved, written, and restarts; then it shows its key.
func TestEnrolment(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.serving = slowly
		w.approved(t)
		if got, want := w.happened(), "proven clock announce setup progress sentinel done restart"; got != want || w.row() != "approved" {
			t.Errorf("%s, want %s; the row is %s\n%s", got, want, w.row(), w.logs.String())
		}
		w.said = nil
		writes := w.disk.writes
		a, _ := w.boot()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := a.Run(ctx); err == nil {
			t.Error("a bound agent ended by itself")
		}
		if got, want := w.happened(), "refresh bound clock"; got != want || w.disk.writes != writes {
			t.Errorf("%s, want %s; %d writes", got, want, w.disk.writes-writes)
		}
	})
}
