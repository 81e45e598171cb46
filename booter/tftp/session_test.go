package tftp

import (
	"fmt"
	"testing"
	"time"
)

var epoch = time.Unix(1000, 0)

func at(d time.Duration) time.Time { return epoch.Add(d) }

// begun is a session over ten blocks of which the client has the first n,
// acknowledged window by window, or the OACK for 0.
func begun(window int, n uint16) *session {
	t := terms{block: 512, window: window, sized: true, oack: []option{{"tsize", "5000"}}}
	s, _ := start(t, 9*512+1, epoch)
	for i := range n + 1 {
		if i%uint16(window) == 0 || i == n {
			s.ack(i, epoch)
		}
	}
	return s
}

func blocks(s step) string {
	if s.first == s.end {
		return string(s.done)
	}
	return fmt.Sprintf("%d-%d%s", s.first, s.end-1, s.done)
}

func want(t *testing.T, what string, s step, blocksWanted string) {
	t.Helper()
	if got := blocks(s); got != blocksWanted {
		t.Errorf("%s: got %q, want %q", what, got, blocksWanted)
	}
}

func TestBeginnings(t *testing.T) {
	_, first := start(terms{block: 512, window: 1}, 0, epoch)
	want(t, "an empty file without options", first, "1-1")
	s, first := start(terms{block: 512, window: 4, oack: []option{{"windowsize", "4"}}}, 512, epoch)
	want(t, "with options", first, "0-0")
	want(t, "the OACK's ACK", s.ack(0, epoch), "1-2")
	want(t, "the last", s.ack(2, epoch), "complete")
}

func lockstep(t *testing.T) {
	s := begun(1, 3)
	want(t, "a repeated ACK", s.ack(3, at(time.Second)), "")
	want(t, "an old ACK", s.ack(1, epoch), "")
	want(t, "an ACK from the future", s.ack(5, epoch), "")
	want(t, "the next ACK", s.ack(4, epoch), "5-5")
}

func windows(t *testing.T) {
	s := begun(4, 0)
	want(t, "all of it", s.ack(4, epoch), "5-8")
	want(t, "a gap within it", s.ack(6, epoch), "7-10")
	s = begun(4, 0)
	want(t, "a gap at its start", s.ack(0, epoch), "1-4")
	want(t, "perhaps the echo of what came twice", s.ack(0, epoch), "")
	want(t, "all of it", s.ack(4, epoch), "5-8")
	want(t, "again an echo", s.ack(4, epoch), "")
	want(t, "all of the next", s.ack(8, epoch), "9-10")
	want(t, "a gap after a whole window", s.ack(8, epoch), "9-10")
	want(t, "the end", s.ack(10, epoch), "complete")
}

// What may be an echo or a gap is decided by a short wait, once.
func TestShortWait(t *testing.T) {
	s := begun(4, 0)
	want(t, "a gap", s.ack(2, epoch), "3-6")
	want(t, "a gap or an echo", s.ack(3, epoch), "7-7")
	if left := s.deadline.Sub(epoch); left != shortWait {
		t.Errorf("a wait of %s", left)
	}
	want(t, "it was a gap", s.tick(at(shortWait)), "4-7")
	want(t, "or an echo, once more", s.ack(3, at(shortWait)), "")
	if left := s.deadline.Sub(at(shortWait)); left != firstWait || s.tries != 0 {
		t.Errorf("a wait of %s after %d tries", left, s.tries)
	}
	want(t, "further", s.ack(7, at(shortWait)), "8-10")
	s = begun(4, 0)
	s.ack(0, epoch)
	want(t, "a gap at the start, again", s.ack(0, epoch), "")
	want(t, "decided soon", s.tick(at(shortWait)), "1-4")
	s, _ = start(begun(4, 0).terms, 9*512+1, at(-time.Second/8)) // a client that takes its time
	s.ack(0, epoch)
	s.ack(2, epoch)
	s.ack(3, epoch)
	if left := s.deadline.Sub(epoch); left != time.Second/2 {
		t.Errorf("with a slow client a wait of %s", left)
	}
}

