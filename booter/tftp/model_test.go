package tftp

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// gaps is what a client does on a block that it did not expect. RFC 7440
// leaves it open, and clients differ.
type gaps int

const (
	ackEach gaps = iota // acknowledges what it has, for each such block
	ackOnce             // does so for the first of a window
	ackNone             // waits for its timer
	gapKinds
)

// A link says what a network does to packets, in thousandths.
type link struct {
	loss, double, late int
	hole               int           // of a burst to the client, the four packets after so many are lost; 0 for none
	echo               int64         // after so many blocks, one packet to the client comes twice; 0 for none
	delay              time.Duration // of a packet; a late one takes up to 20 times as long
}

// A client is a model of firmware that reads a file. It acknowledges a window
// when it has all of it, and the last block at once.
type client struct {
	terms
	style gaps
	wait  time.Duration
	tries int

	oacked bool
	got    []byte
	next   int64 // the block it waits for
	inWin  int
	acked  bool // it has acknowledged a gap in this window
	whole  bool
	gone   bool
	left   int // tries
	timer  time.Time
}

// hear takes a packet and returns the answer, nil for none.
func (c *client) hear(b []byte, now time.Time) []byte {
	c.timer, c.left = now.Add(c.wait), c.tries
	number := binary.BigEndian.Uint16(b[2:])
	switch op := opcode(b); {
	case op == opOACK && len(c.got) == 0 && c.next == 1:
		c.oacked = true
		return ack(0)
	case op != opData:
		return nil
	case number != uint16(c.next) || c.whole:
		return c.unexpected()
	}
	c.oacked = true
	c.got = append(c.got, b[headLen:]...)
	c.next++
	c.inWin++
	c.acked = false
	c.whole = len(b)-headLen < c.block
	if c.whole || c.inWin == c.window {
		c.inWin = 0
		return ack(c.next - 1)
	}
	return nil
}

func (c *client) unexpected() []byte {
	if c.style == ackNone && !c.whole || c.style == ackOnce && c.acked {
		return nil
	}
	c.acked, c.inWin = true, 0
	return ack(c.next - 1)
}

// tick is its timer: it repeats its last word, some times.
func (c *client) tick(now time.Time) (answer []byte, request bool) {
	if c.left == 0 || c.whole {
		c.gone = true
		return nil, false
	}
	c.left--
	c.timer = now.Add(c.wait)
	if !c.oacked {
		return nil, true
	}
	c.inWin = 0
	return ack(c.next - 1), false
}

func ack(n int64) []byte {
	return binary.BigEndian.AppendUint16([]byte{0, opAck}, uint16(n))
}

// A parcel is a packet on its way.
type parcel struct {
	at       time.Time
	n        int
	toClient bool
	request  bool
	b        []byte
}

type mail []parcel

func (m mail) Len() int { return len(m) }
func (m mail) Less(i, j int) bool {
	return m[i].at.Before(m[j].at) || m[i].at.Equal(m[j].at) && m[i].n < m[j].n
}
func (m mail) Swap(i, j int) { m[i], m[j] = m[j], m[i] }
func (m *mail) Push(x any)   { *m = append(*m, x.(parcel)) }
func (m *mail) Pop() any     { p := (*m)[len(*m)-1]; *m = (*m)[:len(*m)-1]; return p }

// A world runs a session against a client over a link, on a clock of its own.
type world struct {
	t     rapid.TB
	link  link
	rand  *rand.Rand
	now   time.Time
	mail  mail
	count int

	session *session
	frames  *frames
	client  *client
	done    Outcome
	sent    int64 // blocks
	full    time.Time
	inBurst int
	echoed  bool
	bursts  int64
	moved   int64 // times that the client's ACK moved the window
}

func (w *world) post(p parcel) {
	for range 1 + w.chance(w.link.double) + w.doubled(p) {
		if w.chance(w.link.loss) == 1 {
			continue
		}
		delay := w.link.delay
		if w.chance(w.link.late) == 1 {
			delay += time.Duration(w.rand.Int64N(int64(20*w.link.delay) + 1))
		}
		w.count++
		if p.toClient && w.inHole(w.now.Add(delay)) {
			continue
		}
		p.at, p.n, p.b = w.now.Add(delay), w.count, bytes.Clone(p.b)
		heap.Push(&w.mail, p)
	}
}

