package agent_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/disklayout"
)

// approved runs a life that must end set up.
func (w *world) approved(t *testing.T) {
	t.Helper()
	a, _ := w.boot()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
	defer cancel()
	if err := a.Run(ctx); err != nil || w.row() != "approved" {
		t.Errorf("%v, the row is %s\n%s\n%s", err, w.row(), w.logs.String(), strings.Join(w.said, "\n"))
	}
}

// count is how often something happened.
func (w *world) count(what string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, s := range w.said {
		if s == what || strings.HasPrefix(s, what+" ") {
			n++
		}
	}
	return n
}

// Connections come and go while a setup is written: the install goes on, the image is
// fetched on from where it was, the same setup is not begun twice, and the sentinel is
// said again until it is heard.
func TestConnectionsBreak(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		unheard := 3
		w.serving, w.done = slowly, func(uint64) bool { unheard--; return unheard < 0 }
		ctx, cancel := context.WithCancel(t.Context())
		breaks := make(chan bool)
		go func() {
			defer close(breaks)
			for ctx.Err() == nil {
				time.Sleep(1500 * time.Millisecond)
				w.net.ResetBetween("node", "booter")
			}
		}()
		w.sentinel = func(uint64) { cancel() }
		w.approved(t)
		<-breaks
		if w.count("proven") < 3 || w.count("setup") < 2 || w.count("sentinel") != 4 || w.count("failed") != 0 || w.count("restart") != 1 {
			t.Errorf("%s", strings.Join(w.said, "\n"))
		}
	})
}

// What an order says is held against the machine before the first write, the reason is
// told, and a right one is carried out after that.
func TestOrdersRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*sessions.Order)
		why   string
	}{
		"no layout":       {func(o *sessions.Order) { o.Plan.Layout = nil }, "no layout"},
		"no digest":       {func(o *sessions.Order) { o.Plan.Digest = "" }, "does not name the digest"},
		"another digest":  {func(o *sessions.Order) { o.Plan.Digest = strings.Repeat("0", 64) }, "not the one that was approved"},
		"another machine": {change(func(p *disklayout.Plan) { p.Server[0] ^= 1 }), "another machine's"},
		"another plan":    {change(func(p *disklayout.Plan) { p.Table.Free++; p.Table.Parts[1].Size += mib }), "not the one that was approved"},
		"another key":     {func(o *sessions.Order) { o.Plan.AgentKey = strings.Repeat("0", 64) }, "another agent's key"},
		"no key":          {func(o *sessions.Order) { o.Plan.AgentKey = "" }, "another agent's key"},
		"another disk":    {again(func(p *disklayout.Plan) { p.Disks[0].Size += mib }), "disk_changed"},
		"no such disk":    {again(func(p *disklayout.Plan) { p.Disks[0].Serial = "B2" }), "no_such_disk"},
		"no pin":          {func(o *sessions.Order) { o.ServerPin = "" }, "no pin"},
		"odd server":      {func(o *sessions.Order) { o.Server = "x" }, "no form"},
		"no image":        {func(o *sessions.Order) { o.ImageURL = "" }, "its address is none of HTTP"},
		"image elsewhere": {func(o *sessions.Order) { o.ImageURL = "https://booter:443/nowhere/" + imageToken }, "404"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				w.approves, w.order = 2, func(o *sessions.Order) {
					if w.epoch == 1 {
						c.spoil(o)
					}
				}
				writes := -1
				w.site.step = func() {
					if writes < 0 && w.count("failed") == 1 {
						writes = w.disk.writes
					}
				}
				w.approved(t)
				if len(w.failures) != 1 || !strings.Contains(w.failures[0], c.why) || writes != 0 || w.count("announce") < 2 {
					t.Errorf("failures %q, %d writes before, %s", w.failures, writes, w.happened())
				}
			})
		})
	}
}

// change spoils a copy of the plan and leaves its digest.
func change(f func(*disklayout.Plan)) func(*sessions.Order) {
	return func(o *sessions.Order) {
		p := *o.Plan.Layout
		table := *p.Table
		table.Parts = append([]disklayout.Part(nil), table.Parts...)
		p.Table, p.Disks = &table, append([]disklayout.Written(nil), p.Disks...)
		f(&p)
		o.Plan.Layout = &p
	}
}

// again is change with the digest of what came out, as if that had been approved.
func again(f func(*disklayout.Plan)) func(*sessions.Order) {
	return func(o *sessions.Order) {
		change(func(p *disklayout.Plan) { f(p); p.Digest = p.Sum() })(o)
		o.Plan.Digest = o.Plan.Layout.Digest.String()
	}
}

// An image that is not the plan's is written, noticed, and rebuilt by the next setup.
func TestWrongImage(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.approves = 2
		w.serving = func(rw http.ResponseWriter, r *http.Request, image []byte) {
			wrong := append([]byte(nil), image...)
			if w.count("setup") == 1 {
				wrong[1000] ^= 1
			}
			http.ServeContent(rw, r, "", time.Time{}, strings.NewReader(string(wrong)))
		}
		w.approved(t)
		if len(w.failures) != 1 || !strings.Contains(w.failures[0], "image_mismatch") {
			t.Errorf("%q", w.failures)
		}
	})
}

