package secrets_test

import (
	"testing"
	"testing/cryptotest"

	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/identity/bundle"
	"github.com/ingotmetal/ingot/identity/keys"
)

const server = "00000000-0000-4000-8000-000000000001"

func setup(t *testing.T) (bundle.PrivateKey, bundle.Bundle) {
	k, err := bundle.NewPrivateKey([bundle.KeySize]byte{7})
	if err != nil {
		t.Fatal(err)
	}
	b := bundle.Bundle{Server: server, Epoch: 7}
	if b.Key, err = keys.NewSecret(keys.APIKey, [keys.SecretSize]byte{1}); err != nil {
		t.Fatal(err)
	}
	tickets, err := keys.MintTickets([keys.TicketsPerSetup][keys.SecretSize]byte{{1}, {2}, {3}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range tickets {
		b.Tickets[i] = tickets[i].Secret
	}
	return k, b
}

func TestSealBundle(t *testing.T) { // SET-17
	k, b := setup(t)
	first, err := secrets.SealBundle(k.Public(), b)
	if err != nil {
		t.Fatal(err)
	}
	again, err := secrets.SealBundle(k.Public(), b)
	if err != nil || again == first {
		t.Errorf("the same text twice: %v", err)
	}
	for _, sealed := range []string{first, again} {
		got, err := k.Open(server, 7, sealed)
		if err != nil || got.Key.Show() != b.Key.Show() || got.Tickets[2].Show() != b.Tickets[2].Show() {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := k.Open(server, 8, sealed); err == nil {
			t.Error("opens for a later approval")
		}
	}
}

// A seeded run is the same twice, though crypto/hpke draws by itself.
func TestSealBundleFollowsTheSeed(t *testing.T) {
	k, b := setup(t)
	var sealed [2]string
	for i := range sealed {
		t.Run("", func(t *testing.T) {
			cryptotest.SetGlobalRandom(t, 1)
			var err error
			if sealed[i], err = secrets.SealBundle(k.Public(), b); err != nil {
				t.Error(err)
			}
		})
	}
	if sealed[0] != sealed[1] {
		t.Error("differ")
	}
}

func TestSealBundleRefuses(t *testing.T) {
	k, b := setup(t)
	for name, to := range map[string]bundle.PublicKey{
		"no key":        {},
		"a small point": {1},
	} {
		got, err := secrets.SealBundle(to, b)
		wants(t, name, err, "INVALID_INPUT", "agent key")
		if got != "" {
			t.Errorf("%s: seals all the same", name)
		}
	}
	b.Epoch = 0
	_, err := secrets.SealBundle(k.Public(), b)
	wants(t, "no epoch", err, "INVALID_INPUT", "setup_epoch")
}
