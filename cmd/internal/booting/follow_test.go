package booting

import (
	"context"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
)

// feed is a control plane's side of the boot feed.
type feed struct {
	*plane
	mu   sync.Mutex
	news chan struct{}
	now  api.BootSnapshot
	was  uint64 // revision before the last change
	last api.BootDelta
}

func newFeed(s api.BootSnapshot) *feed {
	f := &feed{plane: newPlane(), now: s, was: s.Revision}
	f.on("/v1/booter/snapshot", func([]byte) (any, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.now, nil
	})
	f.on("/v1/booter/changes", f.changes)
	return f
}

// changes waits as a long poll does.
func (f *feed) changes(body []byte) (any, error) {
	q, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	wait, err := time.ParseDuration(q.Get("wait"))
	if err != nil {
		return nil, err
	}
	held := q.Get("revision")
	for until := time.After(wait); ; {
		f.mu.Lock()
		d, news := f.delta(q.Get("incarnation"), held), f.news
		f.mu.Unlock()
		if d != nil {
			return *d, nil
		}
		select {
		case <-news:
		case <-until:
			return api.BootDelta{Incarnation: q.Get("incarnation"), Revision: f.revision()}, nil
		}
	}
}

func (f *feed) revision() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now.Revision
}

func (f *feed) delta(incarnation, held string) *api.BootDelta {
	switch {
	case incarnation != f.now.Incarnation:
		return &api.BootDelta{Incarnation: f.now.Incarnation, Revision: f.now.Revision, Reset: true}
	case held == text(f.now.Revision):
		return nil
	case held == text(f.was):
		return &f.last
	}
	return &api.BootDelta{Incarnation: f.now.Incarnation, Revision: f.now.Revision, Reset: true}
}

// put changes a record.
func (f *feed) put(b api.ServedBoot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.was = f.now.Revision
	f.now.Revision++
	w := NewWorld(f.now)
	f.last = api.BootDelta{Incarnation: f.now.Incarnation, Revision: f.now.Revision, Put: []api.ServedBoot{b}}
	w.Take(f.last)
	f.now = w.Snapshot()
	close(f.news)
	f.news = make(chan struct{})
}

// restore makes it another store.
func (f *feed) restore(s api.BootSnapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now, f.was = s, s.Revision
	close(f.news)
	f.news = make(chan struct{})
}

// following runs a follower in a bubble.
func following(t *testing.T, file string, f *feed, during func(t *testing.T, d *Desk, follower *Follower)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f.news = make(chan struct{}) // of this bubble
		d := NewDesk(place(), staged(t), newKey(), time.Now)
		follower := &Follower{Client: f.client(), Desk: d, File: file, Log: quiet}
		if err := follower.Load(); err != nil && !strings.Contains(err.Error(), "is damaged") {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { follower.Run(ctx); close(ended) }()
		during(t, d, follower)
		cancel()
		<-ended
	})
}

func served1(d *Desk) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.world.boots[mac(known)].State
}

// A change is served at once, and kept a moment later, in a file of mode 0600.
func TestFollowerFollowsAndKeeps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "site.json")
	f := newFeed(snapshot(enrolling()))
	following(t, file, f, func(t *testing.T, d *Desk, follower *Follower) {
		synctest.Wait()
		if served1(d) != "enrolling" {
			t.Fatal("the site was not fetched")
		}
		if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o600 {
			t.Fatalf("%v %v", fi, err)
		}
		f.put(boot(known, "enrolled", "10.78.0.9"))
		synctest.Wait()
		if served1(d) != "enrolled" || keptAt(t, file) != 7 {
			t.Errorf("served %s, kept %d: files are not written for each change", served1(d), keptAt(t, file))
		}
		time.Sleep(2 * saveEvery)
		synctest.Wait()
		if keptAt(t, file) != 8 {
			t.Errorf("kept %d", keptAt(t, file))
		}
		if n := f.count("/v1/booter/snapshot"); n != 1 {
			t.Errorf("%d snapshots", n)
		}
	})
}

func keptAt(t *testing.T, file string) uint64 {
	t.Helper()
	d := newDesk(t, place(), still)
	if err := (&Follower{Desk: d, File: file}).Load(); err != nil {
		t.Fatal(err)
	}
	return d.world.Revision
}

// Who waits for a revision has it served and kept when Wait returns.
func TestWaitIsAfterTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "site.json")
	f := newFeed(snapshot(enrolling()))
	following(t, file, f, func(t *testing.T, d *Desk, follower *Follower) {
		synctest.Wait()
		if err := follower.Wait(t.Context(), 7); err != nil {
			t.Error(err)
		}
		short, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		if err := follower.Wait(short, 99); err == nil {
			t.Error("a revision that never came")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- follower.Wait(ctx, 8) }()
		synctest.Wait()
		start := time.Now()
		f.put(boot(known, "enrolled", "10.78.0.9"))
		if err := <-done; err != nil || served1(d) != "enrolled" || keptAt(t, file) != 8 || time.Since(start) > 0 {
			t.Errorf("%v %s %d after %s", err, served1(d), keptAt(t, file), time.Since(start))
		}
		go func() { done <- follower.Wait(ctx, 9) }()
		synctest.Wait()
		f.put(boot(known, "enrolling", "10.78.0.9")) // the file was written a moment ago
		if err := <-done; err != nil || keptAt(t, file) != 9 || time.Since(start) > 0 {
			t.Errorf("%v %d after %s: who waits for the file waits for nothing else", err, keptAt(t, file), time.Since(start))
		}
		f.put(boot(known, "decommissioned", "10.78.0.9")) // nobody waits yet
		synctest.Wait()
		start = time.Now()
		if err := follower.Wait(ctx, 10); err != nil || keptAt(t, file) != 10 || time.Since(start) > 2*saveEvery {
			t.Errorf("%v %d after %s", err, keptAt(t, file), time.Since(start))
		}
	})
}