// A clock that cannot be set ends each session before anything is said.
func TestNoClock(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		a, m := w.boot()
		m.clock = errors.New("not permitted")
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := a.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if w.count("announce") != 0 || w.count("clock") < 30 || w.count("clock") > 200 || !strings.Contains(w.logs.String(), "SET-7") {
			t.Errorf("%d announces, %d tries of the clock", w.count("announce"), w.count("clock"))
		}
	})
}

// A newer setup ends the one that runs, whose attempt is dead. Where it was planned
// before that one's mark was on the disk, it is refused for that, the disk is announced
// as it is, and the next one is carried out: only its key is kept.
func TestNewerSetup(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.approves = 3
		w.site.step = func() {
			if w.count("progress 1 image") == 1 && w.count("setup") == 1 {
				w.mu.Lock()
				w.until = time.Now()
				w.mu.Unlock()
			}
		}
		w.serving = func(rw http.ResponseWriter, r *http.Request, image []byte) {
			if w.count("setup") == 1 {
				http.ServeContent(slow{slow{slow{slow{slow{slow{slow{slow{rw}}}}}}}}, r, "", time.Time{}, strings.NewReader(string(image)))
				return
			}
			slowly(rw, r, image)
		}
		w.approved(t)
		if w.count("sentinel 1")+w.count("sentinel 2")+w.count("failed 1") != 0 || w.count("failed 2") != 1 || w.count("sentinel 3") == 0 {
			t.Errorf("%s", strings.Join(w.said, "\n"))
		}
		if raw, _ := w.keep.Load(); !strings.Contains(string(raw), w.bound) {
			t.Error("the key that is kept is not the last's")
		}
	})
}

// A site that ended the setup before it heard the sentinel gets no restart out of it.
func TestEndedMeanwhile(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.approves = 2
		w.sentinel = func(epoch uint64) {
			if epoch == 1 {
				w.mu.Lock()
				w.state, w.bound = "awaiting_setup", ""
				w.mu.Unlock()
			}
		}
		w.approved(t)
		if w.epoch != 2 || w.count("restart") != 1 || !strings.Contains(w.logs.String(), "has ended it meanwhile") {
			t.Errorf("epoch %d, %s", w.epoch, w.happened())
		}
	})
}

// A disk that comes is announced at once; while nothing changes, the announce is
// renewed every ten minutes, five times in this hour.
func TestInventoryChanges(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.approves = 0
		a, m := w.boot()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		go func() {
			time.Sleep(33 * time.Minute)
			w.disk.mu.Lock()
			w.disk.disk.Size += mib
			w.disk.mu.Unlock()
		}()
		_ = a.Run(ctx)
		if w.count("announce") != 2+5 || w.count("proven") != 1 || m.life != 1 {
			t.Errorf("%d announces, %d sessions", w.count("announce"), w.count("proven"))
		}
	})
}

// An announce that met the attempt of an agent that is gone is repeated, so that the
// row has this agent's key soon after that attempt's deadline.
func TestAnnounceIsRepeatedWhileAnotherAttemptRuns(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.state, w.drained, w.until, w.key = "setting_up", true, time.Now().Add(40*time.Minute), "another's"
		began := time.Now()
		w.approved(t)
		if took := time.Since(began); w.epoch != 1 || took < 40*time.Minute || took > 43*time.Minute {
			t.Errorf("set up after %s, epoch %d: %s", took, w.epoch, w.happened())
		}
	})
}

// A machine that does not restart is tried again.
func TestRestartFails(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		a, m := w.boot()
		tries := 0
		m.restart = func() error {
			if tries++; tries < 3 {
				return fmt.Errorf("try %d", tries)
			}
			return nil
		}
		if err := a.Run(t.Context()); err != nil || tries != 3 {
			t.Errorf("%v after %d tries", err, tries)
		}
	})
}

// A bound agent whose key is revoked says so, and announces the machine again, from
// whichever side it hears that; a control plane that is away is waited for.
func TestRevoked(t *testing.T) {
	for name, cut := range map[string]func(*world){
		"by a bye":     func(*world) {},
		"at a refresh": func(w *world) { w.net.ResetBetween("node", "ingotd") },
		"after an away": func(w *world) {
			w.net.Partition([]string{"node"}, []string{"ingotd"})
			time.Sleep(time.Hour)
			w.net.Rejoin([]string{"node"}, []string{"ingotd"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				w.approved(t)
				w.approves, w.said = 0, nil
				go func() {
					time.Sleep(10 * time.Minute)
					if w.happened() != "refresh bound clock" {
						t.Errorf("after ten minutes: %s", w.happened())
					}
					w.mu.Lock()
					w.bound, w.state = "", "awaiting_setup"
					w.mu.Unlock()
					cut(w)
				}()
				a, _ := w.boot()
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
				defer cancel()
				if err := a.Run(ctx); !errors.Is(err, context.DeadlineExceeded) || w.count("announce") == 0 || !strings.Contains(w.logs.String(), "the key of this machine is dead") {
					t.Errorf("%v, %s", err, w.happened())
				}
			})
		})
	}
}

// Without a booter a dead key is the end, and says what to do.
func TestRevokedWithoutABooter(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.approved(t)
		w.mu.Lock()
		w.bound = ""
		w.mu.Unlock()
		a, _ := w.boot()
		a.Config.Booter = ""
		err := a.Run(t.Context())
		if revoked, ok := errors.AsType[*agent.Revoked](err); !ok || revoked.Code() != "UNAUTHENTICATED" {
			t.Error(err)
		}
	})
}
