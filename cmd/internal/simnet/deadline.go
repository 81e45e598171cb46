package simnet

import "time"

// A deadline of a connection is an event like any other, so that it has its
// place among the deliveries of its instant.
type deadline struct {
	link   link
	event  *event
	passed bool
}

// set moves the deadline to t; the zero time is never. wake is called when it
// passes, at once if it has.
func (d *deadline) set(n *Net, t time.Time, wake func()) {
	d.clear(n)
	d.passed = false
	if t.IsZero() || n.closed {
		return
	}
	due := t.Sub(n.start)
	if due <= n.now() {
		d.passed = true
		wake()
		return
	}
	d.event = n.push(&d.link, due, func() {
		n.note(Deadline, &d.link, nil, 0)
		d.passed = true
		wake()
	})
}

func (d *deadline) clear(n *Net) {
	n.drop(d.event)
	d.event = nil
}
