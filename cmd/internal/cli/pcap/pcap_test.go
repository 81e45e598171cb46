package pcap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 123_456_000, time.UTC)

// A form is how a capture is written.
type form struct {
	order binary.AppendByteOrder
	magic uint32
	link  uint32
	unit  time.Duration
}

var little, big = form{binary.LittleEndian, 0xa1b2c3d4, 1, time.Microsecond}, form{binary.BigEndian, 0xa1b2c3d4, 1, time.Microsecond}

// capture writes frames as a file.
func (f form) capture(frames ...[]byte) []byte {
	b := f.order.AppendUint32(nil, f.magic)
	b = f.order.AppendUint16(f.order.AppendUint16(b, 2), 4)
	b = f.order.AppendUint32(append(b, make([]byte, 8)...), 262144)
	b = f.order.AppendUint32(b, f.link)
	for i, frame := range frames {
		at := noon.Add(time.Duration(i) * time.Second)
		b = f.order.AppendUint32(b, uint32(at.Unix()))
		b = f.order.AppendUint32(b, uint32(time.Duration(at.Nanosecond())/f.unit))
		b = f.order.AppendUint32(f.order.AppendUint32(b, uint32(len(frame))), uint32(len(frame)))
		b = append(b, frame...)
	}
	return b
}

// datagram is UDP in IPv4 from 0.0.0.0:68.
func datagram(port uint16, payload string) []byte {
	u := binary.BigEndian.AppendUint16(nil, 68)
	u = binary.BigEndian.AppendUint16(u, port)
	u = binary.BigEndian.AppendUint16(u, uint16(8+len(payload)))
	u = append(append(u, 0, 0), payload...)
	ip := append([]byte{0x45, 0}, binary.BigEndian.AppendUint16(nil, uint16(20+len(u)))...)
	ip = append(ip, 0, 0, 0, 0, 64, 17, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255)
	return append(ip, u...)
}

func ethernet(kind uint16, rest []byte) []byte {
	return append(binary.BigEndian.AppendUint16(make([]byte, 12), kind), rest...)
}

func read(raw []byte) (all []Datagram, err error) {
	for d, e := range Read(raw) {
		if e != nil {
			return all, e
		}
		all = append(all, d)
	}
	return all, nil
}

