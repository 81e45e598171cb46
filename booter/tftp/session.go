package tftp

import "time"

// How long the client is waited for. With its defaults a transfer ends 31
// seconds after the last sign of life.
const (
	firstWait   = time.Second      // where the client asked for no timeout
	longestWait = 8 * time.Second  // waits double up to this, or stay at the client's timeout if that is longer
	maxTries    = 5                // resends in a row
	patience    = 60 * time.Second // of silence, after which nothing is sent again but once
)

// A session is one transfer as a value: what the client has, and what it is
// sent next. It knows no socket, no file and no clock.
//
// Blocks are counted from 1 and never wrap here. Block 0 is the OACK, which
// the client acknowledges like one.
type session struct {
	terms
	last   int64 // the file's last block, the one that is not full
	acked  int64 // the client has all blocks up to here; -1 before it has the OACK
	sent   int64 // the highest block that was sent
	twice  int64 // the highest block that was sent more than once, or -1
	resent int64 // how many were
	heard  bool  // the client has acknowledged something

	sentAt, resentAt time.Time
	trip             time.Duration // from a burst to its ACK, when last measured

	wait     time.Duration
	deadline time.Time     // when to call tick
	tries    int           // resends since the client got further
	quiet    time.Duration // waited in vain since then
}

// A step is what to do: send the blocks from first up to, not including, end,
// which may be none; then stop if done says so.
type step struct {
	first, end int64
	done       Outcome
}

// start begins a transfer of size bytes with the OACK, or with block 1 where
// there is none.
func start(t terms, size int64, now time.Time) (*session, step) {
	s := &session{terms: t, last: size/int64(t.block) + 1, twice: -1, wait: max(t.timeout, firstWait)}
	if len(t.oack) > 0 {
		s.acked, s.sent = -1, -1
	}
	return s, s.burst(s.acked+1, now)
}

// burst sends from the block first to the end of the window, or the OACK.
func (s *session) burst(first int64, now time.Time) step {
	end := min(s.acked+int64(s.window), s.last) + 1
	if s.acked < 0 {
		end = 1
	}
	if first <= s.sent {
		s.twice, s.resentAt = s.sent, now
		s.resent += s.sent - first + 1
	}
	s.sent, s.sentAt = end-1, now
	s.deadline = now.Add(s.wait)
	return step{first: first, end: end}
}

// ack takes an ACK. One that is new moves the window behind it. Blocks that it
// leaves out are sent again where they seem lost.
func (s *session) ack(block uint16, now time.Time) step {
	ahead := int64(block - uint16(s.acked))
	switch {
	case ahead == 0:
		return s.repeated(now)
	case ahead > s.sent-s.acked: // an old one
		return step{}
	}
	if s.acked+ahead == s.sent && s.twice <= s.acked {
		s.trip = now.Sub(s.sentAt)
	}
	s.acked += ahead
	s.heard, s.tries, s.quiet = true, 0, 0
	s.wait = max(s.timeout, firstWait)
	switch {
	case s.acked == s.last:
		return step{done: Complete}
	case s.lost(now):
		return s.burst(s.acked+1, now)
	}
	return s.burst(s.sent+1, now)
}

// repeated takes an ACK of what the client is known to have. With a window of
// one block it says nothing (RFC 1123 section 4.2.3.1). With more it means
// that the window's first block is lost (RFC 7440 section 4).
func (s *session) repeated(now time.Time) step {
	if s.window == 1 || s.acked < 0 || s.tries == maxTries || !s.lost(now) {
		return step{}
	}
	s.tries++
	return s.burst(s.acked+1, now)
}

// lost reports whether an ACK just taken means that what follows it is lost.
// It may instead be the echo of a block that reached the client twice, and to
// answer that would double every window from here on. So it counts only if
// nothing was sent twice, or if the last resend can have been answered since.
func (s *session) lost(now time.Time) bool {
	return s.twice < s.acked || 2*now.Sub(s.resentAt) >= s.trip
}

// tick sends again what was not acknowledged by the deadline, or gives up.
func (s *session) tick(now time.Time) step {
	if now.Before(s.deadline) {
		return step{}
	}
	s.quiet += s.wait
	if s.tries == maxTries || s.tries > 0 && s.quiet >= patience {
		if s.heard && s.sent == s.last {
			return step{done: Unconfirmed}
		}
		return step{done: TimedOut}
	}
	s.tries++
	s.wait = max(s.timeout, min(2*s.wait, longestWait))
	return s.burst(s.acked+1, now)
}

// again takes the same request once more. Until the client goes on it gets
// the same answer, which buys no time: a client that only repeats itself
// times out. Later it is an old packet, or, after a silence, a new beginning.
func (s *session) again(now time.Time) step {
	switch {
	case !s.heard:
		deadline := s.deadline
		next := s.burst(s.acked+1, now)
		s.deadline = deadline
		return next
	case s.tries > 0:
		return step{done: Superseded}
	}
	return step{}
}

// fail takes the client's ERROR. Once the OACK has told the size, it is the
// usual end of a client that wanted no more.
func (s *session) fail(number uint16) step {
	if s.sized && s.acked <= 0 && (number == errOptions || number == errOther) {
		return step{done: Probed}
	}
	return step{done: Aborted}
}

// bytes returns how much of a file of this size the client has.
func (s *session) bytes(size int64) int64 {
	return min(max(s.acked, 0)*int64(s.block), size)
}
