package dhcp4

import (
	"errors"
	"net"
	"net/netip"
	"sync"

	"golang.org/x/net/ipv4"

	"github.com/ingotmetal/ingot/booter"
)

// Listen makes a Conn of a UDP socket that is bound to a port of all interfaces
// (Linux drops broadcasts to a socket bound to an address). It learns from the kernel
// by which interface a packet came, and answers by that one. A client without an
// address is answered at its hardware address by a packet socket, where the process
// may open one (CAP_NET_RAW), else by broadcast.
func Listen(c *net.UDPConn) (Conn, error) {
	local, ok := c.LocalAddr().(*net.UDPAddr)
	if !ok {
		return nil, errors.New("dhcp4: a UDP socket without an address")
	}
	p := ipv4.NewPacketConn(c)
	if err := p.SetControlMessage(ipv4.FlagInterface|ipv4.FlagDst, true); err != nil {
		return nil, err
	}
	u := &udpConn{packets: p, port: uint16(local.Port), names: map[int]string{}, read: make([]ipv4.Message, batch)}
	for i := range u.read {
		u.read[i] = ipv4.Message{Buffers: [][]byte{make([]byte, maxPacket+1)}, OOB: make([]byte, 128)}
	}
	return u, nil
}

// udpConn is a socket of the real network. Receive is for one goroutine.
type udpConn struct {
	packets *ipv4.PacketConn
	port    uint16
	read    []ipv4.Message

	mu     sync.Mutex
	names  map[int]string // of interfaces, by index
	direct directs
}

func (u *udpConn) Receive(in []Inbound) (int, error) {
	n, err := u.packets.ReadBatch(u.read[:min(len(in), len(u.read))], 0)
	if err != nil {
		return 0, err
	}
	for i, m := range u.read[:n] {
		in[i] = Inbound{Data: m.Buffers[0][:m.N], Source: addrPort(m.Addr), Interface: u.via(m)}
	}
	return n, nil
}

// via is the name of the interface that received a packet.
func (u *udpConn) via(m ipv4.Message) string {
	var cm ipv4.ControlMessage
	if cm.Parse(m.OOB[:m.NN]) != nil || cm.IfIndex == 0 {
		return ""
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	name, ok := u.names[cm.IfIndex]
	if !ok {
		if i, err := net.InterfaceByIndex(cm.IfIndex); err == nil {
			name, u.names[cm.IfIndex] = i.Name, i.Name
		}
	}
	return name
}

func addrPort(a net.Addr) netip.AddrPort {
	u, ok := a.(*net.UDPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	at := u.AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

func (u *udpConn) Send(b []byte, from netip.Addr, to booter.Destination) error {
	if to.Via == booter.Routed {
		return u.send(b, from, to)
	}
	if to.Via == booter.Direct {
		source := netip.AddrPortFrom(from, u.port)
		if err := u.direct.send(b, source, to); err == nil {
			return nil
		}
		to.To = netip.AddrPortFrom(netip.AddrFrom4([4]byte{255, 255, 255, 255}), to.To.Port())
	}
	return u.send(b, from, to)
}

// send sends by the kernel's stack, and out of the interface that is named.
func (u *udpConn) send(b []byte, from netip.Addr, to booter.Destination) error {
	cm := ipv4.ControlMessage{}
	if from.Is4() {
		cm.Src = from.AsSlice()
	}
	if to.Interface != "" {
		i, err := net.InterfaceByName(to.Interface)
		if err != nil {
			return err
		}
		cm.IfIndex = i.Index
	}
	_, err := u.packets.WriteTo(b, &cm, net.UDPAddrFromAddrPort(to.To))
	return err
}

func (u *udpConn) Close() error { return errors.Join(u.packets.Close(), u.direct.close()) }

// Plain makes a Conn of any packet connection, all of whose packets count as received
// by one interface. It reaches only clients that have an address, such as relays: it
// sends where a reply goes and can neither broadcast on an interface nor write to a
// hardware address.
func Plain(c net.PacketConn, of string) Conn {
	return &plain{PacketConn: c, name: of, buf: make([]byte, maxPacket+1)}
}

type plain struct {
	net.PacketConn
	name string
	buf  []byte
}

func (p *plain) Receive(in []Inbound) (int, error) {
	n, from, err := p.ReadFrom(p.buf)
	if err != nil {
		return 0, err
	}
	in[0] = Inbound{Data: p.buf[:n], Source: addrPort(from), Interface: p.name}
	return 1, nil
}

func (p *plain) Send(b []byte, _ netip.Addr, to booter.Destination) error {
	_, err := p.WriteTo(b, net.UDPAddrFromAddrPort(to.To))
	return err
}
