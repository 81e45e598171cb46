package sessions_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/identity/bundle"
)

func key(t *testing.T, seed byte) sessions.Key {
	t.Helper()
	k, err := sessions.NewKey(rand.NewChaCha8([32]byte{seed}))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Only the key to which a challenge was sealed opens it, and only for its machine.
func TestChallenge(t *testing.T) {
	k, nonce := key(t, 1), bytes.Repeat([]byte{7}, sessions.NonceSize)
	sealed, err := sessions.SealNonce(k.Public(), uuid, nonce)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := k.OpenNonce(uuid, sealed); err != nil || !bytes.Equal(got, nonce) {
		t.Errorf("%x %v", got, err)
	}
	other := strings.Replace(uuid, "1", "2", 1)
	altered := bytes.Clone(sealed)
	altered[len(altered)-1] ^= 1
	for name, open := range map[string]func() ([]byte, error){
		"another key":     func() ([]byte, error) { return key(t, 2).OpenNonce(uuid, sealed) },
		"another machine": func() ([]byte, error) { return k.OpenNonce(other, sealed) },
		"altered":         func() ([]byte, error) { return k.OpenNonce(uuid, altered) },
		"nothing":         func() ([]byte, error) { return k.OpenNonce(uuid, nil) },
		"no key":          func() ([]byte, error) { return sessions.Key{}.OpenNonce(uuid, sealed) },
	} {
		if got, err := open(); got != nil || !is[*sessions.Unproven](err) {
			t.Errorf("%s: %x %v", name, got, err)
		}
	}
	if _, err := sessions.SealNonce(bundle.PublicKey{}, uuid, nonce); err == nil {
		t.Error("sealed to no key")
	}
	if _, err := sessions.NewKey(strings.NewReader("short")); err == nil {
		t.Error("a key of five bytes")
	}
}

func TestKeyDoesNotPrint(t *testing.T) {
	k := key(t, 1)
	var seed [32]byte
	_, _ = rand.NewChaCha8([32]byte{1}).Read(seed[:])
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "key", k)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		fmt.Fprintf(&out, verb, k)
		fmt.Fprintf(&out, verb, struct{ K sessions.Key }{k})
	}
	for _, leak := range []string{fmt.Sprintf("%x", seed[:4]), fmt.Sprint(seed[0], " ", seed[1])} {
		if strings.Contains(strings.ToLower(out.String()), leak) {
			t.Errorf("%q in %s", leak, out.String())
		}
	}
}
