package tftp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var (
	serverAt = netip.MustParseAddrPort("10.0.0.1:69")
	clientAt = netip.MustParseAddrPort("10.0.0.50:2070")
)

type inMemory struct {
	*bytes.Reader
	size   int64
	closed *atomic.Int64
}

func (f inMemory) Close() error { f.closed.Add(1); return nil }
func (f inMemory) Size() int64  { return f.size }

// A bench is a server in a bubble, whose one file "boot" has 2000 bytes.
type bench struct {
	*Server
	net    *testNet
	client *socket
	cancel context.CancelFunc
	ended  chan error

	mu     sync.Mutex
	done   []Transfer
	opened int64
	closed atomic.Int64
	log    bytes.Buffer
}

func (b *bench) open(_ context.Context, r Request) (File, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch r.Name {
	case "boot":
		b.opened++
		return inMemory{bytes.NewReader(content(2000)), 2000, &b.closed}, nil
	case "cut":
		b.opened++
		return inMemory{bytes.NewReader(content(700)), 2000, &b.closed}, nil
	case "secret":
		return nil, fmt.Errorf("the policy of /srv/secret: %w", fs.ErrPermission)
	case "stranger":
		return nil, fmt.Errorf("booter: %w", &Silent{"no-record"})
	case "broken":
		return nil, errors.New("disk 7 at /srv is on fire")
	}
	return nil, &fs.PathError{Op: "open", Path: "/srv/" + r.Name, Err: fs.ErrNotExist}
}

// within runs f beside a server in a bubble, and ends it.
func within(t *testing.T, change func(*Server), f func(t *testing.T, b *bench)) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{net: newNet(), ended: make(chan error, 1)}
		b.Server = &Server{Open: b.open, Listen: b.net.listen, Done: func(d Transfer) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.done = append(b.done, d)
		}, Log: slog.New(slog.NewTextHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
		if change != nil {
			change(b.Server)
		}
		ctx, cancel := context.WithCancel(t.Context())
		b.cancel = cancel
		door := b.net.socket(netip.AddrPortFrom(netip.IPv4Unspecified(), serverAt.Port()))
		go func() { b.ended <- b.Serve(ctx, door) }()
		b.client = b.net.socket(clientAt)
		f(t, b)
		cancel()
		if err := <-b.ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if closed := b.closed.Load(); b.opened != closed {
			t.Errorf("%d files opened, %d closed", b.opened, closed)
		}
	})
}

// ask sends b to the server and returns the first answer.
func (b *bench) ask(t *testing.T, packet []byte) datagram {
	t.Helper()
	b.client.send(packet, serverAt)
	return b.client.expect(t)
}

// outcomes waits until all is at rest and returns how requests ended.
func (b *bench) outcomes() string {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, d := range b.done {
		all = append(all, string(d.Outcome))
	}
	return strings.Join(all, " ")
}

func (b *bench) wantOutcomes(t *testing.T, want string) {
	t.Helper()
	if got := b.outcomes(); got != want {
		t.Errorf("requests ended %q, want %q", got, want)
	}
}

// fetch acknowledges block after block from the answer on and returns the
// bytes.
func (b *bench) fetch(t *testing.T, d datagram, block int) []byte {
	t.Helper()
	var got []byte
	for n := int64(1); ; n++ {
		if opcode(d.b) != opData || d.b[3] != byte(n) {
			t.Fatalf("block %d is %q", n, d.b)
		}
		got = append(got, d.b[headLen:]...)
		b.client.send(ack(n), d.from)
		if len(d.b)-headLen < block {
			return got
		}
		d = b.client.expect(t)
	}
}

func fetch(t *testing.T) {
	within(t, nil, func(t *testing.T, b *bench) {
		first := b.ask(t, rrq(`\boot`, "OcTeT"))
		if first.from.Addr() != serverAt.Addr() || first.from.Port() == serverAt.Port() {
			t.Errorf("the answer comes from %s", first.from)
		}
		if got := b.fetch(t, first, 512); !bytes.Equal(got, content(2000)) {
			t.Errorf("%d wrong bytes", len(got))
		}
		b.wantOutcomes(t, "complete")
		d := b.done[0]
		if d.Client != clientAt || d.Local != serverAt.Addr() || d.Name != "boot" || d.Size != 2000 || d.Bytes != 2000 || d.Block != 512 || d.Window != 1 || d.Err != nil {
			t.Errorf("%+v", d)
		}
	})
}

