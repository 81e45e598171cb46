package demo

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// A firmware boots a machine over the network, as UEFI with an iPXE does.
type firmware struct {
	world World
	mac   booter.MAC
	uuid  [16]byte
	relay netip.Addr     // its own, as a relay
	dhcp  netip.AddrPort // the booter's
	tftp  netip.AddrPort
	told  func(what, detail string)
	xid   uint32
}

// booted is what a firmware ends with: a kernel that was started with arguments.
type booted struct {
	address netip.Addr
	cmdline string
	image   string
	bytes   int64 // that were loaded
}

// The retries of firmware, which never gives up before its operator does.
const (
	firstAsk = 50 * time.Millisecond
	lastAsk  = 2 * time.Second
)

// boot goes from power on to a started kernel.
func (f *firmware) boot(ctx context.Context) (booted, error) {
	conn, err := f.world.Packet(ctx, "udp4", netip.AddrPortFrom(f.relay, 0).String())
	if err != nil {
		return booted{}, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var out booted
	lease, err := f.lease(ctx, conn, firmwareClass)
	if err != nil {
		return out, err
	}
	out.address = lease.address
	loader, err := f.fetch(ctx, lease)
	if err != nil {
		return out, err
	}
	f.told("booted", fmt.Sprintf("%s by DHCP, %d bytes of a boot program by TFTP", lease.address, len(loader)))
	if lease, err = f.lease(ctx, conn, ipxeClass); err != nil {
		return out, err
	}
	return f.script(ctx, lease, out)
}

// lease is an address and a file to go on with.
type lease struct {
	address netip.Addr
	file    string
}

// The stages as a client shows them.
var (
	firmwareClass = [][]byte{option(60, "PXEClient:Arch:00007:UNDI:003000"), option(93, "\x00\x07"), option(94, "\x01\x03\x00")}
	ipxeClass     = [][]byte{option(60, "PXEClient:Arch:00007:UNDI:003000"), option(77, "iPXE"), option(93, "\x00\x07"), option(94, "\x01\x03\x00")}
)

func option(code byte, v string) []byte { return append([]byte{code, byte(len(v))}, v...) }

// lease asks until it is answered: DISCOVER and OFFER, REQUEST and ACK.
func (f *firmware) lease(ctx context.Context, conn net.PacketConn, class [][]byte) (lease, error) {
	for wait := firstAsk; ; wait = min(2*wait, lastAsk) {
		offer, err := f.ask(ctx, conn, wait, 1, class)
		if err != nil {
			return lease{}, err
		}
		if offer == nil {
			continue
		}
		id, address := find(offer, 54), offer[16:20]
		ack, err := f.ask(ctx, conn, wait, 3, append(class[:len(class):len(class)], option(54, string(id)), option(50, string(address))))
		if err != nil {
			return lease{}, err
		}
		if ack == nil || find(ack, 53)[0] != 5 {
			continue
		}
		file := find(ack, 67)
		return lease{netip.AddrFrom4([4]byte(address)), strings.TrimRight(string(file), "\x00")}, nil
	}
}

// ask sends one message and waits so long for its reply, nil where there is none.
func (f *firmware) ask(ctx context.Context, conn net.PacketConn, wait time.Duration, kind byte, options [][]byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if _, err := conn.WriteTo(f.message(kind, options), net.UDPAddrFromAddrPort(f.dhcp)); err != nil && ctx.Err() == nil {
		pause.For(ctx, wait) // nobody is there, for the moment
		return nil, nil
	}
	_ = conn.SetReadDeadline(f.world.Now().Add(wait))
	for buf := make([]byte, 1500); ; {
		n, _, err := conn.ReadFrom(buf)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, nil
		case n > 244 && binary.BigEndian.Uint32(buf[4:]) == f.xid: // else it answers an earlier one
			return buf[:n], nil
		}
	}
}

// message is a DHCP message that came by this machine as its own relay: with where it
// stands (82/5) and that the reply goes to the port it came from (82/19).
func (f *firmware) message(kind byte, options [][]byte) []byte {
	b := make([]byte, 240, 512)
	b[0], b[1], b[2], b[3] = 1, 1, 6, 1
	f.xid++
	binary.BigEndian.PutUint32(b[4:], f.xid)
	relay, net := f.relay.As4(), admin.Addr().As4()
	copy(b[24:], relay[:])
	copy(b[28:], f.mac[:])
	copy(b[236:], []byte{99, 130, 83, 99})
	b = append(b, 53, 1, kind)
	for _, o := range options {
		b = append(b, o...)
	}
	b = append(append(b, 97, 17, 0), f.uuid[:]...)
	b = append(append(b, 82, 8, 5, 4), net[:]...)
	return append(b, 19, 0, 255)
}

