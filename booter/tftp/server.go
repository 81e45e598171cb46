package tftp

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"time"
)

// The defaults of [Server] and [Limits].
const (
	DefaultSessions  = 1024
	DefaultPerClient = 16
	DefaultMTU       = 1500
)

// What a network carries whole: RFC 791's least, and loopback's.
const minMTU, maxMTU = 576, 1 << 16

// Limits bound what a Serve does at once. A request above them is not
// answered, and reported as [Limited]; clients ask again by themselves. A zero
// field takes its default.
type Limits struct {
	Sessions  int // requests that are being served; default 1024
	PerClient int // of those, from one address; default 16
}

// A Server serves files by TFTP. Fields must not change while it serves.
// Its functions are called by many goroutines at once.
type Server struct {
	// Open finds the file of a request, and decides who may have it. An error
	// that is fs.ErrNotExist answers ERROR 1, one that is fs.ErrPermission
	// ERROR 2, a *[Silent] nothing at all; any other ERROR 0 with a text that
	// says nothing of it. The context ends with Serve's. Required.
	Open func(context.Context, Request) (File, error)

	// Admit says who is no stranger (BOOT-6). It is asked before anything is
	// answered, refusals of the server itself included; Name is "" where the
	// request names no local path. The default admits all.
	Admit func(context.Context, Request) bool

	// Listen opens the socket of one transfer on local, whose port is 0; its
	// address is unspecified where it is unknown which one was asked. The
	// default is a UDP socket.
	Listen func(local netip.AddrPort) (net.PacketConn, error)

	// Done is told how each request ended. It must return soon: for requests
	// that were not answered it is called by the goroutine that reads them.
	Done func(Transfer)

	Log    *slog.Logger     // one line a request; default none
	Now    func() time.Time // default time.Now
	Limits Limits
	MTU    int // of the networks served, in bytes; default 1500. A block is at most 32 bytes smaller (BOOT-25), 52 to an IPv6 client
}

// Validate reports every field that cannot be used, joined.
func (s *Server) Validate() error {
	var errs []error
	if s.Open == nil {
		errs = append(errs, &Invalid{"Open", "set"})
	}
	if s.Limits.Sessions < 0 || s.Limits.PerClient < 0 {
		errs = append(errs, &Invalid{"Limits", "0 or more"})
	}
	if s.MTU != 0 && (s.MTU < minMTU || s.MTU > maxMTU) {
		errs = append(errs, &Invalid{"MTU", "0 or 576 to 65536"})
	}
	return errors.Join(errs...)
}

// Serve answers the requests that come to c until ctx ends, and then returns
// nil; transfers that go on are ended with an ERROR. It returns an error if the
// server is not valid or c cannot be read. Either way nothing of it runs any
// more when it returns. It does not close c, but leaves its read deadline in
// the past.
//
// Answers come from the address that was asked: c says it as a [LocalReader],
// or is bound to it, or is a *net.UDPConn of Linux. Limits are each Serve's
// own.
func (s *Server) Serve(ctx context.Context, c net.PacketConn) error {
	if err := s.Validate(); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	d := newDesk(s)
	defer d.running.Wait()
	defer cancel()
	defer whenDone(ctx, func() { wake(c) })()

	in, buf := newDoor(c), make([]byte, maxRequest+1)
	for {
		n, from, local, err := in.read(buf)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		d.take(ctx, buf[:n], tid{from, local})
	}
}

// whenDone calls f when ctx ends. After release, f has returned or never runs.
func whenDone(ctx context.Context, f func()) (release func()) {
	called := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(called)
		f()
	})
	return func() {
		if !stop() {
			<-called
		}
	}
}
