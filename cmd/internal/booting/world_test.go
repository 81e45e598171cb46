package booting

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/api"
)

// naive is a world as a list, judged anew for each question.
type naive map[string]api.ServedBoot

func (n naive) at(a netip.Addr) (mac string, ok bool) {
	for m, b := range n {
		if got, err := netip.ParseAddr(b.Address); err == nil && got == a {
			if ok {
				return "", false
			}
			mac, ok = m, true
		}
	}
	return mac, ok
}

func drawMAC(t *rapid.T) string {
	return fmt.Sprintf("02:00:00:00:00:%02x", rapid.IntRange(0, 7).Draw(t, "mac"))
}

// drawBoot makes records that share few addresses, so that these move between MACs, and
// some that a newer control plane wrote.
func drawBoot(t *rapid.T) api.ServedBoot {
	b := boot(drawMAC(t), rapid.SampledFrom([]string{"discovered", "enrolling", "enrolled", "x-new"}).Draw(t, "state"), "")
	if n := rapid.IntRange(0, 5).Draw(t, "address"); n > 0 {
		b.Address = fmt.Sprintf("10.78.0.%d", n)
	}
	b.Mode = rapid.SampledFrom([]string{"", "normal", "rescue", "x-new"}).Draw(t, "mode")
	return b
}

// What deltas make of a world is what a snapshot after them says (and what a naive list
// says of every address).
func TestDeltasEqualTheSnapshotAfterThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, model := NewWorld(api.BootSnapshot{Incarnation: "i1", Policy: policy()}), naive{}
		rev := uint64(0)
		for range rapid.IntRange(1, 12).Draw(t, "deltas") {
			rev += rapid.Uint64Range(0, 2).Draw(t, "revisions")
			d := api.BootDelta{Incarnation: "i1", Revision: rev}
			for range rapid.IntRange(0, 2).Draw(t, "deletes") {
				d.Delete = append(d.Delete, drawMAC(t))
			}
			for range rapid.IntRange(0, 3).Draw(t, "puts") {
				d.Put = append(d.Put, drawBoot(t))
			}
			for _, m := range d.Delete {
				delete(model, m)
			}
			for _, b := range d.Put {
				model[b.MAC] = b
			}
			if !w.Take(d) {
				t.Fatalf("%+v is not taken", d)
			}
		}
		s := api.BootSnapshot{Incarnation: "i1", Revision: rev, Policy: policy(), Boots: []api.ServedBoot{}}
		for _, m := range slices.Sorted(maps.Keys(model)) {
			s.Boots = append(s.Boots, model[m])
		}
		fresh := NewWorld(s)
		if got, want := text(w.Snapshot()), text(fresh.Snapshot()); got != want || want != text(s) {
			t.Fatalf("deltas make\n%s\na snapshot\n%s\nthe list\n%s", got, want, text(s))
		}
		for n := range 7 {
			a := netip.AddrFrom4([4]byte{10, 78, 0, byte(n)})
			want, known := model.at(a)
			for _, world := range []*World{w, fresh} {
				if got, ok := world.At(a); ok != known || ok && got.String() != want {
					t.Fatalf("%s: %s %t, want %s %t", a, got, ok, want, known)
				}
			}
		}
	})
}

func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestTakeRefusesAnotherWorld(t *testing.T) {
	w := NewWorld(snapshot(boot("02:00:00:00:00:01", "enrolling", "10.78.0.9")))
	for name, d := range map[string]api.BootDelta{
		"reset":              {Incarnation: "i1", Revision: 9, Reset: true},
		"another store":      {Incarnation: "i2", Revision: 9},
		"an older revision":  {Incarnation: "i1", Revision: 6},
		"a reset of another": {Incarnation: "", Revision: 0, Reset: true},
	} {
		d.Delete = []string{"02:00:00:00:00:01"}
		if w.Take(d) || w.Len() != 1 || w.Revision != 7 {
			t.Errorf("%s is taken: %+v", name, w)
		}
	}
	p := policy()
	p.EnrollmentImage = "next"
	if !w.Take(api.BootDelta{Incarnation: "i1", Revision: 7, Policy: &p}) || w.Policy.EnrollmentImage != "next" {
		t.Error("a policy is not taken")
	}
}

// What cannot be read is nobody's, and what is newer than this program is not served.
func TestBadRows(t *testing.T) {
	w := NewWorld(snapshot(boot("", "enrolling", ""), boot("x", "enrolling", "10.78.0.9"), boot("02:00:00:00:00:01", "enrolling", "not an address"),
		with(boot("02:00:00:00:00:02", "enrolling", "10.78.0.8"), func(b *api.ServedBoot) { b.Mode = "x-new" }),
		with(boot("02:00:00:00:00:03", "enrolling", "10.78.0.7"), func(b *api.ServedBoot) {
			b.Networking = map[string]string{"network": "junk", "gateway": "junk"}
		})))
	if w.Len() != 3 {
		t.Errorf("%d records", w.Len())
	}
	if _, ok := w.At(netip.MustParseAddr("10.78.0.9")); ok {
		t.Error("an address of nobody")
	}
	for _, m := range []string{"02:00:00:00:00:01", "02:00:00:00:00:02"} {
		if !w.boots[mac(m)].rec.Newer {
			t.Errorf("%s is served", m)
		}
	}
	if p, gw := w.network(w.boots[mac("02:00:00:00:00:03")]); p != network || gw.String() != "10.78.0.254" {
		t.Errorf("%s %s: the policy's holds where the record's cannot be read", p, gw)
	}
	w.Take(api.BootDelta{Incarnation: "i1", Revision: 8, Delete: []string{"", "junk", "02:00:00:00:00:09"}})
	if w.Len() != 3 {
		t.Errorf("%d records", w.Len())
	}
}

// The network of an address is that with which it was written.
func TestNetworkOfARecord(t *testing.T) {
	w := NewWorld(snapshot(with(boot("02:00:00:00:00:01", "enrolled", "10.9.0.4"), func(b *api.ServedBoot) {
		b.Networking = map[string]string{"network": "10.9.0.0/16"}
	})))
	if p, gw := w.network(w.boots[booter.MAC{2, 0, 0, 0, 0, 1}]); p.String() != "10.9.0.0/16" || gw.IsValid() {
		t.Errorf("%s %s", p, gw)
	}
}