// EDK2 asks for the size, ends that with an ERROR, and asks again.
func probeThenFetch(t *testing.T) {
	within(t, nil, func(t *testing.T, b *bench) {
		packets := captured(t)
		for name, p := range packets {
			packets[name] = bytes.ReplaceAll(p, []byte("boot.efi"), []byte("boot"))
		}
		probe := b.ask(t, packets["edk2-size"])
		if string(probe.b) != "\x00\x06tsize\x002000\x00blksize\x001468\x00windowsize\x004\x00" {
			t.Errorf("the OACK is %q", probe.b)
		}
		b.client.send(appendError(nil, errOptions, "User aborted the transfer"), probe.from)
		b.wantOutcomes(t, "probed")
		oack := b.ask(t, packets["edk2"])
		b.client.send(ack(0), oack.from)
		if got := len(b.client.expect(t).b) + len(b.client.expect(t).b); got != 2000+2*headLen {
			t.Errorf("a window of %d bytes", got)
		}
		b.client.send(ack(2), oack.from)
		b.wantOutcomes(t, "probed complete")
	})
}

func TestChecklistOfRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		packet, answer string
		outcome        Outcome
	}{
		"what does not exist gets ERROR 1, at once":         {"\x00\x01none\x00octet\x00", "\x00\x05\x00\x01no such file\x00", NotFound},
		"a garbled name of a second stage gets ERROR 1":     {"\x00\x01\xd0\xcf\x11 grubx64.efi\x00octet\x00", "\x00\x05\x00\x01no such file\x00", NotFound},
		"a way out gets ERROR 2":                            {"\x00\x01../x\x00octet\x00", "\x00\x05\x00\x02the path leads out\x00", Denied},
		"an empty name gets ERROR 1":                        {"\x00\x01\x00octet\x00", "\x00\x05\x00\x01no such file\x00", NotFound},
		"what is not for this client gets ERROR 2":          {"\x00\x01secret\x00octet\x00", "\x00\x05\x00\x02not for this client\x00", Denied},
		"a file that is broken gets ERROR 0, and no reason": {"\x00\x01broken\x00octet\x00", "\x00\x05\x00\x00the server has a problem with this file\x00", Failed},
		"netascii gets ERROR 4":                             {"\x00\x01boot\x00netascii\x00", "\x00\x05\x00\x04only mode octet (binary) is served\x00", Rejected},
		"a write gets ERROR 2":                              {"\x00\x02boot\x00octet\x00", "\x00\x05\x00\x02this server is read-only\x00", Denied},
		"a write of anything gets ERROR 2":                  {"\x00\x02../boot\x00netascii\x00", "\x00\x05\x00\x02this server is read-only\x00", Denied},
		"a client that Open is silent to hears nothing":     {"\x00\x01stranger\x00octet\x00", "", Silenced},
		"an ACK of nothing is silent":                       {"\x00\x04\x00\x01", "", Discarded},
		"a request without a mode is silent":                {"\x00\x01boot", "", Discarded},
		"an empty packet is silent":                         {"", "", Discarded},
		"an ERROR is never answered":                        {"\x00\x05\x00\x00what?\x00", "", Discarded},
	} {
		t.Run(name, func(t *testing.T) {
			within(t, nil, func(t *testing.T, b *bench) {
				b.client.send([]byte(c.packet), serverAt)
				if c.answer != "" {
					if got := b.client.expect(t); string(got.b) != c.answer || got.from.Addr() != serverAt.Addr() {
						t.Errorf("it is answered %q", got.b)
					}
				}
				b.client.quiet(t, time.Hour)
				b.wantOutcomes(t, string(c.outcome))
				if len(b.done) == 1 && (b.done[0].Err == nil || !strings.Contains(b.log.String(), "outcome="+string(c.outcome))) {
					t.Errorf("%+v\n%s", b.done[0], b.log.String())
				}
			})
		})
	}
}