// doubled counts the one packet of the link that comes twice.
func (w *world) doubled(p parcel) int {
	if p.toClient && w.link.echo > 0 && w.sent >= w.link.echo && !w.echoed {
		w.echoed = true
		return 1
	}
	return 0
}

// inHole reports whether a packet that reaches the client at this moment falls
// into the hole of its burst.
func (w *world) inHole(at time.Time) bool {
	if !w.full.Equal(at) {
		w.full, w.inBurst = at, 0
	}
	w.inBurst++
	return w.link.hole > 0 && w.inBurst > w.link.hole && w.inBurst <= w.link.hole+4
}

func (w *world) chance(thousandths int) int {
	if w.rand.IntN(1000) < thousandths {
		return 1
	}
	return 0
}

// act does what the session says.
func (w *world) act(s step) {
	w.done = s.done
	switch {
	case s.first >= s.end:
		return
	case s.first == 0:
		w.bursts++
		w.post(parcel{toClient: true, b: appendOACK(nil, w.session.oack)})
		return
	}
	w.bursts++
	w.sent += s.end - s.first
	b, err := w.frames.fill(s.first, s.end)
	if err != nil {
		w.t.Fatal(err)
	}
	for len(b) > 0 {
		n := min(len(b), w.frames.block+headLen)
		w.post(parcel{toClient: true, b: b[:n]})
		b = b[n:]
	}
}

func (w *world) deliver(p parcel) {
	switch {
	case p.toClient && !w.client.gone:
		if answer := w.client.hear(p.b, w.now); answer != nil {
			w.post(parcel{b: answer})
		}
	case p.toClient || w.done != "":
	case p.request:
		w.act(w.session.again(w.now))
	default:
		had := w.session.acked
		n, _ := parseAck(p.b)
		w.act(w.session.ack(n, w.now))
		if w.session.acked > had {
			w.moved++
		}
		if w.session.acked >= w.client.next {
			w.t.Fatalf("block %d counts as acknowledged, the client waits for %d", w.session.acked, w.client.next)
		}
	}
}

// run lives until the session has ended. It fails if that takes too long.
func (w *world) run() {
	w.client.timer, w.client.left = w.now.Add(w.client.wait), w.client.tries
	var first step
	w.session, first = start(w.client.terms, w.frames.size, w.now)
	w.act(first)
	for steps := 0; w.done == ""; steps++ {
		if steps > 2_000_000 {
			w.t.Fatal("it does not end")
		}
		next := w.session.deadline
		if !w.client.gone && w.client.timer.Before(next) {
			next = w.client.timer
		}
		if len(w.mail) > 0 && !w.mail[0].at.After(next) {
			p := heap.Pop(&w.mail).(parcel)
			w.now = p.at
			w.deliver(p)
			continue
		}
		w.now = next
		if w.now.Equal(w.session.deadline) {
			w.act(w.session.tick(w.now))
			continue
		}
		answer, request := w.client.tick(w.now)
		if answer != nil || request {
			w.post(parcel{request: request, b: answer})
		}
	}
}

func newWorld(t rapid.TB, t0 terms, file []byte, l link, style gaps, seed uint64) *world {
	return &world{
		t: t, link: l, rand: rand.New(rand.NewPCG(seed, 1)), now: time.Unix(0, 0),
		frames: newFrames(bytes.NewReader(file), int64(len(file)), t0),
		client: &client{terms: t0, style: style, wait: 3 * time.Second, tries: 4, next: 1},
	}
}

// content is n bytes in which no block is like another.
func content(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8 ^ i>>16*7)
	}
	return b
}

func termsOf(block, window int) terms {
	t := terms{block: block, window: window}
	if block != defaultBlock || window != 1 {
		t.oack = []option{{"blksize", "?"}}
	}
	return t
}