// find is an option of a reply.
func find(reply []byte, code byte) []byte {
	for b := reply[240:]; len(b) > 1 && b[0] != 255; {
		switch {
		case b[0] == 0:
			b = b[1:]
			continue
		case len(b) < 2+int(b[1]):
			return nil
		case b[0] == code:
			return b[2 : 2+int(b[1])]
		}
		b = b[2+int(b[1]):]
	}
	return []byte{0}
}

// fetch reads a file by TFTP (RFC 1350, with blocks of 1,428 bytes by RFC 2348).
func (f *firmware) fetch(ctx context.Context, l lease) ([]byte, error) {
	conn, err := f.world.Packet(ctx, "udp4", netip.AddrPortFrom(l.address, 0).String())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	ask := append(append([]byte{0, 1}, l.file...), "\x00octet\x00blksize\x001428\x00"...)
	return (&transfer{conn: conn, ctx: ctx, world: f.world, block: 512}).read(ask, net.UDPAddrFromAddrPort(f.tftp))
}

// A transfer is a TFTP client's end of one file.
type transfer struct {
	conn  net.PacketConn
	ctx   context.Context
	world World
	block int
	next  uint16
	out   []byte
}

// tries is how often a packet is sent again before the file is given up.
const tries = 20

func (t *transfer) read(ask []byte, to net.Addr) ([]byte, error) {
	last, left := ask, tries
	buf := make([]byte, 2048)
	for t.next = 1; ; {
		if _, err := t.conn.WriteTo(last, to); err != nil {
			return nil, err
		}
		_ = t.conn.SetReadDeadline(t.world.Now().Add(time.Second))
		n, from, err := t.conn.ReadFrom(buf)
		if t.ctx.Err() != nil {
			return nil, context.Cause(t.ctx)
		}
		if err != nil || n < 4 {
			if left--; left == 0 {
				return nil, errors.New("TFTP: no answer")
			}
			continue
		}
		reply, done, err := t.take(buf[:n])
		if err != nil {
			return nil, err
		}
		last, to, left = reply, from, tries
		if done {
			_, err := t.conn.WriteTo(last, to)
			return t.out, err
		}
	}
}

// take takes a packet of the server, and returns what to answer.
func (t *transfer) take(b []byte) (reply []byte, done bool, err error) {
	switch binary.BigEndian.Uint16(b) {
	case 6: // OACK: 1428 was asked for, and only that
		t.block = 1428
		return []byte{0, 4, 0, 0}, false, nil
	case 3:
		n := binary.BigEndian.Uint16(b[2:])
		if n == t.next {
			t.out = append(t.out, b[4:]...)
			t.next++
			done = len(b)-4 < t.block
		}
		return []byte{0, 4, b[2], b[3]}, done, nil
	case 5:
		return nil, false, fmt.Errorf("TFTP: %q", b[4:])
	}
	return nil, false, errors.New("TFTP: a packet of no kind")
}

// script runs the iPXE script: it loads what the script says, and starts the kernel.
func (f *firmware) script(ctx context.Context, l lease, out booted) (booted, error) {
	text, err := f.get(ctx, l, l.file)
	if err != nil {
		return out, err
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "# image "):
			out.image = words[2]
		case len(words) > 3 && (words[0] == "kernel" || words[0] == "initrd"):
			body, err := f.get(ctx, l, words[3])
			if err != nil {
				return out, err
			}
			out.bytes += int64(len(body))
			if words[0] == "kernel" {
				out.cmdline, _, _ = strings.Cut(strings.Join(words[4:], " "), " ||")
			}
		}
	}
	if out.cmdline == "" {
		return out, errors.New("the script starts no kernel")
	}
	f.told("loaded", fmt.Sprintf("%s, %d bytes by HTTP", out.image, out.bytes))
	return out, nil
}

// get reads a URL from the machine's own address, and tries again as the script would.
func (f *firmware) get(ctx context.Context, l lease, url string) ([]byte, error) {
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return f.world.DialFrom(ctx, l.address, network, address)
	}}}
	var last error
	for try := range tries {
		body, err := once(ctx, c, url)
		if err == nil {
			return body, nil
		}
		last = err
		if !pause.For(ctx, time.Duration(try)*200*time.Millisecond) {
			return nil, context.Cause(ctx)
		}
	}
	return nil, last
}

func once(ctx context.Context, c *http.Client, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s", res.Status)
	}
	return io.ReadAll(res.Body)
}
