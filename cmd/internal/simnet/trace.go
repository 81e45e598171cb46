package simnet

import (
	"encoding/binary"
	"fmt"
	"maps"
	"strings"
	"time"
)

// A Kind names what can happen on a net.
type Kind string

// What happens, and, in the second part, the faults.
const (
	Connect  Kind = "connect"  // a connection reached its listener
	Accepted Kind = "accepted" // the dialer heard of it
	Refuse   Kind = "refuse"   // nobody listens there
	Deliver  Kind = "deliver"  // bytes of a stream or a packet arrived
	End      Kind = "end"      // the end of a stream arrived
	Credit   Kind = "credit"   // the sender heard that its bytes were read
	Deadline Kind = "deadline" // a deadline of a connection passed
	Unheard  Kind = "unheard"  // something arrived where nobody is any more

	Reset     Kind = "reset" // an end heard that its connection is dead
	Timeout   Kind = "timeout"
	Drop      Kind = "drop"
	Duplicate Kind = "duplicate"
	Reorder   Kind = "reorder"
	Overflow  Kind = "overflow" // a receiver's queue is full
	Stall     Kind = "stall"
	Segment   Kind = "segment"
	Break     Kind = "break"   // a rule's Reset
	Hold      Kind = "hold"    // a cut keeps a flight of a stream
	Release   Kind = "release" // and lets it go
	Cut       Kind = "cut"
	Heal      Kind = "heal"
	Clog      Kind = "clog"
	Unclog    Kind = "unclog"
	Kill      Kind = "kill"
	PowerOff  Kind = "power-off"
	PowerOn   Kind = "power-on"
)

// A Detail says how much of what is sent enters the trace.
type Detail int

// From the most to the least. Bytes fits plain HTTP/1.1, and TLS under
// testing/cryptotest.SetGlobalRandom. HTTP/2 over TLS needs Lengths: its flushes
// follow the chance of a select, and so do the cuts between TLS records, for
// which Lengths makes up, in Rule.Segment and Rule.Bandwidth as well.
const (
	Bytes    Detail = iota // the bytes themselves
	Lengths                // how many there are, the framing of TLS 1.3 not counted
	Instants               // only that something arrived, where and when
)

// An entry is one line of the log.
type entry struct {
	at   time.Duration
	kind Kind
	link string
	size int
}

// note adds what happened to the trace, the log and the counters. size is what
// counts as the length of data.
func (n *Net) note(k Kind, l *link, data []byte, size int) {
	n.counts[k]++
	now := n.now()
	n.log[n.noted%len(n.log)] = entry{now, k, l.name, size}
	n.noted++
	b := binary.LittleEndian.AppendUint64(n.scratch[:0], uint64(now))
	b = append(append(append(append(b, k...), 0), l.name...), 0)
	if n.detail == Lengths {
		b = binary.LittleEndian.AppendUint64(b, uint64(size))
	}
	n.scratch = b
	n.sum.Write(b)
	if n.detail == Bytes {
		n.sum.Write(data)
	}
}

// Trace is a SHA-256 over all that has happened so far: instant, kind, link, and
// of the data what Options.Detail says. Runs of one seed that agree in it went
// the same way.
func (n *Net) Trace() [32]byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	return [32]byte(n.sum.Sum(nil))
}

// Counts says how often each kind of thing happened. A fault that a campaign
// counts on and that never happened has proved nothing.
func (n *Net) Counts() map[Kind]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.counts)
}

// Log is what happened last, one event a line: the time since the net's start,
// the kind, the link and the number of bytes. Options.Log bounds its length.
func (n *Net) Log() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var b strings.Builder
	for i := max(0, n.noted-len(n.log)); i < n.noted; i++ {
		e := n.log[i%len(n.log)]
		fmt.Fprintf(&b, "%16s %-9s %s %d\n", e.at, e.kind, e.link, e.size)
	}
	return b.String()
}
