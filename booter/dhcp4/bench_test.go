package dhcp4

import (
	"net/netip"
	"testing"

	"github.com/ingotmetal/ingot/booter"
)

func BenchmarkRead(b *testing.B) {
	_, packets := captured(b)
	raw := packets["edk2-pxe4-request (57=0xff00)"]
	var p Packet
	b.ReportAllocs()
	for b.Loop() {
		if p.Read(raw); p.Parsed != "" {
			b.Fatal(p.Parsed)
		}
	}
}

// The decision, where the client goes on to, and the reply's bytes.
func BenchmarkDecideAndAppend(b *testing.B) {
	_, packets := captured(b)
	p := came(packets["edk2-pxe4-request (57=0xff00)"], "0.0.0.0:68")
	policy, rec, at := site(), enrolling(), pointer()
	rec.Address = p.Requested
	buf := make([]byte, 0, booter.LargestSize)
	b.ReportAllocs()
	for b.Loop() {
		r, why := policy.Answer(rec, p.Request, noon)
		if why != "" {
			b.Fatal(why)
		}
		first, _ := at.First(r.Client, r.Kind, token)
		out, err := Append(buf[:0], p, &r, &Fields{Mask: network, Router: netip.Addr{}, Boot: first})
		if err != nil || len(out) < minReply {
			b.Fatal(err)
		}
	}
}