// A stranger hears nothing, whatever it sends.
func strangers(t *testing.T) {
	stranger := func(_ context.Context, r Request) bool { return r.Client.Addr() != clientAt.Addr() }
	within(t, func(s *Server) { s.Admit = stranger }, func(t *testing.T, b *bench) {
		for _, p := range [][]byte{rrq("boot", "octet"), rrq("none", "octet"), rrq("..", "octet"), rrq("boot", "mail"), []byte("\x00\x02boot\x00octet\x00")} {
			b.client.send(p, serverAt)
			b.client.quiet(t, time.Minute)
		}
		b.wantOutcomes(t, "silenced silenced silenced silenced silenced")
		if b.net.opened != 2 { // the server's and the client's
			t.Errorf("%d sockets were opened", b.net.opened)
		}
	})
}

func groups(t *testing.T) {
	within(t, nil, func(t *testing.T, b *bench) {
		for _, to := range []string{"255.255.255.255:69", "224.0.1.1:69"} {
			b.client.send(rrq("boot", "octet"), netip.MustParseAddrPort(to))
			b.client.quiet(t, time.Minute)
		}
		b.wantOutcomes(t, "discarded discarded")
	})
}

func requestTwice(t *testing.T) {
	within(t, nil, func(t *testing.T, b *bench) {
		first := b.ask(t, rrq("boot", "octet", "tsize", "0"))
		second := b.ask(t, rrq("boot", "octet", "tsize", "0"))
		if first.from != second.from || !bytes.Equal(first.b, second.b) {
			t.Errorf("%q from %s, then %q from %s", first.b, first.from, second.b, second.from)
		}
		b.client.send(ack(0), first.from)
		d := b.client.expect(t)
		b.client.send(rrq("boot", "octet", "tsize", "0"), serverAt) // an old packet
		b.client.quiet(t, 100*time.Millisecond)
		if got := b.fetch(t, d, 512); !bytes.Equal(got, content(2000)) {
			t.Errorf("%d wrong bytes", len(got))
		}
		b.wantOutcomes(t, "complete")
		if b.opened != 1 {
			t.Errorf("opened %d times", b.opened)
		}
	})
}

// A client that was reset asks from the same port again.
func requestAnew(t *testing.T) {
	within(t, nil, func(t *testing.T, b *bench) {
		d := b.ask(t, rrq("boot", "octet"))
		b.client.send(ack(1), d.from)
		b.client.expect(t)
		b.client.expect(t) // again, after a second
		d = b.ask(t, rrq("boot", "octet"))
		if got := b.fetch(t, d, 512); !bytes.Equal(got, content(2000)) {
			t.Errorf("%d wrong bytes", len(got))
		}
		b.wantOutcomes(t, "superseded complete")
	})
}

func anotherRequest(t *testing.T) {
	within(t, nil, func(t *testing.T, b *bench) {
		b.ask(t, rrq("boot", "octet", "tsize", "0"))
		d := b.ask(t, rrq("boot", "octet", "blksize", "1024"))
		b.client.send(ack(0), d.from)
		if got := b.fetch(t, b.client.expect(t), 1024); !bytes.Equal(got, content(2000)) {
			t.Errorf("%d wrong bytes", len(got))
		}
		b.wantOutcomes(t, "superseded complete")
	})
}