// A client that repeats one ACK forever gets a few answers, and then time runs
// out as if it were silent.
func repeatingClientEnds(t *testing.T) {
	s := begun(4, 4)
	s.trip = time.Millisecond
	now, bursts := epoch, 0
	for range 1000 {
		now = now.Add(100 * time.Millisecond)
		step := s.ack(4, now)
		if step.end > step.first {
			bursts++
		}
		if step = s.tick(now); step.done != "" {
			if bursts > maxTries || step.done != TimedOut {
				t.Errorf("%s after %d bursts", step.done, bursts)
			}
			return
		}
	}
	t.Error("it does not end")
}

func TestWaitsGrow(t *testing.T) {
	for asked, wants := range map[time.Duration][]int{
		0:   {1, 3, 7, 15, 23, 31},
		1:   {1, 3, 7, 15, 23, 31},
		10:  {10, 20, 30, 40, 50, 60},
		30:  {30, 60},
		255: {255, 510},
	} {
		s, _ := start(terms{block: 512, window: 1, timeout: asked * time.Second}, 511, epoch)
		for i, after := range wants {
			now := at(time.Duration(after) * time.Second)
			if !s.deadline.Equal(now) {
				t.Fatalf("timeout %d: deadline %d is %s, want %s", asked, i, s.deadline.Sub(epoch), now.Sub(epoch))
			}
			want(t, "early", s.tick(now.Add(-1)), "")
			next := "1-1"
			if i == len(wants)-1 {
				next = "timed-out"
			}
			want(t, "in time", s.tick(now), next)
		}
	}
}

// An ACK sets the waits back.
func TestProgressSetsWaitsBack(t *testing.T) {
	s := begun(1, 0)
	s.tick(at(time.Second))
	s.tick(at(3 * time.Second))
	s.ack(1, at(4*time.Second))
	if left := s.deadline.Sub(at(4 * time.Second)); left != time.Second || s.tries != 0 {
		t.Errorf("%s left after %d tries", left, s.tries)
	}
}

func endings(t *testing.T) {
	for name, c := range map[string]struct {
		s    *session
		code uint16
		want Outcome
	}{
		"enough of the OACK":     {begunFresh(true), errOptions, Probed},
		"enough, said otherwise": {begunFresh(true), errOther, Probed},
		"after its ACK":          {begun(4, 0), errOther, Probed},
		"disk full":              {begunFresh(true), 3, Aborted},
		"options not liked":      {begunFresh(false), errOptions, Aborted},
		"in the middle":          {begun(4, 4), errOther, Aborted},
	} {
		if got := c.s.fail(c.code); got.done != c.want {
			t.Errorf("%s: %s, want %s", name, got.done, c.want)
		}
	}
	s := begun(4, 8)
	for i := range maxTries + 1 {
		s.deadline = epoch
		step := s.tick(epoch)
		if i == maxTries {
			want(t, "the last ACK is missing", step, "unconfirmed")
		}
	}
}

func begunFresh(sized bool) *session {
	s, _ := start(terms{block: 512, window: 4, sized: sized, oack: []option{{"blksize", "512"}}}, 5000, epoch)
	return s
}

func TestSameRequestAgain(t *testing.T) {
	s := begunFresh(true)
	deadline := s.deadline
	want(t, "before the client went on", s.again(at(time.Millisecond)), "0-0")
	if !s.deadline.Equal(deadline) {
		t.Error("it buys time")
	}
	s.ack(0, epoch)
	want(t, "an old packet", s.again(epoch), "")
	s.tick(at(time.Second))
	want(t, "after a silence", s.again(at(2*time.Second)), "superseded")
}

func TestBytes(t *testing.T) {
	for n, want := range map[uint16]int64{0: 0, 1: 512, 9: 9 * 512, 10: 9*512 + 1} {
		if got := begun(1, n).bytes(9*512 + 1); got != want {
			t.Errorf("%d blocks are %d bytes", n, got)
		}
	}
}
