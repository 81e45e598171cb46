package secrets_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"filippo.io/age"

	"github.com/ingotmetal/ingot/cmd/internal/secrets"
)

type pair struct{ public, secret string }

func pairs(t *testing.T) (classic, postQuantum pair) {
	x, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	h, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return pair{x.Recipient().String(), x.String()}, pair{h.Recipient().String(), h.String()}
}

func encrypt(t *testing.T, plain []byte, to ...string) []byte {
	r, err := secrets.ParseRecipients(to)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := secrets.EncryptTo(&out, r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func decrypt(t *testing.T, r io.Reader, secret string) ([]byte, error) {
	ids, err := secrets.ParseIdentities(strings.NewReader("# a comment\n" + secret + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := secrets.DecryptWith(r, ids)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(plain)
}

func TestBackupsOpenToEachRecipient(t *testing.T) {
	a, q := pairs(t)
	b, q2 := pairs(t)
	plain := bytes.Repeat([]byte("rows and rows "), 20_000)
	for name, c := range map[string][]pair{"one": {a}, "two": {a, b}, "post-quantum": {q, q2}} {
		var to []string
		for _, p := range c {
			to = append(to, p.public)
		}
		out := encrypt(t, plain, to...)
		if bytes.Contains(out, []byte("rows and")) {
			t.Errorf("%s: shows the plaintext", name)
		}
		for _, p := range c {
			if got, err := decrypt(t, bytes.NewReader(out), p.secret); err != nil || !bytes.Equal(got, plain) {
				t.Errorf("%s: %d bytes came back as %d, %v", name, len(plain), len(got), err)
			}
		}
	}
	_, err := decrypt(t, bytes.NewReader(encrypt(t, plain, a.public)), b.secret)
	wants(t, "another identity", err, "INVALID_INPUT", "none of these identities")
}

func TestSpoiledBackupsAreNoticed(t *testing.T) {
	a, _ := pairs(t)
	whole := encrypt(t, bytes.Repeat([]byte{7}, 200_000), a.public)
	for _, n := range []int{0, 10, 100, 300, 70_000, len(whole) - 1} {
		_, err := decrypt(t, bytes.NewReader(whole[:n]), a.secret)
		wants(t, fmt.Sprint("cut at ", n), err, "INVALID_INPUT", "cut or altered")
	}
	for _, n := range []int{3, 60, 190, 1000, len(whole) - 1} {
		spoiled := bytes.Clone(whole)
		spoiled[n] ^= 1
		_, err := decrypt(t, bytes.NewReader(spoiled), a.secret)
		wants(t, fmt.Sprint("altered at ", n), err, "INVALID_INPUT", "does not decrypt")
	}
	_, err := decrypt(t, bytes.NewReader(append(whole, 0)), a.secret)
	wants(t, "with more", err, "INVALID_INPUT", "altered")
	down := errors.New("disk is gone")
	_, err = decrypt(t, io.MultiReader(bytes.NewReader(whole[:100_000]), iotest.ErrReader(down)), a.secret)
	if !errors.Is(err, down) {
		t.Errorf("the source's error is lost: %v", err)
	}
}

func TestParseRecipientsRefuses(t *testing.T) {
	a, q := pairs(t)
	for name, c := range map[string]struct {
		list []string
		why  string
	}{
		"none":          {nil, "want 1 to 32"},
		"too many":      {slicesOf(a.public, 33), "want 1 to 32"},
		"a secret key":  {[]string{a.public, a.secret}, "number 2 is a secret key"},
		"in lower case": {[]string{strings.ToLower(a.secret)}, "number 1 is a secret key"},
		"mistyped":      {[]string{a.public[:20] + "q" + a.public[20:]}, "number 1 is no age public key"},
		"two in one":    {[]string{a.public + "\n" + a.public}, "not one public key"},
		"a comment":     {[]string{"# none"}, "no age public key"},
		"SSH":           {[]string{"ssh-ed25519 AAAA"}, "no age public key"},
		"mixed":         {[]string{a.public, q.public}, "post-quantum"},
		"long":          {[]string{strings.Repeat("a", 10_000)}, "not one public key"},
	} {
		_, err := secrets.ParseRecipients(c.list)
		wants(t, name, err, "INVALID_CONFIG", c.why)
		if text := fmt.Sprintf("%v %#v", err, err); strings.Contains(strings.ToUpper(text), a.secret[15:]) {
			t.Errorf("%s: tells the secret: %s", name, text)
		}
	}
	_, err := secrets.EncryptTo(io.Discard, secrets.Recipients{})
	wants(t, "no recipients", err, "INVALID_CONFIG", "not written in clear")
}

func slicesOf(s string, n int) []string { return strings.Split(strings.Repeat(s+" ", n-1)+s, " ") }

// other is a letter of bech32 that is not this one.
func other(c byte) string {
	if c == 'X' {
		return "Q"
	}
	return "X"
}

func TestParseIdentitiesRefuses(t *testing.T) {
	a, _ := pairs(t)
	for name, in := range map[string]string{
		"nothing":   "",
		"comments":  "# a\n",
		"a public":  a.public,
		"mistyped":  a.secret[:30] + other(a.secret[30]) + a.secret[31:],
		"too many":  strings.Repeat(a.secret+"\n", 33),
		"too long":  strings.Repeat("#", 200_000),
		"a prefix":  "AGE-SECRET-KEY-1",
		"not UTF-8": a.secret + "\xff",
	} {
		_, err := secrets.ParseIdentities(strings.NewReader(in))
		wants(t, name, err, "INVALID_CONFIG", "age identities")
		if strings.Contains(fmt.Sprintf("%v %#v", err, err), a.secret[16:30]) {
			t.Errorf("%s: tells the secret: %v", name, err)
		}
	}
	down := errors.New("down")
	if _, err := secrets.ParseIdentities(iotest.ErrReader(down)); !errors.Is(err, down) {
		t.Errorf("%v", err)
	}
	_, err := secrets.DecryptWith(strings.NewReader(""), secrets.Identities{})
	wants(t, "no identities", err, "INVALID_CONFIG", "there are none")
}

func TestIdentitiesNeverPrint(t *testing.T) {
	a, _ := pairs(t)
	ids, err := secrets.ParseIdentities(strings.NewReader(a.secret))
	if err != nil {
		t.Fatal(err)
	}
	type holder struct {
		I secrets.Identities
		i secrets.Identities
	}
	held := holder{ids, ids}
	if out := renderings(t, ids, &ids, held, &held); strings.Contains(out, "AGE-SECRET") || strings.Contains(out, a.secret[16:30]) {
		t.Errorf("leaks in %s", out)
	}
}

func FuzzParseRecipients(f *testing.F) {
	f.Add("age1")
	f.Add("AGE-SECRET-KEY-1")
	f.Fuzz(func(t *testing.T, in string) {
		if r, err := secrets.ParseRecipients([]string{in}); err == nil {
			if _, err := secrets.EncryptTo(io.Discard, r); err != nil {
				t.Fatalf("%q: %v", in, err)
			}
		}
	})
}
