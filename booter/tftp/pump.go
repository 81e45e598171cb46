package tftp

import (
	"context"
	"errors"
	"net"
	"net/netip"
)

// A pump moves one file: it does what the session says, and tells it what
// came.
type pump struct {
	t       *transfer
	w       *wire
	s       *session
	f       *frames
	visit   visit
	said    *ClientError // with which the client ended it
	sendErr error        // of the last packets, which count as lost
}

// send moves the file to its end.
func (t *transfer) send(ctx context.Context, v visit, f File) (Outcome, error) {
	w, err := t.dial()
	if err != nil {
		return Failed, err
	}
	defer w.Close()
	t.attach(w)
	defer t.attach(nil)
	defer whenDone(ctx, t.stir)()

	size := f.Size()
	terms := negotiate(v.options, size, t.largest())
	t.ended.Size, t.ended.Block, t.ended.Window = size, terms.block, terms.window
	s, first := start(terms, size, t.Now())
	p := &pump{t: t, w: w, s: s, f: newFrames(f, size, terms), visit: v}
	outcome, err := p.run(ctx, first)
	t.ended.Bytes, t.ended.Resent = s.bytes(size), s.resent
	return outcome, err
}

// run does step after step until one is the last.
func (p *pump) run(ctx context.Context, next step) (Outcome, error) {
	for {
		if err := p.do(next); err != nil {
			return Failed, p.giveUp("the server cannot read the file", err)
		}
		switch next.done {
		case "":
		case TimedOut:
			return TimedOut, errors.Join(errQuiet, p.sendErr)
		case Aborted:
			return Aborted, p.said
		default:
			return next.done, nil
		}
		var err error
		if next, err = p.await(ctx); err != nil && ctx.Err() != nil {
			return Stopped, p.giveUp("the server stops", context.Cause(ctx))
		} else if err != nil {
			return Failed, err
		}
	}
}

// giveUp tells the client, and returns the reason.
func (p *pump) giveUp(text string, reason error) error {
	return errors.Join(reason, p.w.write(appendError(nil, errOther, text), p.t.client))
}

// do sends the blocks of a step. It fails only when the file does: a packet
// that cannot be sent is a packet lost.
func (p *pump) do(s step) error {
	switch {
	case s.first >= s.end:
		return nil
	case s.first == 0:
		p.sendErr = p.w.write(appendOACK(nil, p.s.oack), p.t.client)
		return nil
	}
	packets, err := p.f.fill(s.first, s.end)
	if err != nil {
		return err
	}
	p.sendErr = p.w.writeAll(packets, p.f.block+headLen, p.t.client)
	return nil
}

// await waits for what comes next: a packet, the deadline, a request from the
// same port, or the end of ctx, which is an error.
func (p *pump) await(ctx context.Context) (step, error) {
	v, asked, err := p.t.arm(ctx, p.s.deadline)
	switch {
	case err != nil:
		return step{}, err
	case asked:
		return p.knocked(v), nil
	}
	n, from, err := p.w.read(p.t.in[:])
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return p.s.tick(p.t.Now()), nil
	}
	if err != nil {
		return step{}, err
	}
	return p.hear(p.t.in[:n], from), nil
}

// knocked takes a request that came while the file moves.
func (p *pump) knocked(v visit) step {
	next := step{done: Superseded}
	if v.same(p.visit) {
		next = p.s.again(p.t.Now())
	}
	if next.done == Superseded {
		p.t.knock(v) // it is served after this one
	}
	return next
}

// hear takes a packet.
func (p *pump) hear(b []byte, from netip.AddrPort) step {
	if from != p.t.client {
		p.stray(b, from)
		return step{}
	}
	if block, ok := parseAck(b); ok {
		return p.s.ack(block, p.t.Now())
	}
	if said, ok := parseError(b); ok {
		p.said = said
		return p.s.fail(said.Number)
	}
	return step{}
}

// stray answers a packet of another sender, so that one whose transfer is
// long gone stops (RFC 1350 section 4). An ERROR is never answered, lest two
// servers answer each other.
func (p *pump) stray(b []byte, from netip.AddrPort) {
	if op := opcode(b); op == 0 || op == opError || from.Port() == 0 || p.t.strays >= maxStrays {
		return
	}
	p.t.strays++
	_ = p.w.write(appendError(nil, errUnknownTID, "unknown transfer"), from) // it will ask again
}
