package booter_test

import (
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"pgregory.net/rapid"
)

// A window must count as a list of all events would.
func TestWindowCountsLikeAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := booter.Limit{Max: rapid.IntRange(1, 5).Draw(t, "max"), Per: time.Duration(rapid.IntRange(1, 8).Draw(t, "per"))}
		w := booter.NewWindow[int](limit, 4)
		all, at := map[int][]time.Time{}, now
		keys := rapid.IntRange(0, 3)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				k := keys.Draw(t, "key")
				w.Add(k, at)
				all[k] = append(all[k], at)
			},
			"wait": func(t *rapid.T) { at = at.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "ns"))) },
			"": func(t *rapid.T) {
				for k := range 4 {
					want := 0
					for _, e := range all[k] {
						if at.Sub(e) < limit.Per {
							want++
						}
					}
					if got := w.Count(k, at); got != min(want, limit.Max) {
						t.Fatalf("key %d: %d, want %d of at most %d", k, got, want, limit.Max)
					}
				}
			},
		})
	})
}

func TestWindowIsBounded(t *testing.T) {
	w := booter.NewWindow[int](booter.Limit{Max: 2, Per: time.Hour}, 3)
	for k := range 100 {
		w.Add(k, now)
		w.Add(0, now) // never the oldest
	}
	if w.Len() != 3 {
		t.Errorf("%d keys, want 3", w.Len())
	}
	if w.Count(0, now) != 2 || w.Count(99, now) != 1 || w.Count(50, now) != 0 {
		t.Error("it forgot another key than the oldest")
	}
}

// A clock set back an hour must not silence a client for an hour.
func TestWindowClockGoesBack(t *testing.T) {
	w := booter.NewWindow[int](booter.Limit{Max: 1, Per: time.Minute}, 3)
	w.Add(1, now)
	if got := w.Count(1, now.Add(-time.Hour)); got != 0 {
		t.Errorf("%d events in the past of the first", got)
	}
	w.Add(1, now.Add(-time.Hour))
	if got := w.Count(1, now.Add(-time.Hour)); got != 1 {
		t.Errorf("%d after a new one", got)
	}
}

func TestWindowWithoutLimit(t *testing.T) {
	for _, l := range []booter.Limit{{}, {Max: 1}, {Per: 1}, {Max: -1, Per: -1}} {
		w := booter.NewWindow[int](l, 0)
		w.Add(1, now)
		if w.Count(1, now) != 0 || w.Len() != 0 {
			t.Errorf("%+v counts", l)
		}
	}
}

// booth is a policy with its memory, and sends packets of one machine.
type booth struct {
	p booter.Policy
	m *booter.Memory
}

func open(l booter.Limits) *booth {
	b := &booth{site(), booter.NewMemory(l)}
	b.p.Limits = l
	return b
}

func (b *booth) send(req booter.Request, at time.Time) booter.Silence {
	req.Recent = b.m.Recall(&b.p, req, at)
	reply, why := b.p.Answer(enrolling(), req, at)
	b.m.Note(req, reply, why, at)
	return why
}

func rateOfOneMAC(t *testing.T) {
	b := open(booter.Limits{})
	for n := range 20 {
		if why := b.send(discover(), now); why != "" {
			t.Fatalf("packet %d: %q", n+1, why)
		}
	}
	if why := b.send(discover(), now.Add(10*time.Second-1)); why != booter.RateMAC {
		t.Errorf("packet 21 within 10 s: %q", why)
	}
	neighbour := discover()
	neighbour.MAC[5]++
	if why := b.send(neighbour, now); why != "" {
		t.Errorf("another MAC: %q", why)
	}
	if why := b.send(discover(), now.Add(10*time.Second)); why != "" {
		t.Errorf("10 s later: %q", why)
	}
}

func rateOfTheSite(t *testing.T) {
	b := open(booter.Limits{})
	for n := range 5000 {
		req := discover()
		req.MAC[4], req.MAC[5] = byte(n>>8), byte(n)
		if why := b.send(req, now); why != "" {
			t.Fatalf("packet %d: %q", n+1, why)
		}
	}
	req := discover()
	req.MAC[3] = 1
	if why := b.send(req, now.Add(time.Second-1)); why != booter.RateSite {
		t.Errorf("packet 5,001 in a second: %q", why)
	}
	if why := b.send(req, now.Add(time.Second)); why != "" {
		t.Errorf("a second later: %q", why)
	}
}

func bootLoop(t *testing.T) {
	b := open(booter.Limits{})
	chained := request()
	chained.UserClasses = []string{"ingot"}
	at := now
	for n := range 10 {
		for _, req := range []booter.Request{discover(), request(), boot4011(), chained} {
			if why := b.send(req, at); why != "" {
				t.Fatalf("boot %d: %q", n+1, why)
			}
		}
		at = at.Add(30 * time.Second)
	}
	if why := b.send(discover(), at); why != booter.BootLoop {
		t.Errorf("boot 11: %q", why)
	}
	if why := b.send(chained, at); why != booter.BootLoop {
		t.Errorf("boot 11 of our iPXE: %q", why)
	}
	other := discover()
	other.Class = "HTTPClient"
	if why := b.send(other, at); why != "" {
		t.Errorf("another stage: %q", why)
	}
	if why := b.send(discover(), now.Add(10*time.Minute)); why != "" {
		t.Errorf("10 min after the first: %q", why)
	}
}

// A client that is silenced by no limit of its own still counts, but what a
// rate limit silenced does not: it cannot lock itself out.
func TestWhatCounts(t *testing.T) {
	b := open(booter.Limits{MAC: booter.Limit{Max: 2, Per: 10 * time.Second}})
	alien := discover()
	alien.Archs = []booter.Arch{99}
	for range 2 {
		b.send(alien, now)
	}
	for s := range 10 {
		if why := b.send(discover(), now.Add(time.Duration(s)*time.Second)); why != booter.RateMAC {
			t.Fatalf("second %d: %q", s, why)
		}
	}
	if why := b.send(discover(), now.Add(10*time.Second)); why != "" {
		t.Errorf("it locked itself out: %q", why)
	}
}

// A malformed packet may carry anybody's MAC, so it counts for the site only.
func TestMalformedDoesNotCountForTheMAC(t *testing.T) {
	b := open(booter.Limits{MAC: booter.Limit{Max: 1}, Site: booter.Limit{Max: 3}})
	broken := discover()
	broken.Parsed = booter.FlawOption
	b.send(broken, now)
	b.send(broken, now)
	if why := b.send(discover(), now); why != "" {
		t.Errorf("the victim: %q", why)
	}
	neighbour := discover()
	neighbour.MAC[5]++
	if why := b.send(neighbour, now); why != booter.RateSite {
		t.Errorf("the site: %q", why)
	}
}

// An offer lets a bare REQUEST through until the client chooses another
// server.
func offersAreRemembered(t *testing.T) {
	lean := request()
	lean.Class, lean.Archs = "", nil
	toOther := request()
	toOther.ServerID = other
	b := open(booter.Limits{})
	if why := b.send(lean, now); why != booter.NotPXE {
		t.Errorf("before the offer: %q", why)
	}
	b.send(discover(), now)
	if why := b.send(lean, now.Add(time.Minute)); why != "" {
		t.Errorf("after the offer: %q", why)
	}
	if why := b.send(toOther, now.Add(time.Minute)); why != booter.OtherServer {
		t.Errorf("to the other: %q", why)
	}
	if why := b.send(lean, now.Add(time.Minute)); why != booter.NotPXE {
		t.Errorf("after the other was chosen: %q", why)
	}
}
