package daemon_test

import (
	"context"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/pause"
	"github.com/ingotmetal/ingot/cmd/internal/store/storetest"
)

// misfortune is what a seed holds in store for a whole site: any of its processes is
// killed anywhere, disks lose what was written last, commits fail, connections break and
// ways are cut, for a while. Then all is well, and the site has to come to rest.
func (h *whole) misfortune(ctx context.Context) {
	for n := 0; ; n++ {
		if !pause.For(ctx, 2*time.Second+time.Duration(h.chance("pause", n)%uint64(25*time.Second))) {
			return
		}
		if !time.Now().Before(h.calm) {
			for _, b := range h.boxes {
				b.current().arm(-1)
			}
			for _, p := range h.ways() {
				h.net.Heal(p[0], p[1])
				h.net.Heal(p[1], p[0])
			}
			return
		}
		h.mishap(n)
	}
}

// ways are the pairs of hosts that talk.
func (h *whole) ways() [][2]string {
	out := [][2]string{{"booter", "ingotd"}, {"operator", "ingotd"}}
	for _, b := range h.boxes {
		out = append(out, [2]string{b.name, "booter"}, [2]string{b.name, "ingotd"})
	}
	return out
}

func (h *whole) mishap(n int) {
	b, some := h.boxes[h.chance("box", n)%uint64(len(h.boxes))], int(h.chance("some", n)>>1)
	way := h.ways()[some%len(h.ways())]
	switch h.chance("what", n) % 10 {
	case 0:
		h.net.Kill("ingotd")
	case 1:
		h.disk.Arm(1+some%5, []storetest.Fault{storetest.Lost, storetest.Replyless, storetest.Refused}[some%3])
	case 2:
		h.net.ResetBetween(way[0], way[1])
	case 3:
		h.net.Cut(way[some%2], way[1-some%2])
	case 4, 5:
		h.net.Heal(way[some%2], way[1-some%2])
	case 6:
		h.booter.kill()
	case 7:
		h.booter.doom(time.Duration(some % int(3*time.Second)))
	case 8:
		b.current().kill()
	case 9:
		b.current().arm(1 + some%60)
	}
}
