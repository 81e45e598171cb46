package booting

import (
	"fmt"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/booting/account"
)

func TestHistoryIsBounded(t *testing.T) {
	h := newHistory()
	for n := range 100 {
		h.of(numbered(1)).add(account.Moment{What: fmt.Sprint(n)})
	}
	got := h.all(numbered(1))
	if len(got) != historyEach || got[0].What != fmt.Sprint(100-historyEach) || got[historyEach-1].What != "99" {
		t.Errorf("%d: %v to %v", len(got), got[0].What, got[len(got)-1].What)
	}
	got[0].What = "changed"
	if h.all(numbered(1))[0].What == "changed" {
		t.Error("who asks can change what is remembered")
	}
	for n := range historyMACs + 5 {
		h.of(numbered(1))
		h.of(numbered(n + 2))
	}
	if h.order.Len() != historyMACs || len(h.by) != historyMACs {
		t.Errorf("%d and %d machines", h.order.Len(), len(h.by))
	}
	if len(h.all(numbered(1))) == 0 || len(h.all(numbered(2))) != 0 || h.by[numbered(2)] != nil {
		t.Error("not the one that was heard of longest ago went")
	}
	if got := h.all(numbered(2)); got == nil {
		t.Error("nothing is null in JSON")
	}
}
