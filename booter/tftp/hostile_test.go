package tftp

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever a client says, the session sends only blocks that the file has, no
// more than a window at once, and ends a bounded time after the client last
// got further.
func TestHostileClients(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terms := termsOf(8, rapid.IntRange(1, maxWindow).Draw(t, "window"))
		terms.sized = rapid.Bool().Draw(t, "sized")
		s, first := start(terms, rapid.Int64Range(0, 70_000*8).Draw(t, "size"), epoch)
		now, further, done := epoch, epoch, Outcome("")
		check := func(next step) {
			done = next.done
			if n := next.end - next.first; n < 0 || n > int64(max(terms.window, 1)) || n > 0 && (next.first < 0 || next.end > s.last+1) {
				t.Fatalf("%+v is out of bounds", next)
			}
			if done == "" && now.Sub(further) > 31*time.Second {
				t.Fatalf("it goes on %s after the client got further", now.Sub(further))
			}
			if s.acked > s.sent || s.sent > s.last || s.sent-s.acked > int64(terms.window) {
				t.Fatalf("%+v", s)
			}
		}
		check(first)
		for range rapid.IntRange(0, 300).Draw(t, "events") {
			if done != "" {
				return
			}
			had := s.acked
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				check(s.ack(rapid.Uint16().Draw(t, "any block"), now))
			case 1, 2, 3, 4:
				near := rapid.Int64Range(-1, int64(terms.window)+1).Draw(t, "near block")
				check(s.ack(uint16(s.acked+near), now))
			case 5:
				check(s.again(now))
			case 6:
				now = s.deadline
				check(s.tick(now))
			case 7:
				check(s.tick(now))
			default:
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(s.deadline.Sub(now))).Draw(t, "time")))
			}
			if s.acked != had {
				further = now
			}
		}
	})
}

// A client that says nothing new cannot keep a session alive.
func TestNoiseBuysLittleTime(t *testing.T) {
	s := begun(64, 1)
	s.trip = time.Millisecond
	now := epoch
	for n := 0; ; n++ {
		if now = now.Add(10 * time.Millisecond); now.Sub(epoch) > 40*time.Second {
			t.Fatal("it goes on")
		}
		s.ack(1, now)
		s.again(now)
		if step := s.tick(now); step.done != "" {
			return
		}
	}
}
