package booting

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/dhcp4"
	"github.com/ingotmetal/ingot/cmd/api"
)

// large is a desk of 10,000 machines that enroll.
func large(b *testing.B) (*Desk, *clock) {
	c := &clock{at: noon}
	all := make([]api.ServedBoot, 10_000)
	for i := range all {
		all[i] = boot(numbered(i).String(), "enrolling", fmt.Sprintf("10.78.%d.%d", i/250, 1+i%250))
	}
	p := policy()
	p.Network = "10.78.0.0/16"
	d := newDesk(b, place(), c.now)
	d.Change(func(*World) *World {
		return NewWorld(api.BootSnapshot{Incarnation: "i1", Revision: 7, Policy: p, Boots: all})
	})
	return d, c
}

// One packet, from its bytes to the reply's: read, remembered, decided, written.
func BenchmarkPacket(b *testing.B) {
	d, c := large(b)
	s := dhcp4.Packet{}
	buf := make([]byte, 0, booter.LargestSize)
	raws := make([][]byte, 10_000)
	for i := range raws {
		raws[i] = message(numbered(i), 1, pxe...)
	}
	b.ReportAllocs()
	answered := 0
	for n := 0; b.Loop(); n++ {
		c.add(time.Millisecond)
		s.Read(raws[n%len(raws)])
		s.Interface = "adm0"
		r, f, ok := d.Answer(&s)
		if !ok {
			continue
		}
		answered++
		if _, err := dhcp4.Append(buf, &s, &r, &f); err != nil {
			b.Fatal(err)
		}
	}
	if answered == 0 {
		b.Fatal("nothing was answered")
	}
}

// What a desk of 10,000 machines has resident after a million packets of strangers,
// each of another MAC, half of them of random bytes.
func BenchmarkAMillionHostilePackets(b *testing.B) {
	d, c := large(b)
	random := rand.New(rand.NewPCG(1, 2))
	var s dhcp4.Packet
	for b.Loop() {
		for n := range 1_000_000 {
			c.add(50 * time.Microsecond)
			raw := message(booter.MAC{2, 1, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, byte(1+n%8), pxe...)
			if n%2 == 0 {
				for range 20 {
					raw[random.IntN(len(raw))] = byte(random.Uint32())
				}
			}
			s.Read(raw)
			s.Interface = "adm0"
			d.Answer(&s)
		}
	}
	b.ReportMetric(resident(b), "MiB")
}

// resident is the memory that this process has, in MiB.
func resident(b *testing.B) float64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip("no /proc here")
	}
	pages, err := strconv.Atoi(strings.Fields(string(raw))[1])
	if err != nil {
		b.Fatal(err)
	}
	return float64(pages*os.Getpagesize()) / (1 << 20)
}