// Machines are served from the file while the control plane is away, and what changed
// meanwhile comes when it is back.
func TestFollowerAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "site.json")
	f := newFeed(snapshot(enrolling()))
	following(t, file, f, func(t *testing.T, _ *Desk, _ *Follower) { synctest.Wait() })
	f.leave(true)
	following(t, file, f, func(t *testing.T, d *Desk, _ *Follower) {
		time.Sleep(time.Hour)
		synctest.Wait()
		if served1(d) != "enrolling" {
			t.Errorf("%q", served1(d))
		}
		if age := d.standing().age; age < time.Hour {
			t.Errorf("the feed is %s old", age)
		}
		if n := f.count("/v1/booter/changes"); n > 200 {
			t.Errorf("%d tries in an hour", n)
		}
		f.put(boot(known, "enrolled", "10.78.0.9"))
		f.leave(false)
		time.Sleep(lastRetry)
		synctest.Wait()
		if served1(d) != "enrolled" || d.standing().age > lastRetry {
			t.Errorf("%q %s", served1(d), d.standing().age)
		}
	})
}

// Another store's site takes the place of what is known, at a lower revision too.
func TestFollowerTakesARestoredStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "site.json")
	f := newFeed(snapshot(enrolling()))
	following(t, file, f, func(t *testing.T, d *Desk, _ *Follower) {
		synctest.Wait()
		f.restore(api.BootSnapshot{Incarnation: "i2", Revision: 3, Policy: policy(), Boots: []api.ServedBoot{boot(known, "discovered", "")}})
		time.Sleep(time.Second)
		synctest.Wait()
		if served1(d) != "discovered" || keptAt(t, file) != 3 {
			t.Errorf("%q, kept %d", served1(d), keptAt(t, file))
		}
	})
}

// A damaged file is said, and fetched anew.
func TestFollowerMendsItsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "site.json")
	for _, damage := range []string{"", "{", `{"boots":`, "junk"} {
		if err := os.WriteFile(file, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		d := newDesk(t, place(), still)
		if err := (&Follower{Desk: d, File: file}).Load(); err == nil || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%q: %v", damage, err)
		}
		f := newFeed(snapshot(enrolling()))
		following(t, file, f, func(t *testing.T, d *Desk, _ *Follower) {
			synctest.Wait()
			if served1(d) != "enrolling" || keptAt(t, file) != 7 {
				t.Errorf("%q: %q", damage, served1(d))
			}
		})
	}
	d := newDesk(t, place(), still)
	if err := (&Follower{Desk: d, File: filepath.Join(t.TempDir(), "none")}).Load(); err != nil {
		t.Errorf("a first start: %v", err)
	}
	if err := (&Follower{Desk: d, File: t.TempDir()}).Load(); err == nil {
		t.Error("a folder is loaded")
	}
}

// A disk that is full does not keep a booter from serving.
func TestFollowerServesWithoutADisk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gone", "site.json")
	f := newFeed(snapshot(enrolling()))
	following(t, file, f, func(t *testing.T, d *Desk, follower *Follower) {
		if err := follower.Wait(t.Context(), 7); err != nil || served1(d) != "enrolling" {
			t.Errorf("%v %q", err, served1(d))
		}
		if _, err := os.Stat(file); !os.IsNotExist(err) && err != fs.ErrNotExist {
			t.Error(err)
		}
	})
}

// quietFeed is a control plane whose polls bring no news, and last as long as they may.
type quietFeed struct{ *plane }

func (q quietFeed) RoundTrip(r *http.Request) (*http.Response, error) {
	wait, _ := time.ParseDuration(r.URL.Query().Get("wait"))
	select {
	case <-time.After(wait):
		return q.plane.RoundTrip(r)
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// Who waits for a revision that changed no boot record, such as that of a setup that
// failed, does not wait for the feed's next news, which may be half a minute away.
func TestWaitingForARevisionWithoutNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlane()
		var head atomic.Uint64
		head.Store(7)
		p.on("/v1/booter/changes", func([]byte) (any, error) {
			return api.BootDelta{Incarnation: "i1", Revision: head.Load()}, nil
		})
		f := &Follower{Client: &api.Client{Base: "http://plane", HTTP: &http.Client{Transport: quietFeed{p}}}, Desk: newDesk(t, place(), time.Now), File: filepath.Join(t.TempDir(), "site.json"), Log: quiet}
		f.keep(7, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { f.Run(ctx) })
		time.Sleep(10 * time.Second)
		head.Store(8)
		began := time.Now()
		if err := f.Wait(ctx, 8); err != nil || time.Since(began) > time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		brief, end := context.WithTimeout(ctx, time.Second)
		defer end()
		if err := f.Wait(brief, 99); err == nil {
			t.Error("it is there before it was")
		}
		polls := p.count("/v1/booter/changes")
		time.Sleep(5 * time.Minute)
		if n := p.count("/v1/booter/changes") - polls; n > 12 {
			t.Errorf("%d polls in five minutes in which nobody waits", n)
		}
		cancel()
		all.Wait()
	})
}
