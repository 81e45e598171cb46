package serve

import "time"

// Limits bound what clients may hold. A zero field takes its default.
type Limits struct {
	Connections int           // open on all TCP listeners together; default 16384. Unix sockets have 256 of their own
	PerSource   int           // open from one IPv4 address or one IPv6 /64; default 512
	Streams     int           // requests at a time on one HTTP/2 connection; default 100
	HeaderBytes int           // of one request; default 16 KiB
	Body        int64         // bytes of one request; default 1 MiB
	BodyGrace   time.Duration // a body may take this long, and a second more for each BodyRate bytes; default 10s
	BodyRate    int64         // bytes a second; default 4096
	Header      time.Duration // for the TLS handshake, and for one request's header; default 5s
	Idle        time.Duration // a connection without a request; default 60s
	Stall       time.Duration // a write that makes no progress; default 30s
	Resets      int           // requests that a client gives up on one connection before it is closed; a token comes back each second; default 200
	Drain       time.Duration // requests in flight have this long to end when the server stops; default 20s
	LogRate     int           // lines of the access log a second, with twice as many at once; default 200
}

// unixConnections is how many may be open on Unix sockets, whatever the network
// does: an operator gets in during a flood.
const unixConnections = 256

func (l Limits) filled() Limits {
	or(&l.Connections, 16_384)
	or(&l.PerSource, 512)
	or(&l.Streams, 100)
	or(&l.HeaderBytes, 16<<10)
	or(&l.Body, 1<<20)
	or(&l.BodyGrace, 10*time.Second)
	or(&l.BodyRate, 4096)
	or(&l.Header, 5*time.Second)
	or(&l.Idle, 60*time.Second)
	or(&l.Stall, 30*time.Second)
	or(&l.Resets, 200)
	or(&l.Drain, 20*time.Second)
	or(&l.LogRate, 200)
	return l
}

func or[T comparable](field *T, def T) {
	var zero T
	if *field == zero {
		*field = def
	}
}