// Both byte orders, both units of time and all three kinds of link say the same.
func TestForms(t *testing.T) {
	ip := datagram(67, "hello")
	for name, c := range map[string]struct {
		form
		frame []byte
	}{
		"little":      {little, ethernet(typeIPv4, ip)},
		"big":         {big, ethernet(typeIPv4, ip)},
		"nanoseconds": {form{binary.LittleEndian, 0xa1b23c4d, 1, time.Nanosecond}, ethernet(typeIPv4, ip)},
		"padded":      {little, append(ethernet(typeIPv4, ip), make([]byte, 30)...)},
		"VLAN":        {little, ethernet(typeVLAN, append([]byte{0, 7, 8, 0}, ip...))},
		"QinQ":        {little, ethernet(typeQinQ, append([]byte{0, 7, 0x81, 0, 0, 8, 8, 0}, ip...))},
		"cooked":      {form{binary.LittleEndian, 0xa1b2c3d4, 113, time.Microsecond}, append(binary.BigEndian.AppendUint16(make([]byte, 14), typeIPv4), ip...)},
		"cooked 2":    {form{binary.LittleEndian, 0xa1b2c3d4, 276, time.Microsecond}, append(append(binary.BigEndian.AppendUint16(nil, typeIPv4), make([]byte, 18)...), ip...)},
		"checksums":   {form{binary.LittleEndian, 0xa1b2c3d4, 1 | 0x90000000, time.Microsecond}, ethernet(typeIPv4, ip)},
	} {
		got, err := read(c.capture(c.frame))
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %v %v", name, got, err)
			continue
		}
		d := got[0]
		if string(d.Payload) != "hello" || d.Cut || !d.Time.Equal(noon) || d.Source != netip.MustParseAddrPort("0.0.0.0:68") || d.Dest != netip.MustParseAddrPort("255.255.255.255:67") || d.Number != 1 {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// What is no UDP is passed over, and numbers are those of the capture.
func TestPassedOver(t *testing.T) {
	ip := datagram(67, "x")
	other := func(change func(b []byte)) []byte {
		b := bytes.Clone(ip)
		change(b)
		return ethernet(typeIPv4, b)
	}
	frames := [][]byte{
		nil, make([]byte, 10), ethernet(0x0806, ip), ethernet(typeIPv4, ip[:19]), ethernet(typeIPv4, ip[:24]),
		other(func(b []byte) { b[9] = 6 }), other(func(b []byte) { b[0] = 0x65 }), other(func(b []byte) { b[0] = 0x41 }), other(func(b []byte) { b[0] = 0x4f }),
		other(func(b []byte) { b[6] = 0x20 }), other(func(b []byte) { b[7] = 1 }), other(func(b []byte) { b[3] = 3 }), other(func(b []byte) { b[25] = 7 }),
		ethernet(typeVLAN, []byte{0, 1}), ethernet(typeIPv6, ip), ethernet(typeIPv4, ip),
	}
	got, err := read(little.capture(frames...))
	if err != nil || len(got) != 1 || got[0].Number != len(frames) {
		t.Errorf("%+v %v", got, err)
	}
}

func TestIPv6(t *testing.T) {
	u := append([]byte{0x02, 0x22, 0x02, 0x23, 0, 9, 0, 0}, 'x')
	ip := append([]byte{0x60, 0, 0, 0, 0, 9, 17, 64}, make([]byte, 32)...)
	ip[8], ip[24] = 0xfe, 0xff
	got, err := read(little.capture(ethernet(typeIPv6, append(ip, u...))))
	if err != nil || len(got) != 1 || got[0].Dest.Port() != 547 || string(got[0].Payload) != "x" {
		t.Errorf("%+v %v", got, err)
	}
}

// A packet of which the capture has the beginning alone is told apart.
func TestCut(t *testing.T) {
	frame := ethernet(typeIPv4, datagram(67, "hello"))
	got, err := read(little.capture(frame[:len(frame)-2]))
	if err != nil || len(got) != 1 || !got[0].Cut || string(got[0].Payload) != "hel" {
		t.Errorf("%+v %v", got, err)
	}
}

// What cannot be read is said, after what came before it.
func TestDamage(t *testing.T) {
	whole := little.capture(ethernet(typeIPv4, datagram(67, "one")), ethernet(typeIPv4, datagram(67, "two")))
	huge := bytes.Clone(whole)
	binary.LittleEndian.PutUint32(huge[24+8:], MaxRecord+1)
	ng := append([]byte{0x0a, 0x0d, 0x0d, 0x0a}, make([]byte, 40)...)
	old := bytes.Clone(whole)
	old[4] = 1
	wifi := form{binary.LittleEndian, 0xa1b2c3d4, 105, time.Microsecond}
	for name, c := range map[string]struct {
		raw  []byte
		n    int
		code string
		what string
	}{
		"empty":            {nil, 0, "INVALID_INPUT", "no whole header"},
		"a short header":   {whole[:20], 0, "INVALID_INPUT", "no whole header"},
		"no capture":       {[]byte(strings.Repeat("no capture", 9)), 0, "INVALID_INPUT", "does not begin"},
		"a cut header":     {whole[:len(whole)-49], 1, "INVALID_INPUT", "header of a packet"},
		"a cut packet":     {whole[:len(whole)-1], 1, "INVALID_INPUT", "in a packet"},
		"a huge packet":    {huge, 0, "INVALID_INPUT", "at most 262144"},
		"pcapng":           {ng, 0, "UNSUPPORTED", "editcap"},
		"another version":  {old, 0, "UNSUPPORTED", "version 1"},
		"another link":     {wifi.capture(), 0, "UNSUPPORTED", "link type 105"},
		"nothing captured": {little.capture(), 0, "", ""},
	} {
		got, err := read(c.raw)
		code := ""
		if coded, ok := errors.AsType[interface {
			error
			Code() string
		}](err); ok {
			code = coded.Code()
		}
		if len(got) != c.n || code != c.code || err != nil && !strings.Contains(err.Error(), c.what) {
			t.Errorf("%s: %d datagrams, %v", name, len(got), err)
		}
	}
	for name, want := range map[string]bool{string(whole): true, string(big.capture()): true, string(ng): true, "0101": false, "": false} {
		if Is([]byte(name)) != want {
			t.Errorf("%.8x", name)
		}
	}
}

// tcpdump reads what these tests write as we do.
func TestPeer(t *testing.T) {
	tcpdump, err := exec.LookPath("tcpdump")
	if err != nil {
		if why := "tcpdump is missing: apt-get install tcpdump"; os.Getenv("INGOT_TEST_ALL") == "1" {
			t.Fatal(why)
		} else {
			t.Skip(why)
		}
	}
	for _, f := range []form{little, big} {
		cmd := exec.Command(tcpdump, "-n", "-tttt", "-r", "-")
		cmd.Stdin = bytes.NewReader(f.capture(ethernet(typeIPv4, datagram(4011, "hello"))))
		out, err := cmd.Output()
		if err != nil || !strings.Contains(string(out), "0.0.0.0.68 > 255.255.255.255.4011") {
			t.Errorf("%v %s", err, out)
		}
	}
}

// FuzzRead wants an end for any bytes, and datagrams that lie within them.
func FuzzRead(f *testing.F) {
	f.Add(little.capture(ethernet(typeIPv4, datagram(67, "one")), ethernet(typeVLAN, append([]byte{0, 7, 8, 0}, datagram(67, "two")...))))
	f.Add(big.capture(ethernet(typeIPv6, make([]byte, 60))))
	f.Add([]byte{0x0a, 0x0d, 0x0d, 0x0a})
	f.Fuzz(func(t *testing.T, raw []byte) {
		n := 0
		for d, err := range Read(raw) {
			if err != nil {
				return
			}
			if n++; n > len(raw)/recordHeader || !bytes.Contains(raw, d.Payload) || d.Number < n {
				t.Fatalf("%+v", d)
			}
		}
	})
}
