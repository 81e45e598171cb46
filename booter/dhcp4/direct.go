package dhcp4

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"sync"

	"github.com/mdlayher/packet"
	"golang.org/x/net/bpf"

	"github.com/ingotmetal/ingot/booter"
)

// directs are the packet sockets by which clients without an address are answered,
// by interface; made when first needed. They receive nothing.
type directs struct {
	mu   sync.Mutex
	open map[string]*packet.Conn
	shut bool
}

// etherIPv4 is the EtherType of what is sent.
const etherIPv4 = 0x0800

// deaf is the filter of a socket that only sends: it takes no byte of any packet.
func deaf() *packet.Config {
	return &packet.Config{Filter: []bpf.RawInstruction{{Op: returnConstant}}}
}

// returnConstant is BPF's RET with a constant, here 0.
const returnConstant = 0x06

func (d *directs) send(payload []byte, from netip.AddrPort, to booter.Destination) error {
	c, err := d.on(to.Interface)
	if err != nil {
		return err
	}
	b := datagram(make([]byte, 0, headers+len(payload)), payload, from, to.To)
	_, err = c.WriteTo(b, &packet.Addr{HardwareAddr: to.Hardware[:]})
	if err != nil {
		d.drop(to.Interface, c) // the interface may be another one by now
	}
	return err
}

func (d *directs) on(name string) (*packet.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.open[name]; ok {
		return c, nil
	}
	if d.shut {
		return nil, net.ErrClosed
	}
	i, err := net.InterfaceByName(name)
	if err != nil {
		return nil, err
	}
	c, err := packet.Listen(i, packet.Datagram, etherIPv4, deaf())
	if err != nil {
		return nil, err
	}
	if d.open == nil {
		d.open = map[string]*packet.Conn{}
	}
	d.open[name] = c
	return c, nil
}

func (d *directs) drop(name string, c *packet.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open[name] == c {
		delete(d.open, name)
		_ = c.Close() // it sends no more
	}
}

func (d *directs) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for name, c := range d.open {
		errs = append(errs, c.Close())
		delete(d.open, name)
	}
	d.shut = true
	return errors.Join(errs...)
}

const (
	ipHeader  = 20
	udpHeader = 8
	headers   = ipHeader + udpHeader
	protoUDP  = 17
)

// datagram appends an IPv4 packet with a UDP datagram (RFC 791, RFC 768), in one
// piece and with a TTL of 64.
func datagram(dst, payload []byte, from, to netip.AddrPort) []byte {
	src, at := from.Addr().As4(), to.Addr().As4()
	var h [headers]byte
	h[0], h[6], h[8], h[9] = 4<<4|ipHeader/4, 0x40, 64, protoUDP // do not fragment
	binary.BigEndian.PutUint16(h[2:], uint16(headers+len(payload)))
	copy(h[12:], src[:])
	copy(h[16:], at[:])
	binary.BigEndian.PutUint16(h[10:], ^sum(0, h[:ipHeader]))
	u := h[ipHeader:]
	binary.BigEndian.PutUint16(u, from.Port())
	binary.BigEndian.PutUint16(u[2:], to.Port())
	length := uint16(udpHeader + len(payload))
	binary.BigEndian.PutUint16(u[4:], length)
	pseudo := uint32(protoUDP) + uint32(length)
	check := ^sum(uint32(sum(uint32(sum(pseudo, h[12:ipHeader])), u)), payload)
	if check == 0 {
		check = 0xffff // zero says that there is none
	}
	binary.BigEndian.PutUint16(u[6:], check)
	return append(append(dst, h[:]...), payload...)
}

// sum adds b to a sum in ones' complement (RFC 1071).
func sum(n uint32, b []byte) uint16 {
	for ; len(b) > 1; b = b[2:] {
		n += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) == 1 {
		n += uint32(b[0]) << 8
	}
	for n > 0xffff {
		n = n>>16 + n&0xffff
	}
	return uint16(n)
}