func wrongTID(t *testing.T) {
	within(t, nil, func(t *testing.T, b *bench) {
		first := b.ask(t, rrq("boot", "octet"))
		other := b.net.socket(netip.MustParseAddrPort("10.0.0.51:2070"))
		other.send(appendError(nil, errOther, "you"), first.from)
		other.quiet(t, 10*time.Millisecond)
		for range 2 * maxStrays {
			other.send(ack(1), first.from)
		}
		synctest.Wait()
		if got := other.expect(t).b; string(got) != "\x00\x05\x00\x05unknown transfer\x00" {
			t.Errorf("a wrong TID is answered %q", got)
		}
		if n := len(other.in); n != maxStrays-1 {
			t.Errorf("%d more answers", n)
		}
		if got := b.fetch(t, first, 512); !bytes.Equal(got, content(2000)) {
			t.Errorf("%d wrong bytes", len(got))
		}
		b.wantOutcomes(t, "complete")
	})
}

func silentClient(t *testing.T) {
	within(t, nil, func(t *testing.T, b *bench) {
		began := time.Now()
		b.client.send(rrq("boot", "octet"), serverAt)
		for range 1 + maxTries {
			b.client.expect(t)
		}
		b.client.quiet(t, time.Hour)
		b.wantOutcomes(t, "timed-out")
		if d := b.done[0]; d.Took != 31*time.Second || d.Bytes != 0 || d.Resent != maxTries || !errors.Is(d.Err, errQuiet) {
			t.Errorf("%+v after %s", d, time.Since(began))
		}
	})
}

func TestClientAborts(t *testing.T) {
	within(t, nil, func(t *testing.T, b *bench) {
		d := b.ask(t, rrq("boot", "octet"))
		b.client.send(ack(1), d.from)
		b.client.send(appendError(nil, 3, "disk full"), d.from)
		b.wantOutcomes(t, "aborted")
		said, ok := errors.AsType[*ClientError](b.done[0].Err)
		if !ok || said.Number != 3 || said.Text != "disk full" || b.done[0].Bytes != 512 {
			t.Errorf("%+v", b.done[0])
		}
	})
}

func TestFileShorterThanItsSize(t *testing.T) {
	within(t, nil, func(t *testing.T, b *bench) {
		d := b.ask(t, rrq("cut", "octet"))
		b.client.send(ack(1), d.from)
		if got := b.client.expect(t).b; string(got) != "\x00\x05\x00\x00the server cannot read the file\x00" {
			t.Errorf("got %q", got)
		}
		b.wantOutcomes(t, "failed")
	})
}

func TestStop(t *testing.T) {
	within(t, nil, func(t *testing.T, b *bench) {
		b.ask(t, rrq("boot", "octet"))
		b.cancel()
		if got := b.client.expect(t).b; string(got) != "\x00\x05\x00\x00the server stops\x00" {
			t.Errorf("got %q", got)
		}
		b.wantOutcomes(t, "stopped")
	})
}

