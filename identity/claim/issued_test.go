package claim

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func siteKey(t interface{ Fatal(...any) }, fill byte) SiteKey {
	k, err := NewSiteKey([SiteKeySize]byte{fill})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestCheck(t *testing.T) {
	key := siteKey(t, 1)
	right, wrong := key.Hash(code(t, "7K3-9QF")), key.Hash(code(t, "7K3-9QG"))
	fresh := key.Issue(code(t, "7K3-9QF"), noon)
	last := noon.Add(time.Hour - 1)
	for _, c := range []struct {
		name      string
		issued    Issued
		presented Hash
		at        time.Time
		want      Verdict
		refused   Refusal
	}{
		{"right", fresh, right, noon, Approves, ""},                                            // REG-14
		{"right at the last instant", fresh, right, last, Approves, ""},                        // REG-5
		{"an hour old", fresh, right, noon.Add(time.Hour), "", Expired},                        // REG-5
		{"wrong", fresh, wrong, noon, "", Wrong},                                               // REG-14
		{"wrong and late tells only that it is wrong", fresh, wrong, last.Add(9e9), "", Wrong}, // REG-14
		{"replaced", fresh.Void(), right, noon, "", Void},                                      // REG-4
		{"no code presented", fresh, Hash{}, noon, "", Wrong},
		{"row without a code", Issued{Expires: last}, right, noon, "", Wrong},
		{"neither has one", Issued{Expires: last}, Hash{}, noon, "", Wrong}, // a UUID alone approves nothing
		{"repeated", fresh.Use("ann"), right, last, Repeats, ""},            // EDGE-16
		{"repeated too late", fresh.Use("ann"), right, noon.Add(time.Hour), "", Expired},
		{"repeated by another", fresh.Use("bob"), right, noon, "", Void},
		{"repeated after disable", fresh.Use("ann").Void(), right, noon, "", Void}, // REG-11
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.issued.Check(c.presented, "ann", c.at)
			bad, refused := errors.AsType[*Refused](err)
			switch {
			case got != c.want || refused != (c.refused != ""):
				t.Errorf("got %q, %v", got, err)
			case refused && (bad.Why != c.refused || bad.Code() != "INVALID_INPUT"): // EDGE-17
				t.Errorf("refused as %s, code %s, want %s", bad.Why, bad.Code(), c.refused)
			case refused && !strings.Contains(err.Error(), string(c.refused)):
				t.Errorf("%q does not say %s", err, c.refused)
			}
		})
	}
}

// Two codes have the same hash only when they are the same code under the same
// key.
func TestHashTellsCodesAndSitesApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genCode(t), genCode(t)
		k1, k2 := siteKey(t, 1), siteKey(t, 2)
		same := a.Show() == b.Show()
		if k1.Hash(a).Equal(k1.Hash(b)) != same || !k1.Hash(a).Equal(k1.Hash(a)) {
			t.Fatalf("%s and %s: hash does not follow the code", a.Show(), b.Show())
		}
		if k1.Hash(a).Equal(k2.Hash(a)) {
			t.Fatal("the site key does not matter")
		}
	})
}

// The format is fixed: a changed hash would void the codes of a live site. The
// value is HMAC-SHA-256 under 01 00…00 of "ingot claim code 1\0" "7K39QF", made
// with openssl.
func TestHashVector(t *testing.T) {
	const want = "a99414c25cbc5bfeaab92fd7b6bae0a2fde6cf68a2ac2e40336ed087dbf5ec26"
	if got := siteKey(t, 1).Hash(code(t, "7k3 9qf")).String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestZeroKeysAndHashesClaimNothing(t *testing.T) {
	c := code(t, "7K3-9QF")
	if _, err := NewSiteKey([SiteKeySize]byte{}); err != ErrNoSiteKey || ErrNoSiteKey.(noSiteKey).Code() != "INVALID_CONFIG" {
		t.Errorf("a key of zeros: %v", err)
	}
	if !strings.Contains(ErrNoSiteKey.Error(), "32 random bytes") {
		t.Errorf("%q does not say what to do", ErrNoSiteKey)
	}
	if h := (SiteKey{}).Hash(c); !h.IsZero() || h.Equal(h) {
		t.Error("the zero SiteKey makes a hash that claims")
	}
	if h := siteKey(t, 1).Hash(Code{}); !h.IsZero() || h.Equal(Hash{}) {
		t.Error("the zero Code has a hash that claims")
	}
}
