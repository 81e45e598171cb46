package bundle_test

import (
	"bytes"
	"crypto/ecdh"
	"crypto/hpke"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/identity/bundle"
	"github.com/ingotmetal/ingot/identity/keys"
)

const (
	server = "00000000-0000-4000-8000-000000000001"

	// clear and sealed hold fixed keys of a test, sealed from clear to the
	// key of entropy {7} by another implementation of RFC 9180.
	clear  = `{"v":1,"server_uuid":"00000000-0000-4000-8000-000000000001","setup_epoch":7,"agent_key":"ingot_key_04000000000000000000000000000000000000000000000000039dcaf8","ticket_keys":["ingot_ticket_04000000000000000000000000000000000000000000000000001gat10","ingot_ticket_080000000000000000000000000000000000000000000000000ckqjjpw","ingot_ticket_0c00000000000000000000000000000000000000000000000003g12q3m"]}`
	sealed = "AVfbSzWfI65eFG5OJRIFZwRyJQY0jBUMFHU9DJM9BNQhYKs8FbkXBYzXfwFMSZ25n7cbxtv2Otw-uOZ3BuvahxIvTv3yxTbTpIMkUWVkkDznMtF9208WSo_cnJSzfg4vrGy9_088RVERoymNamNW8k-YnPXgyY-GoQZl6D9ioYohinlwnZx5EQw3C_DiJri_HlQw_ZmxFhct8bdDZwpWD-lZ2y7W2xbEXvXTBwMf3r45bVUfHElQGC7S4u1J58GrkqKvbbCWMVmuodaOCP-NrEgz8pG30x2Mm0ih-OO56WSVYBXeCCqDSHqxs6M_UQfuIkU1IXOE0ScnmyDElmexnF5IPvvT-A4kk9KSK3gv9CbUj7kWI4qnTptj7Y-pyOZniw3JQc6zsiXOLl_zCyiZaUB5ZTcaLcIO43ZmLyqv0cps08lwOgYMEcF3-tVspwCNqS-vX8S9FaC0LFEc-QJF2ZmMSdRvbhiiFzTG6u-sf9v96iGp-yf7-HBqbMRbcU8X6JAHfwuXTfxkNc9gF7EZJomH74sLi3ig4rYJBkld5SSFBYWRkmJKMBVFXZNGX_dlLn_rSzRYogxDVju-BpQ"
)

func agent(t interface{ Fatal(...any) }, fill byte) bundle.PrivateKey {
	k, err := bundle.NewPrivateKey([bundle.KeySize]byte{fill})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func sample(t interface{ Fatal(...any) }) bundle.Bundle {
	b := bundle.Bundle{Server: server, Epoch: 7}
	var err error
	if b.Key, err = keys.NewSecret(keys.APIKey, [keys.SecretSize]byte{1}); err != nil {
		t.Fatal(err)
	}
	tickets, err := keys.MintTickets([keys.TicketsPerSetup][keys.SecretSize]byte{{1}, {2}, {3}})
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range tickets {
		b.Tickets[i] = k.Secret
	}
	return b
}

// wants fails unless err has the code and says so much.
func wants(t *testing.T, name string, err error, code, why string) {
	t.Helper()
	coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err)
	if !ok || coded.Code() != code || !strings.Contains(err.Error(), why) {
		t.Errorf("%s: %v, want %s with %q", name, err, code, why)
	}
}

// The wire form is fixed: agents out in the field must read it.
func TestEncodeVector(t *testing.T) {
	got, err := sample(t).Encode()
	if err != nil || string(got) != clear {
		t.Errorf("%s, %v", got, err)
	}
	b, err := bundle.Decode([]byte(clear))
	if err != nil || b.Server != server || b.Epoch != 7 || b.Key.Kind() != keys.APIKey || b.Tickets[2].Show() != sample(t).Tickets[2].Show() {
		t.Errorf("%+v, %v", b, err)
	}
	if again, err := b.Encode(); err != nil || string(again) != clear {
		t.Errorf("%s, %v", again, err)
	}
}