// What Open makes of the end of its context is no fault of the file.
func TestStopWhileOpening(t *testing.T) {
	slow := func(ctx context.Context, _ Request) (File, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	within(t, func(s *Server) { s.Open = slow }, func(t *testing.T, b *bench) {
		b.client.send(rrq("boot", "octet"), serverAt)
		b.client.quiet(t, time.Hour)
		b.cancel()
		b.wantOutcomes(t, "stopped")
	})
}

// An address of IPv4 in its 16-byte form is the same address.
func TestMappedLocal(t *testing.T) {
	within(t, nil, func(t *testing.T, b *bench) {
		b.client.send(rrq("none", "octet"), netip.MustParseAddrPort("[::ffff:10.0.0.1]:69"))
		if got := b.client.expect(t); got.from.Addr() != serverAt.Addr() {
			t.Errorf("the answer comes from %s", got.from)
		}
		b.wantOutcomes(t, "not-found")
		if b.done[0].Local != serverAt.Addr() {
			t.Errorf("%+v", b.done[0])
		}
	})
}

func TestLimits(t *testing.T) {
	limits := Limits{Sessions: 3, PerClient: 2}
	within(t, func(s *Server) { s.Limits = limits }, func(t *testing.T, b *bench) {
		var transfers []datagram
		var clients []*socket
		for _, from := range []string{"10.0.0.50:1", "10.0.0.50:2", "10.0.0.50:3", "10.0.0.51:1", "10.0.0.52:1"} {
			c := b.net.socket(netip.MustParseAddrPort(from))
			c.send(rrq("boot", "octet"), serverAt)
			synctest.Wait()
			switch from {
			case "10.0.0.50:3", "10.0.0.52:1":
				c.quiet(t, time.Millisecond)
				continue
			}
			clients, transfers = append(clients, c), append(transfers, c.expect(t))
		}
		b.wantOutcomes(t, "limited limited")
		clients[0].send(appendError(nil, errOther, "enough"), transfers[0].from)
		b.wantOutcomes(t, "limited limited aborted")
		b.ask(t, rrq("boot", "octet")) // there is room again
		for _, c := range clients {
			c.Close()
		}
	})
}

// Blocks fit the network: 32 bytes less for IPv4, 52 for IPv6.
func mtu(t *testing.T) {
	for from, want := range map[string]string{"10.0.0.50:1": "1368", "[fd00::50]:1": "1348", "[::ffff:10.0.0.50]:2": "1368"} {
		within(t, func(s *Server) { s.MTU = 1400 }, func(t *testing.T, b *bench) {
			c := b.net.socket(netip.MustParseAddrPort(from))
			c.send(rrq("boot", "octet", "blksize", "1468"), serverAt)
			synctest.Wait()
			var got string
			if len(c.in) > 0 {
				got = string(c.expect(t).b)
			} else { // an address of IPv4 is answered in its 4-byte form
				plain := b.net.socket(netip.MustParseAddrPort("10.0.0.50:2"))
				got = string(plain.expect(t).b)
			}
			if got != "\x00\x06blksize\x00"+want+"\x00" {
				t.Errorf("%s is answered %q", from, got)
			}
		})
	}
}

func TestInvalidServers(t *testing.T) {
	open := func(context.Context, Request) (File, error) { return nil, fs.ErrNotExist }
	for field, s := range map[string]Server{
		"Open":   {},
		"Limits": {Open: open, Limits: Limits{Sessions: -1}},
		"MTU":    {Open: open, MTU: 100},
	} {
		invalid, ok := errors.AsType[*Invalid](s.Serve(t.Context(), nil))
		if !ok || invalid.Field != field || invalid.Code() != "INVALID_CONFIG" {
			t.Errorf("%s: %v", field, invalid)
		}
	}
}

// Many clients at once all get their bytes, and leave nothing behind.
func manyClients(t *testing.T) {
	within(t, nil, func(t *testing.T, b *bench) {
		var all sync.WaitGroup
		for n := range 200 {
			c := b.net.socket(netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 1, byte(n)}), 2070))
			all.Go(func() {
				defer c.Close()
				c.send(rrq("boot", "octet"), serverAt)
				mine := bench{net: b.net, client: c}
				if got := mine.fetch(t, c.expect(t), 512); !bytes.Equal(got, content(2000)) {
					t.Errorf("client %d got %d wrong bytes", n, len(got))
				}
			})
		}
		all.Wait()
		if got := b.outcomes(); strings.Count(got, "complete") != 200 {
			t.Errorf("requests ended %s", got)
		}
		if n := len(b.net.sockets); n != 2 { // the server's and the first client's
			t.Errorf("%d sockets are left", n)
		}
	})
}

// A server whose socket is taken away says so, and ends its transfers.
func TestSocketTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, ended, closed := newNet(), make(chan error, 1), atomic.Int64{}
		s := &Server{Listen: n.listen, Open: func(context.Context, Request) (File, error) {
			return inMemory{bytes.NewReader(content(2000)), 2000, &closed}, nil
		}}
		door, client := n.socket(serverAt), n.socket(clientAt)
		go func() { ended <- s.Serve(t.Context(), door) }()
		client.send(rrq("boot", "octet"), serverAt)
		client.expect(t)
		door.Close()
		if err := <-ended; !errors.Is(err, net.ErrClosed) || closed.Load() != 1 {
			t.Errorf("%v, %d files closed", err, closed.Load())
		}
		if got := client.expect(t).b; opcode(got) != opError {
			t.Errorf("the client hears %q", got)
		}
	})
}
