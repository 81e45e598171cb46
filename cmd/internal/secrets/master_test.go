package secrets_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/identity/claim"
)

// Derivations are fixed: with others, a site's own rows would not open. The
// values were made apart from this code.
func TestDerivationVectors(t *testing.T) {
	m := master(t, 1)
	mac := m.Key(secrets.Cursors).MAC([]byte("abc"))
	if got := hex.EncodeToString(mac[:]); got != "8a255fcc67f27261bf455943ae3f80716998edb9c041786f676431d0c875090b" {
		t.Errorf("cursor MAC %s", got)
	}
	raw, err := hex.DecodeString("bf84f797a03c367212708b5a74b82823765025682b524845fbe30bcb3d4d44d8")
	if err != nil {
		t.Fatal(err)
	}
	want, err := claim.NewSiteKey([claim.SiteKeySize]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.SiteKey()
	code := claim.New([claim.EntropySize]byte{1, 2, 3, 4})
	if err != nil || got.Hash(code) != want.Hash(code) || got.Hash(code).IsZero() {
		t.Errorf("claim key: %v, %v", got.Hash(code), err)
	}
}

func TestKeysOfDifferentUsesDiffer(t *testing.T) {
	m, msg := master(t, 1), []byte("abc")
	a, b, other := m.Key(secrets.Cursors), m.Key(secrets.Sessions), master(t, 2).Key(secrets.Cursors)
	mac := a.MAC(msg)
	for name, c := range map[string]struct {
		key  secrets.Key
		msg  string
		mac  []byte
		want bool
	}{
		"its own":        {a, "abc", mac[:], true},
		"another use":    {b, "abc", mac[:], false},
		"another master": {other, "abc", mac[:], false},
		"another text":   {a, "abd", mac[:], false},
		"cut":            {a, "abc", mac[:31], false},
		"none":           {a, "abc", nil, false},
		"the zero key":   {secrets.Key{}, "abc", make([]byte, secrets.Size), false},
		"no use":         {m.Key(""), "abc", make([]byte, secrets.Size), false},
		"no master":      {secrets.Master{}.Key(secrets.Cursors), "abc", make([]byte, secrets.Size), false},
	} {
		if got := c.key.Verify([]byte(c.msg), c.mac); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestZeroMasterIsNone(t *testing.T) {
	_, err := secrets.NewMaster([secrets.Size]byte{})
	wants(t, "zeros", err, "INVALID_INPUT", "draw 32 random bytes")
	if _, err := (secrets.Master{}).SiteKey(); err == nil {
		t.Error("claim codes are hashed with no key")
	}
	_, err = secrets.NewSealer(secrets.Master{}, &steps{}).Seal(seed, []byte("x"))
	wants(t, "seal", err, "INVALID_INPUT", "Load or Create")
}

func TestMasterNeverPrints(t *testing.T) {
	m := master(t, 0x6b)
	key, sealer := m.Key(secrets.Cursors), secrets.NewSealer(m, &steps{0x6b})
	type holder struct {
		M      secrets.Master
		m      secrets.Master
		Key    secrets.Key
		key    secrets.Key
		Sealer *secrets.Sealer
		sealer *secrets.Sealer
	}
	held := holder{m, m, key, key, sealer, sealer}
	out := renderings(t, m, &m, key, &key, sealer, held, &held)
	for _, leak := range []string{"kkkk", "6b6b", "6B6B", "107", "0x6b"} {
		if strings.Contains(out, leak) {
			t.Errorf("%q leaks in %s", leak, out)
		}
	}
}