func TestDecodeRefusesEveryOtherSpelling(t *testing.T) {
	for name, in := range map[string]string{
		"nothing":       "",
		"white space":   clear + "\n",
		"a member more": strings.Replace(clear, `"v":1,`, `"v":1,"x":2,`, 1),
		"twice":         strings.Replace(clear, `"v":1,`, `"v":1,"v":1,`, 1),
		"other case":    strings.Replace(clear, `"v":1`, `"V":1`, 1),
		"upper UUID":    strings.Replace(clear, "-8000-", "-800A-", 1),
		"epoch 0":       strings.Replace(clear, `"setup_epoch":7`, `"setup_epoch":0`, 1),
		"epoch below 0": strings.Replace(clear, `"setup_epoch":7`, `"setup_epoch":-1`, 1),
		"version 2":     strings.Replace(clear, `"v":1`, `"v":2`, 1),
		"two tickets":   strings.Replace(clear, `,"ingot_ticket_0c00000000000000000000000000000000000000000000000003g12q3m"`, "", 1),
		"a bad key":     strings.Replace(clear, "39dcaf8", "39dcaf9", 1),
		"a bad ticket":  strings.Replace(clear, "g12q3m", "g12q3n", 1),
		"long":          clear + strings.Repeat(" ", bundle.MaxSize),
	} {
		b, err := bundle.Decode([]byte(in))
		wants(t, name, err, "INVALID_INPUT", "bundle: ")
		if b.Server != "" || strings.Contains(fmt.Sprintf("%v %#v", err, err), "0000000") {
			t.Errorf("%s: gives %+v and %v", name, b, err)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	whole := sample(t)
	for name, c := range map[string]struct {
		spoil func(*bundle.Bundle)
		why   string
	}{
		"no server":      {func(b *bundle.Bundle) { b.Server = "" }, "server_uuid"},
		"upper case":     {func(b *bundle.Bundle) { b.Server = strings.Replace(server, "0000", "000A", 1) }, "server_uuid"},
		"no dashes":      {func(b *bundle.Bundle) { b.Server = strings.ReplaceAll(server, "-", "0") }, "server_uuid"},
		"all dashes":     {func(b *bundle.Bundle) { b.Server = strings.Repeat("-", 36) }, "server_uuid"},
		"no epoch":       {func(b *bundle.Bundle) { b.Epoch = 0 }, "setup_epoch"},
		"no key":         {func(b *bundle.Bundle) { b.Key = keys.Secret{} }, "agent_key"},
		"a ticket key":   {func(b *bundle.Bundle) { b.Key = b.Tickets[0] }, "agent_key"},
		"a key as such":  {func(b *bundle.Bundle) { b.Tickets[1] = b.Key }, "ticket_keys"},
		"the same twice": {func(b *bundle.Bundle) { b.Tickets[1] = b.Tickets[0] }, "ticket_keys"},
		"two tickets":    {func(b *bundle.Bundle) { b.Tickets[2] = keys.Secret{} }, "ticket_keys"},
	} {
		b := whole
		c.spoil(&b)
		got, err := b.Encode()
		wants(t, name, err, "INVALID_INPUT", c.why)
		if got != nil {
			t.Errorf("%s: encodes all the same", name)
		}
	}
}

func TestOpenVector(t *testing.T) {
	k := agent(t, 7)
	if got := k.Public().String(); got != "2fe57da347cd62431528daac5fbb290730fff684afc4cfc2ed90995f58cb3b74" {
		t.Errorf("public key %s", got)
	}
	if h := k.Public().Hash(); hex.EncodeToString(h[:]) != "233ced774423c7a7f91254bd2346d889e2ccab33cb6c98947844f1ef6c4f493f" {
		t.Errorf("hash %x", h)
	}
	b, err := k.Open(server, 7, sealed)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.Encode(); err != nil || string(got) != clear {
		t.Errorf("%s, %v", got, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		key    bundle.PrivateKey
		server string
		epoch  uint64
		in     string
	}{
		"another agent":  {agent(t, 8), server, 7, sealed},
		"another server": {agent(t, 7), strings.Replace(server, "1", "2", 1), 7, sealed},
		"another epoch":  {agent(t, 7), server, 8, sealed},
		"no key":         {bundle.PrivateKey{}, server, 7, sealed},
		"nothing":        {agent(t, 7), server, 7, ""},
		"the clear text": {agent(t, 7), server, 7, clear},
		"cut":            {agent(t, 7), server, 7, sealed[:len(sealed)-4]},
		"padded":         {agent(t, 7), server, 7, sealed + "="},
		"a line break":   {agent(t, 7), server, 7, sealed[:40] + "\n" + sealed[40:]},
		"a later form":   {agent(t, 7), server, 7, "Ag" + sealed[2:]},
		"long":           {agent(t, 7), server, 7, sealed + strings.Repeat("A", 4096)},
	} {
		b, err := c.key.Open(c.server, c.epoch, c.in)
		wants(t, name, err, "INVALID_INPUT", "announce again")
		if b.Server != "" {
			t.Errorf("%s: opens all the same", name)
		}
	}
}

// What is sealed for one place and says another is not taken for either.
func TestOpenRefusesABundleThatNamesAnother(t *testing.T) {
	k := agent(t, 7)
	to, err := k.Public().Recipient()
	if err != nil {
		t.Fatal(err)
	}
	_, kdf, aead := bundle.Suite()
	for _, info := range [][]byte{bundle.Info(server, 8), bundle.Info(strings.Replace(server, "1", "2", 1), 7)} {
		ct, err := hpke.Seal(to, kdf, aead, info, []byte(clear))
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []struct {
			server string
			epoch  uint64
		}{{server, 8}, {strings.Replace(server, "1", "2", 1), 7}} {
			if b, err := k.Open(at.server, at.epoch, bundle.Text(ct)); err == nil || b.Server != "" {
				t.Errorf("%s opens at %+v: %v", info, at, err)
			}
		}
	}
}

func TestEveryFlippedBitIsNoticed(t *testing.T) {
	k := agent(t, 7)
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(sealed)-1).Draw(t, "at")
		to := rapid.Byte().Draw(t, "to")
		changed := sealed[:at] + string([]byte{to}) + sealed[at+1:]
		if _, err := k.Open(server, 7, changed); (err == nil) != (changed == sealed) {
			t.Fatalf("%q: %v", changed, err)
		}
	})
}

