package machine

import (
	"cmp"
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// Polling says how machines are polled. A zero field takes its default.
type Polling struct {
	Period   time.Duration // from one poll of a machine to its next; default 1m
	InFlight int           // at once; default 96: BMCs take 0.2 to 0.5 s a read
	// Quick is how long a poll counts among those; then it counts among the slow;
	// default 3s. It is not ended by that.
	Quick   time.Duration
	Slow    int           // slow ones at once; more are ended; default 32
	Timeout time.Duration // of one poll; default 30s
	// Backoff bounds how seldom a machine is polled that does not answer: the time
	// doubles from Period to this; default 10m.
	Backoff time.Duration
	// Seed spreads the machines over the period. It is random: two pollers of one
	// seed start together.
	Seed uint64
}

func (p Polling) filled() Polling {
	p.Period = cmp.Or(p.Period, time.Minute)
	p.InFlight = cmp.Or(p.InFlight, 96)
	p.Quick = cmp.Or(p.Quick, 3*time.Second)
	p.Slow = cmp.Or(p.Slow, 32)
	p.Timeout = cmp.Or(p.Timeout, 30*time.Second)
	p.Backoff = cmp.Or(p.Backoff, 10*time.Minute)
	return p
}

// A Target reads the power of one machine once; [Machine.Poll] is one.
type Target func(context.Context) (bmc.PowerObservation, error)

// A Poller reads the power of many machines, each in its time. A machine that
// waits costs no goroutine, and one whose BMC is dead does not delay the rest: it
// is polled among the slow, and more seldom. Make one with [NewPoller].
type Poller struct {
	p       Polling
	report  func(key string, o bmc.PowerObservation, err error)
	metrics Metrics

	mu    sync.Mutex
	all   map[string]*target
	queue queue // those that wait for their time
	quick lane
	slow  lane
	wake  chan struct{} // holds at most one token
}

// A target is one machine. It is in the queue, or in a lane's line, or polled.
type target struct {
	key    string
	poll   Target
	due    time.Time
	place  int // in the queue; -1: not there
	failed int // in a row, without an answer
	gone   bool
}

// A lane is so many polls at once, and those whose time has come behind them.
type lane struct {
	free int
	line []*target
}

// NewPoller polls with report, which is told of each poll and is called from many
// goroutines. Metrics may be nil.
func NewPoller(p Polling, report func(key string, o bmc.PowerObservation, err error), metrics Metrics) *Poller {
	if metrics == nil {
		metrics = mute{}
	}
	p = p.filled()
	return &Poller{
		p: p, report: report, metrics: metrics, all: map[string]*target{}, wake: make(chan struct{}, 1),
		quick: lane{free: p.InFlight}, slow: lane{free: p.Slow},
	}
}

// Add polls one machine more, for the first time within a period. A key that is
// there already is replaced.
func (p *Poller) Add(key string, poll Target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remove(key)
	t := &target{key: key, poll: poll, due: time.Now().Add(p.offset(key)), place: -1}
	p.all[key] = t
	heap.Push(&p.queue, t)
	p.stir()
}

// Remove ends the polling of a machine. A poll that is under way is not
// reported.
func (p *Poller) Remove(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remove(key)
}

func (p *Poller) remove(key string) {
	t := p.all[key]
	if t == nil {
		return
	}
	t.gone = true
	delete(p.all, key)
	if t.place >= 0 {
		heap.Remove(&p.queue, t.place)
	}
}

// offset spreads keys evenly over a period.
func (p *Poller) offset(key string) time.Duration {
	return time.Duration(mix(p.p.Seed, key) % uint64(p.p.Period))
}

// mix is FNV-1a of a seed and a key, with its bits spread.
func mix(seed uint64, key string) uint64 {
	h := seed ^ 14695981039346656037
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * 1099511628211
	}
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

// stir makes Run look again.
func (p *Poller) stir() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Run polls until ctx ends, and returns when the last poll under way has ended.
// Call it once.
func (p *Poller) Run(ctx context.Context) {
	var polls sync.WaitGroup
	defer polls.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-timer.C:
		}
		starts, next := p.starts(time.Now())
		for _, s := range starts {
			polls.Go(func() { p.run(ctx, s) })
		}
		timer.Reset(next)
	}
}

// A start is a poll that begins now.
type start struct {
	t    *target
	slow bool
}

// starts moves those whose time has come into their lanes, takes as many as
// there is room for, and says how long until the next time comes.
func (p *Poller) starts(now time.Time) ([]start, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 && !p.queue[0].due.After(now) {
		t := heap.Pop(&p.queue).(*target)
		l := &p.quick
		if t.failed > 0 {
			l = &p.slow
		}
		l.line = append(l.line, t)
	}
	var out []start
	for _, t := range p.quick.take() {
		out = append(out, start{t, false})
	}
	for _, t := range p.slow.take() {
		out = append(out, start{t, true})
	}
	for _, s := range out {
		p.metrics.Late(now.Sub(s.t.due))
	}
	if len(p.queue) == 0 {
		return out, time.Hour // until somebody stirs
	}
	return out, p.queue[0].due.Sub(now)
}

// take is who may begin, in the order in which their time came.
func (l *lane) take() []*target {
	var out []*target
	for l.free > 0 && len(l.line) > 0 {
		t := l.line[0]
		l.line[0] = nil
		l.line = l.line[1:]
		if t.gone {
			continue
		}
		l.free--
		out = append(out, t)
	}
	return out
}

// run is one poll.
func (p *Poller) run(ctx context.Context, s start) {
	ctx, cancel := context.WithTimeout(ctx, p.p.Timeout)
	defer cancel()
	slow := s.slow
	ended := make(chan struct{})
	var watch sync.WaitGroup
	if !slow {
		watch.Go(func() {
			if sleepUnless(ended, p.p.Quick) {
				slow = true
				p.slacken(cancel)
			}
		})
	}
	o, err := s.t.poll(ctx)
	close(ended)
	watch.Wait()
	p.ended(s.t, slow, err)
	if !p.isGone(s.t) {
		p.report(s.t.key, o, err)
	}
}

// sleepUnless reports whether d passed before ended was closed.
func sleepUnless(ended <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ended:
		return false
	case <-t.C:
		return true
	}
}

// slacken moves a poll from the quick to the slow, or ends it where there is no
// room.
func (p *Poller) slacken(cancel context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quick.free++
	p.slow.free--
	if p.slow.free < 0 {
		cancel()
	}
	p.stir()
}

// ended makes room and gives the machine its next time: a period after the last
// one, or later where it does not answer.
func (p *Poller) ended(t *target, slow bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slow {
		p.slow.free++
	} else {
		p.quick.free++
	}
	p.stir()
	if t.gone {
		return
	}
	wait := p.p.Period
	if verdict(err) == answered {
		t.failed = 0
	} else if err != nil {
		t.failed = min(t.failed+1, 16)
		wait = min(wait<<(t.failed-1), max(p.p.Backoff, p.p.Period))
	}
	now := time.Now()
	if t.due = t.due.Add(wait); t.due.Before(now) {
		t.due = now.Add(p.offset(t.key) % wait) // it is far behind: spread anew
	}
	heap.Push(&p.queue, t)
}

func (p *Poller) isGone(t *target) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return t.gone
}

// A queue is a heap of targets by their time.
type queue []*target

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push is heap's.
func (q *queue) Push(x any) {
	t := x.(*target)
	t.place = len(*q)
	*q = append(*q, t)
}

// Pop is heap's.
func (q *queue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	t.place = -1
	return t
}
