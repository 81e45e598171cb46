package disklayout_test

import (
	"os"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/probe/probetest"
)

// TestPooledKnowsEveryRaidMember takes the names that libblkid gives to members
// of arrays, of every kind in the public table.
func TestPooledKnowsEveryRaidMember(t *testing.T) {
	raw, err := os.ReadFile("testdata/signatures.json")
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := probetest.Vectors(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		_, typ, err := v.OnDisk(64 << 20)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(typ, "_member") && !disklayout.Pooled(typ) {
			t.Errorf("%s is a member, and not pooled", typ)
		}
	}
	if disklayout.Pooled("ext4") {
		t.Error("ext4 is pooled")
	}
}