func TestPublicKeyText(t *testing.T) {
	p := agent(t, 7).Public()
	back, err := bundle.ParsePublicKey(p.String())
	if err != nil || back != p {
		t.Errorf("%s came back as %s, %v", p, back, err)
	}
	j, err := json.Marshal(map[string]bundle.PublicKey{"k": p})
	if err != nil || string(j) != `{"k":"`+p.String()+`"}` {
		t.Errorf("%s, %v", j, err)
	}
	var m map[string]bundle.PublicKey
	if err := json.Unmarshal(j, &m); err != nil || m["k"] != p {
		t.Errorf("%v, %v", m, err)
	}
	for _, s := range []string{"", p.String()[1:], p.String() + "0", strings.ToUpper(p.String()), "g" + p.String()[1:]} {
		if got, err := bundle.ParsePublicKey(s); err == nil || got != (bundle.PublicKey{}) {
			t.Errorf("%q is taken for a key", s)
		}
	}
	kept := p
	wants(t, "a short one", kept.UnmarshalText([]byte("x")), "INVALID_INPUT", "has 1 characters")
	if kept != p {
		t.Errorf("changed to %s", kept)
	}
	if _, err := (bundle.PublicKey{}).Recipient(); err == nil {
		t.Error("zeros are a recipient")
	}
}

func TestNewPrivateKeyRefusesZeros(t *testing.T) {
	k, err := bundle.NewPrivateKey([bundle.KeySize]byte{})
	wants(t, "zeros", err, "INVALID_INPUT", "draw 32 random bytes")
	if k.Public() != (bundle.PublicKey{}) || (bundle.PrivateKey{}).Public() != (bundle.PublicKey{}) {
		t.Error("a key without a secret has a public half")
	}
}

func TestNothingPrints(t *testing.T) {
	entropy := [bundle.KeySize]byte(bytes.Repeat([]byte{0x6b}, bundle.KeySize))
	k, err := bundle.NewPrivateKey(entropy)
	if err != nil {
		t.Fatal(err)
	}
	type holder struct {
		Key bundle.PrivateKey
		key bundle.PrivateKey
		B   bundle.Bundle
		b   *bundle.Bundle
	}
	b := sample(t)
	held := holder{k, k, b, &b}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		for _, v := range []any{k, &k, held, &held, b} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
	}
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(h).Info("x", "key", k, "held", held, "bundle", b)
	}
	j, err := json.Marshal(held)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(j)
	for _, leak := range []string{"kkkk", "6b6b", "6B6B", "107 107", "0x6b", "ingot_"} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("%q leaks in %s", leak, out.String())
		}
	}
	if _, err := ecdh.X25519().NewPrivateKey(entropy[:]); err != nil {
		t.Fatal("the canary is no key")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(clear))
	f.Add([]byte(`{"v":1}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		b, err := bundle.Decode(in)
		if err != nil {
			return
		}
		if out, err := b.Encode(); err != nil || !bytes.Equal(out, in) {
			t.Fatalf("%q is another spelling of %q, %v", in, out, err)
		}
	})
}

func FuzzOpen(f *testing.F) {
	f.Add(sealed)
	f.Add("AQ")
	k := agent(f, 7)
	f.Fuzz(func(t *testing.T, in string) {
		if _, err := k.Open(server, 7, in); err == nil && in != sealed {
			t.Fatalf("%q opens", in)
		}
	})
}
