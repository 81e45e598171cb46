package placement_test

import (
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/placement"
)

func TestInvalidIsShortAndPrintable(t *testing.T) {
	_, err := placement.ParseTenant("a\n\x1b[31m" + strings.Repeat("x", 10_000))
	invalid(t, err, "API-5")
	got := err.Error()
	if len(got) > 250 || strings.ContainsAny(got, "\n\x1b") || !strings.Contains(got, `a\n`) {
		t.Errorf("got %d bytes: %.300q", len(got), got)
	}
}
