package simnet

import (
	"container/heap"
	"fmt"
	"time"
)

// An event is something that will happen on the net's goroutine, with its lock
// held.
type event struct {
	due   time.Duration // since the net's start
	key   uint64        // decides among events due together
	seq   uint64        // decides among events of one link due together
	link  *link
	act   func()
	index int // in the queue; -1 outside
}

// A queue is a heap of events, the next one first.
type queue []*event

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	switch a, b := q[i], q[j]; {
	case a.due != b.due:
		return a.due < b.due
	case a.key != b.key:
		return a.key < b.key
	case a.link != b.link:
		return a.link.name < b.link.name
	default:
		return a.seq < b.seq
	}
}

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *queue) Push(x any) {
	e := x.(*event)
	e.index = len(*q)
	*q = append(*q, e)
}

func (q *queue) Pop() any {
	old := *q
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	e.index = -1
	return e
}

// push queues act for an instant, and now if that has passed.
func (n *Net) push(l *link, due time.Duration, act func()) *event {
	due = max(due, n.now())
	e := &event{due: due, key: mix(n.seed, l.hash, uint64(due)), seq: l.pushes, link: l, act: act}
	l.pushes++
	heap.Push(&n.queue, e)
	n.wake()
	return e
}

// drop takes an event out of the queue. A nil event, or one that has happened,
// is none.
func (n *Net) drop(e *event) {
	if e != nil && e.index >= 0 {
		heap.Remove(&n.queue, e.index)
	}
}

// maxAtOnce is how many events one instant may see.
const maxAtOnce = 1_000_000

// watch panics when time has come to a standstill: two that answer each other
// without latency would keep the bubble at one instant for ever.
func (n *Net) watch(now time.Duration) {
	if now != n.last {
		n.last, n.since = now, 0
	}
	if n.since++; n.since > maxAtOnce {
		panic(fmt.Sprintf("simnet: %d events at one instant; the next is for %s", n.since, n.queue[0].link.name))
	}
}

// pop lets the next event happen if it is due, with all others of its link that
// are due as well.
func (n *Net) pop() bool {
	now := n.now()
	if len(n.queue) == 0 || n.queue[0].due > now {
		return false
	}
	n.watch(now)
	first := n.queue[0].link
	for len(n.queue) > 0 && n.queue[0].due <= now && n.queue[0].link == first {
		heap.Pop(&n.queue).(*event).act()
	}
	return true
}
