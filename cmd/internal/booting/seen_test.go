package booting

import (
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/api"
)

func numbered(n int) booter.MAC { return booter.MAC{2, 0, 0, 0, byte(n >> 8), byte(n)} }

func TestSeenIsBounded(t *testing.T) {
	var s Seen
	for n := range seenMACs + 10 {
		s.Note(booter.Request{MAC: numbered(n)}, 7, noon.Add(time.Duration(n)*time.Second))
	}
	got, news := s.Report(noon.Add(time.Hour))
	if len(got) != seenMACs || !news || s.Len() != seenMACs {
		t.Fatalf("%d %t", len(got), news)
	}
	if got[0].MAC != numbered(10).String() {
		t.Errorf("the first is %s: those seen longest ago go", got[0].MAC)
	}
	if _, news := s.Report(noon.Add(time.Hour)); news {
		t.Error("reported twice")
	}
	if s.Again(); true {
		if again, news := s.Report(noon.Add(time.Hour)); !news || len(again) != seenMACs {
			t.Error("what did not arrive is not reported again")
		}
	}
}

func TestSeenForgets(t *testing.T) {
	var s Seen
	s.Note(booter.Request{MAC: numbered(1), UUID: [16]byte{0x44, 0x33, 0x22, 0x11, 15: 9}}, 7, noon)
	s.Note(booter.Request{MAC: numbered(1)}, 9, noon.Add(time.Minute))
	s.Note(booter.Request{MAC: numbered(2)}, 0, noon.Add(time.Hour))
	got, _ := s.Report(noon.Add(time.Hour))
	want := api.SeenBoot{MAC: numbered(1).String(), Product: "44332211-0000-0000-0000-000000000009", Arch: 9, FirstSeen: noon, LastSeen: noon.Add(time.Minute), Count: 2}
	if len(got) != 2 || got[0] != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if got, news := s.Report(noon.Add(24*time.Hour + 2*time.Minute)); !news || len(got) != 1 || got[0].MAC != numbered(2).String() {
		t.Errorf("after a day: %+v %t", got, news)
	}
	s.Forget(numbered(2))
	if got, news := s.Report(noon.Add(25 * time.Hour)); !news || len(got) != 0 {
		t.Errorf("forgotten: %+v %t", got, news)
	}
	s.Forget(numbered(3))
	if _, news := s.Report(noon.Add(25 * time.Hour)); news {
		t.Error("who was not there is news")
	}
}

func TestServedIsBoundedAndCounts(t *testing.T) {
	var s Served
	once := api.ServedOnce{MAC: "a", Stage: "dhcp", Silence: "discovered", Time: noon}
	for range 5 {
		s.Note(once)
	}
	once.Time = noon.Add(time.Minute)
	s.Note(once)
	s.Note(api.ServedOnce{MAC: "a", Stage: "dhcp", Image: "i"})
	taken := s.Take()
	if len(taken) != 2 || taken[0].Count != 6 || !taken[0].Time.Equal(noon.Add(time.Minute)) || len(s.Take()) != 0 {
		t.Fatalf("%+v", taken)
	}
	s.Note(api.ServedOnce{MAC: "a", Stage: "dhcp", Image: "i"})
	s.Back(taken)
	if got := s.Take(); len(got) != 2 || got[0].Count != 6 || got[1].Count != 2 || s.Dropped != 0 {
		t.Errorf("put back: %+v", got)
	}
	for n := range seenMACs + 3 {
		s.Note(api.ServedOnce{MAC: numbered(n).String()})
		s.Note(api.ServedOnce{MAC: numbered(n).String()})
	}
	if got := s.Take(); len(got) != seenMACs || s.Dropped != 6 || got[0].MAC != numbered(3).String() {
		t.Errorf("%d, %d dropped, first %s", len(got), s.Dropped, got[0].MAC)
	}
}
