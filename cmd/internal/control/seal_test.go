package control_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// Rows that leave are in a segment that verifies, and the log goes on from there.
func TestSealedRowsLeave(t *testing.T) {
	s := newSite(t)
	for i := range 20 {
		s.do(control.Target{MAC: mac(i)}, lifecycle.Sighted{MAC: mac(i)})
	}
	dir := filepath.Join(t.TempDir(), "segments")
	sealer := control.Sealer{Door: s.Door, Dir: dir, Age: time.Hour, Keep: 5}
	if made, err := sealer.Pass(t.Context()); err != nil || len(made) != 0 {
		t.Fatalf("young rows left: %v, %v", made, err)
	}
	sealer.Age = 0
	made, err := sealer.Pass(t.Context())
	if err != nil || len(made) == 0 {
		t.Fatalf("%v, %v", made, err)
	}
	from, err := journal.ParseHead(made[0].From)
	if err != nil || from != journal.Start("lab") {
		t.Fatalf("from %v, %v", from, err)
	}
	at := from
	for _, seg := range made {
		at = verified(t, filepath.Join(dir, seg.File), at)
		if at.String() != seg.To {
			t.Errorf("%s ends at %s, and says %s", seg.File, at, seg.To)
		}
	}
	s.verify()
	err = s.Store().View(t.Context(), func(r store.Reader) error {
		if r.Base() != at {
			t.Errorf("the log begins after %s, the segments end at %s", r.Base(), at)
		}
		if n := r.Head().Revision - r.Base().Revision; n < 5 {
			t.Errorf("%d rows stayed", n)
		}
		_, err := control.Events(r, journal.Filter{After: journal.Cursor{Revision: 3}}, 10)
		if code(err) != "CONFLICT" {
			t.Errorf("rows that left: %v", err)
		}
		page, err := control.Events(r, journal.Filter{Prefix: control.LogSealed}, 10)
		if err != nil || len(page.Events) != len(made) {
			t.Errorf("%v, %v", page, err)
			return nil
		}
		var told control.Sealed
		if err := json.Unmarshal([]byte(page.Events[0].Fact.Body), &told); err != nil || told != made[0] {
			t.Errorf("%v, %v", told, err)
		}
		for key := range r.Range("ledger/event/"+mac(0).String()+"/", "ledger/event/"+mac(0).String()+"0") {
			t.Errorf("%s was left behind", key)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// verified reads a segment's file and proves that it goes on from at.
func verified(t *testing.T, path string, at journal.Head) journal.Head {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, _ := f.Stat(); info.Mode().Perm() != 0o600 {
		t.Errorf("%s has mode %s", path, info.Mode())
	}
	in, err := journal.ReadStream(f)
	if err != nil {
		t.Fatal(err)
	}
	if in.From != at {
		t.Fatalf("%s goes on from %s, want %s", path, in.From, at)
	}
	to, err := journal.Verify(at, in.Rows())
	if err != nil || to != in.To {
		t.Fatalf("%s: %v, %v", path, to, err)
	}
	return to
}
