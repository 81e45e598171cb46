// Package firmware boots a simulated machine over the network as UEFI with an iPXE
// does: a lease by DHCP, a boot program by TFTP, a lease again as iPXE, the script and
// what it names by HTTP. It asks for its lease as the relay that it also is (RFC
// 8357), so that its packets need no broadcast and come the way of production.
package firmware

import (
	"context"
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

// A Firmware boots one machine. Fields are required, and not changed while it boots.
type Firmware struct {
	MAC   booter.MAC
	UUID  [16]byte       // as option 97 has it
	Relay netip.Addr     // of the machine, as a relay
	Link  netip.Addr     // of the network that it is on, for the relay to name (82/5)
	DHCP  netip.AddrPort // the booter's
	TFTP  netip.AddrPort
	Now   func() time.Time
	// Packet opens a UDP socket on an address of the machine, and Dial dials from one.
	Packet func(ctx context.Context, network, address string) (net.PacketConn, error)
	Dial   func(ctx context.Context, from netip.Addr, network, address string) (net.Conn, error)
	// Told hears of a stage that is over: booted or loaded.
	Told func(what, detail string)

	xid uint32
}

// Booted is what a firmware ends with: a kernel that was started with arguments.
type Booted struct {
	Address netip.Addr
	Cmdline string
	Image   string
	Bytes   int64 // that were loaded by HTTP
}

// Boot goes from power on to a started kernel. It asks for a lease until ctx ends;
// everything later is tried for a while.
func (f *Firmware) Boot(ctx context.Context) (Booted, error) {
	conn, err := f.Packet(ctx, "udp4", netip.AddrPortFrom(f.Relay, 0).String())
	if err != nil {
		return Booted{}, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var out Booted
	lease, err := f.lease(ctx, conn, firmwareClass)
	if err != nil {
		return out, err
	}
	out.Address = lease.address
	loader, err := f.fetch(ctx, lease)
	if err != nil {
		return out, err
	}
	f.Told("booted", fmt.Sprintf("%s by DHCP, %d bytes of a boot program by TFTP", lease.address, len(loader)))
	if lease, err = f.lease(ctx, conn, ipxeClass); err != nil {
		return out, err
	}
	return f.script(ctx, lease, out)
}

// script runs the iPXE script: it loads what the script says, and starts the kernel.
func (f *Firmware) script(ctx context.Context, l lease, out Booted) (Booted, error) {
	text, err := f.get(ctx, l, l.file)
	if err != nil {
		return out, err
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "# image "):
			out.Image = words[2]
		case len(words) > 3 && (words[0] == "kernel" || words[0] == "initrd"):
			body, err := f.get(ctx, l, words[3])
			if err != nil {
				return out, err
			}
			out.Bytes += int64(len(body))
			if words[0] == "kernel" {
				out.Cmdline, _, _ = strings.Cut(strings.Join(words[4:], " "), " ||")
			}
		}
	}
	if out.Cmdline == "" {
		return out, errors.New("the script starts no kernel")
	}
	f.Told("loaded", fmt.Sprintf("%s, %d bytes by HTTP", out.Image, out.Bytes))
	return out, nil
}

// get reads a URL from the machine's own address, and tries again as the script would.
func (f *Firmware) get(ctx context.Context, l lease, url string) ([]byte, error) {
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return f.Dial(ctx, l.address, network, address)
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
