package tftp

import "time"

// How long the client is waited for. With its defaults a transfer ends 31
// seconds after the last sign of life.
const (
	firstWait   = time.Second      // where the client asked for no timeout
	longestWait = 8 * time.Second  // waits double up to this, or stay at the client's timeout if that is longer
	maxTries    = 5                // resends in a row
	patience    = 60 * time.Second // of silence, after which nothing is sent again but once

	shortWait = 20 * time.Millisecond // at least, where an ACK may mean a gap
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

	sentAt time.Time
	trip   time.Duration // from a burst to its ACK, when last measured

	wait     time.Duration
	deadline time.Time // when to call tick

	// Since the client got further:
	tries   int           // resends by tick
	quiet   time.Duration // waited in vain
	hurried bool          // the deadline was brought forward
	early   bool          // and is not over yet
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
		s.twice = s.sent
		s.resent += s.sent - first + 1
	}
	s.sent, s.sentAt = end-1, now
	s.deadline, s.early = now.Add(s.wait), false
	return step{first: first, end: end}
}

// ack takes an ACK. One that is new moves the window behind it. Where it
// leaves blocks out they are lost (RFC 7440 section 4), unless it may be the
// echo of a block that the client got twice. To send again on an echo makes
// the next echo, and so doubles all blocks from there on: the Sorcerer's
// Apprentice. An echo is followed by the ACK of what it left out, so a short
// wait tells.
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
	s.heard, s.tries, s.quiet, s.hurried = true, 0, 0, false
	s.wait = max(s.timeout, firstWait)
	switch {
	case s.acked == s.last:
		return step{done: Complete}
	case s.acked == s.sent || s.noEcho():
		return s.burst(s.acked+1, now)
	}
	next := s.burst(s.sent+1, now) // the window moves all the same
	s.hurry(now)
	return next
}

// repeated takes an ACK of what the client is known to have. With a window of
// one block it says nothing (RFC 1123 section 4.2.3.1). With more it may mean
// that the window's first block is lost.
func (s *session) repeated(now time.Time) step {
	switch {
	case s.window == 1 || s.acked < 0:
		return step{}
	case s.noEcho():
		return s.burst(s.acked+1, now)
	}
	s.hurry(now)
	return step{}
}

// noEcho reports that the last ACK is no echo of ours: the client acknowledges
// a block that was sent after all those that were sent twice.
func (s *session) noEcho() bool { return s.twice < s.acked }

// hurry brings the deadline forward, once until the client gets further.
func (s *session) hurry(now time.Time) {
	soon := now.Add(max(4*s.trip, shortWait))
	if s.hurried || !soon.Before(s.deadline) {
		return
	}
	s.deadline, s.hurried, s.early = soon, true, true
}

// tick sends again what was not acknowledged by the deadline, or gives up.
func (s *session) tick(now time.Time) step {
	if now.Before(s.deadline) {
		return step{}
	}
	if s.early {
		return s.burst(s.acked+1, now)
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
		deadline, early := s.deadline, s.early
		next := s.burst(s.acked+1, now)
		s.deadline, s.early = deadline, early
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