// Whatever a network does, a transfer ends, with the right bytes where the
// client has the last block, and after a bounded number of packets.
func TestTransfersEnd(t *testing.T) {
	ends := map[Outcome]int{}
	rapid.Check(t, func(t *rapid.T) {
		thousandths := func(label string) int { return rapid.SampledFrom([]int{0, 0, 10, 100, 300, 900}).Draw(t, label) }
		l := link{loss: thousandths("loss"), double: thousandths("double"), late: thousandths("late"),
			delay: time.Duration(rapid.IntRange(0, 300).Draw(t, "delay")) * time.Millisecond}
		terms := termsOf(rapid.SampledFrom([]int{8, 64, 512}).Draw(t, "block"), rapid.IntRange(1, 64).Draw(t, "window"))
		terms.timeout = time.Duration(rapid.SampledFrom([]int{0, 1, 7, 255}).Draw(t, "timeout")) * time.Second
		file := content(rapid.IntRange(0, 150*terms.block).Draw(t, "size"))
		w := newWorld(t, terms, file, l, gaps(rapid.IntRange(0, int(gapKinds)-1).Draw(t, "gaps")), rapid.Uint64().Draw(t, "seed"))
		w.run()
		ends[w.done]++
		if w.client.whole && !bytes.Equal(w.client.got, file) || !bytes.HasPrefix(file, w.client.got) {
			t.Fatalf("the client has %d wrong bytes of %d", len(w.client.got), len(file))
		}
		if w.done == Complete && !w.client.whole {
			t.Fatal("complete, but the client lacks something")
		}
		if l.loss == 0 && l.late == 0 && w.done != Complete {
			t.Fatalf("%s without loss", w.done)
		}
		if most := (w.moved + 1) * (3 + maxTries); w.bursts > most && w.session.heard {
			t.Fatalf("%d bursts for %d ACKs, at most %d", w.bursts, w.moved, most)
		}
	})
	for _, o := range []Outcome{Complete, TimedOut} {
		if ends[o] == 0 {
			t.Errorf("no run ended %s: %v", o, ends)
		}
	}
}

// Over a network that loses nothing every block is sent once.
func TestNothingIsSentTwiceWithoutLoss(t *testing.T) {
	for _, window := range []int{1, 2, 16, 64} {
		for style := range gapKinds {
			file := content(1000 * 8)
			w := newWorld(t, termsOf(8, window), file, link{delay: time.Millisecond}, style, 1)
			w.run()
			if w.done != Complete || w.sent != 1001 || w.session.resent != 0 {
				t.Errorf("window %d: %s after %d blocks, %d of them again", window, w.done, w.sent, w.session.resent)
			}
		}
	}
}

// A network that doubles every packet does not make the server do so (RFC
// 1123 section 4.2.3.1).
func sorcerersApprentice(t *testing.T) {
	for _, window := range []int{1, 4, 64} {
		file := content(1000 * 8)
		w := newWorld(t, termsOf(8, window), file, link{double: 1000, delay: time.Millisecond}, ackEach, 1)
		w.run()
		if most := int64(2*1001 + window); w.done != Complete || window == 1 && w.sent != 1001 || w.sent > most {
			t.Errorf("window %d: %s after %d blocks", window, w.done, w.sent)
		}
	}
}

// One packet that comes twice costs a few windows, not every window from then
// on.
func TestOneEchoDiesOut(t *testing.T) {
	for _, window := range []int{1, 2, 4, 16, 64} {
		for style := range gapKinds {
			file := content(2000 * 8)
			w := newWorld(t, termsOf(8, window), file, link{echo: 500, delay: time.Millisecond}, style, 1)
			w.run()
			if w.done != Complete || w.session.resent > int64(window) {
				t.Errorf("window %d, style %d: %s with %d blocks sent again", window, style, w.done, w.session.resent)
			}
		}
	}
}

// A client that misses packets within every burst, as a small ring does, waits
// a short time for each hole, if it says what it misses.
func holesAreMendedSoon(t *testing.T) {
	for style := range ackNone {
		file := content(1000 * 8)
		w := newWorld(t, termsOf(8, 64), file, link{hole: 16, delay: time.Millisecond}, style, 1)
		w.run()
		if took := w.now.Sub(time.Unix(0, 0)); w.done != Complete || took > 2*time.Second {
			t.Errorf("style %d: %s after %s and %d blocks", style, w.done, took, w.sent)
		}
	}
}

// Block numbers go round more than once.
func blockNumbersWrap(t *testing.T) {
	for _, window := range []int{1, 64} {
		file := content(140_000 * 8)
		w := newWorld(t, termsOf(8, window), file, link{loss: 1, late: 1, delay: time.Millisecond}, ackOnce, 1)
		w.run()
		if w.done != Complete || !bytes.Equal(w.client.got, file) {
			t.Errorf("window %d: %s with %d bytes", window, w.done, len(w.client.got))
		}
	}
}
