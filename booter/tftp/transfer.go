package tftp

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"strings"
	"sync"
)

// maxStrays bounds the packets of others that one transfer answers.
const maxStrays = 16

// A visit is a request as it came.
type visit struct {
	asked
	packet []byte
}

func (v visit) same(o visit) bool { return bytes.Equal(v.packet, o.packet) }

// A transfer is the goroutine that serves one client port.
type transfer struct {
	*desk
	tid
	ended  Transfer // what there is to say so far
	strays int
	in     [maxRequest]byte

	mailbox sync.Mutex // never held while the desk's lock is taken
	waiting *visit     // the latest request that nobody has looked at
	wire    *wire      // what to wake, nil while there is none
}

// run serves v, and what the client asks for on the same port after it.
func (t *transfer) run(ctx context.Context, v visit) {
	for more := true; more; {
		began := t.Now()
		t.ended = Transfer{Client: t.client, Local: t.local, Name: shown(v.name)}
		t.ended.Outcome, t.ended.Err = t.serve(ctx, v)
		t.ended.Took = t.Now().Sub(began)
		t.report(t.ended)
		v, more = t.leave(t, v, t.ended.Outcome)
	}
}

// serve answers one request, from the decision to the end of its transfer.
func (t *transfer) serve(ctx context.Context, v visit) (Outcome, error) {
	req := Request{Client: t.client, Local: t.local}
	var refused *Refused
	if req.Name, refused = localName(v.name); refused == nil {
		t.ended.Name = req.Name
	}
	if t.Admit != nil && !t.Admit(ctx, req) {
		return Silenced, &Silent{"a stranger"}
	}
	if r := unserved(v.asked); r != nil {
		refused = r
	}
	if refused != nil {
		return t.refuse(ctx, refused, refused)
	}
	file, err := t.Open(ctx, req)
	if err != nil {
		return t.deny(ctx, err)
	}
	defer file.Close()
	return t.send(ctx, v, file)
}

// unserved refuses writes and modes that would change the bytes.
func unserved(a asked) *Refused {
	switch {
	case a.op == opWrite:
		return &Refused{errDenied, "this server is read-only"}
	case !strings.EqualFold(a.mode, "octet"):
		return &Refused{errIllegal, "only mode octet (binary) is served"}
	}
	return nil
}

// deny answers an error of Open. What the client reads depends on the kind of
// error alone.
func (t *transfer) deny(ctx context.Context, err error) (Outcome, error) {
	_, silent := errors.AsType[*Silent](err)
	switch {
	case silent:
		return Silenced, err
	case errors.Is(err, fs.ErrNotExist):
		return t.refuse(ctx, &Refused{errNotFound, "no such file"}, err)
	case errors.Is(err, fs.ErrPermission):
		return t.refuse(ctx, &Refused{errDenied, "not for this client"}, err)
	}
	return t.refuse(ctx, &Refused{errOther, "the server has a problem with this file"}, err)
}

// refuse sends r, because of err.
func (t *transfer) refuse(ctx context.Context, r *Refused, err error) (Outcome, error) {
	outcome := r.outcome()
	if ctx.Err() != nil {
		return Stopped, context.Cause(ctx)
	}
	w, listenErr := t.dial()
	if listenErr != nil {
		return Failed, errors.Join(err, listenErr)
	}
	defer w.Close()
	if sendErr := w.write(appendError(nil, r.Number, r.Text), t.client); sendErr != nil {
		return outcome, errors.Join(err, sendErr)
	}
	return outcome, err
}

// dial opens the transfer's socket, on the address that was asked.
func (t *transfer) dial() (*wire, error) {
	local := t.local
	switch {
	case local.IsValid():
	case t.client.Addr().Is4():
		local = netip.IPv4Unspecified()
	default:
		local = netip.IPv6Unspecified()
	}
	c, err := t.Listen(netip.AddrPortFrom(local, 0))
	if err != nil {
		return nil, err
	}
	return newWire(c), nil
}

// largest returns the bytes of the largest block that the client's network
// carries whole.
func (t *transfer) largest() int {
	if t.client.Addr().Is4() {
		return t.MTU - overhead4
	}
	return t.MTU - overhead6
}
