package keys

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// secret makes one whose bytes all are fill.
func secret(t interface{ Fatal(...any) }, kind Kind, fill byte) Secret {
	s, err := NewSecret(kind, [SecretSize]byte(bytes.Repeat([]byte{fill}, SecretSize)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func genSecret(t *rapid.T) Secret {
	kind := rapid.SampledFrom([]Kind{APIKey, TicketKey, PollToken, SessionToken}).Draw(t, "kind")
	raw := rapid.SliceOfN(rapid.Byte(), SecretSize, SecretSize).Draw(t, "entropy")
	raw[0] |= 1 // never all zeros
	s, err := NewSecret(kind, [SecretSize]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNewSecretRefuses(t *testing.T) {
	for name, try := range map[string]struct {
		kind    Kind
		entropy [SecretSize]byte
		why     string
	}{
		"entropy nobody drew": {APIKey, [SecretSize]byte{}, "draw 32 random bytes"},
		"unknown kind":        {"password", [SecretSize]byte{1}, `"password" is unknown`},
		"no kind":             {"", [SecretSize]byte{1}, `"" is unknown`},
	} {
		s, err := NewSecret(try.kind, try.entropy)
		bad, ok := errors.AsType[*Invalid](err)
		if !ok || bad.Code() != "INVALID_INPUT" || !strings.Contains(err.Error(), try.why) || !s.IsZero() {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}

// The wire form is fixed: keys out in the field must stay readable. The values
// were made apart from this code.
func TestSecretVectors(t *testing.T) {
	s := secret(t, APIKey, 1)
	if got := s.Show(); got != "ingot_key_040g2081040g2081040g2081040g2081040g2081040g2081040vwn25p4" {
		t.Errorf("shows %s", got)
	}
	if got := s.Hash().String(); got != "63c98e3c4ce2dd29ba7a2dfa0480f29872a0a8f9883bdb510ffc02b259950dc8" {
		t.Errorf("hash %s", got)
	}
	if got := s.ID(); got != "key_z0b1mrja0d3reeh8" {
		t.Errorf("ID %s", got)
	}
}

func TestSecretsReadBackAndMatchThePattern(t *testing.T) {
	pattern := regexp.MustCompile("^" + Pattern + "$")
	rapid.Check(t, func(t *rapid.T) {
		s := genSecret(t)
		shown := s.Show()
		back, err := ParseSecret(shown)
		if err != nil || back.Show() != shown || back.Kind() != s.Kind() || back.Hash() != s.Hash() || back.ID() != s.ID() {
			t.Fatalf("%s came back as %s, %v", shown, back.Show(), err)
		}
		if !pattern.MatchString(shown) {
			t.Fatalf("scanners miss %s", shown)
		}
		if strings.Contains(shown, s.ID()) || strings.Contains(s.Hash().String(), hex.EncodeToString([]byte(s.ID()))) {
			t.Fatal("the ID gives something away")
		}
	})
}

// Any one character changed, any cut and any addition is noticed.
func TestParseSecretNoticesEveryChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shown := genSecret(t).Show()
		at := rapid.IntRange(0, len(shown)-1).Draw(t, "at")
		to := rapid.Byte().Draw(t, "to")
		changed := shown[:at] + string([]byte{to}) + shown[at+1:]
		if _, err := ParseSecret(changed); (err == nil) != (changed == shown) {
			t.Fatalf("%q: %v", changed, err)
		}
		for _, s := range []string{shown[:at], shown[at+1:], shown + "0", " " + shown, shown + "\n"} {
			if _, err := ParseSecret(s); err == nil {
				t.Fatalf("%q is taken for %q", s, shown)
			}
		}
	})
}

func TestParseSecretRefuses(t *testing.T) {
	good := secret(t, APIKey, 7).Show()
	zeros := prefix + "key_" + strings.Repeat("0", bodyLen)
	for name, in := range map[string]string{
		"nothing":        "",
		"prefix":         "ingot_key_",
		"upper case":     strings.ToUpper(good),
		"another kind":   strings.Replace(good, "_key_", "_poll_", 1),
		"longest kind":   strings.Replace(good, "_key_", "_session_", 1),
		"unknown kind":   strings.Replace(good, "_key_", "_kex_", 1),
		"line break":     good[:20] + "\n" + good[20:],
		"break for char": good[:20] + "\n" + good[21:],
		"zeros":          zeros,
		"too long":       good + strings.Repeat("0", 10_000),
	} {
		s, err := ParseSecret(in)
		bad, ok := errors.AsType[*Unauthenticated](err)
		if !ok || bad.Code() != "UNAUTHENTICATED" || !s.IsZero() {
			t.Errorf("%s: %v, %v", name, s, err)
		}
		if len(in) > 10 && strings.Contains(fmt.Sprintf("%v %#v", err, err), in[10:]) {
			t.Errorf("%s: the error carries the secret", name)
		}
	}
}

func FuzzParseSecret(f *testing.F) {
	for _, kind := range []Kind{APIKey, TicketKey, PollToken, SessionToken} {
		f.Add(secret(f, kind, 3).Show())
	}
	f.Add("ingot_key_" + strings.Repeat("z", bodyLen))
	f.Add("ingot__")
	f.Fuzz(func(t *testing.T, in string) {
		s, err := ParseSecret(in)
		if err == nil && s.Show() != in {
			t.Fatalf("%q is another spelling of %q", in, s.Show())
		}
		if err != nil && !s.IsZero() {
			t.Fatal("an error with a secret")
		}
	})
}

func TestSecretsNeverPrint(t *testing.T) {
	s := secret(t, APIKey, 0x6b)
	type holder struct {
		Secret Secret
		secret Secret
		Ticket *Ticket
	}
	held := holder{s, s, &Ticket{s.ID(), s}}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o"} {
		for _, v := range []any{s, &s, held, &held, *held.Ticket, []Secret{s}, map[string]Secret{"a": s}} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
	}
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(h).Info("key", "secret", s, "held", held, "secrets", []Secret{s})
	}
	j, err := json.Marshal(held)
	if err != nil || !strings.HasPrefix(string(j), `{"Secret":"[redacted]"`) {
		t.Errorf("JSON is %s, %v", j, err)
	}
	out.Write(j)
	for _, leak := range []string{"kkkk", "6b6b", "6B6B", "107 107", "0x6b", s.Show()[10:20]} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("%q leaks in %s", leak, out.String())
		}
	}
	if fmt.Sprint(s) != "[redacted]" {
		t.Errorf("prints %v", s)
	}
}

func TestZeroSecret(t *testing.T) {
	var s Secret
	if s.Show() != "" || s.ID() != "" || s.Kind() != "" || !s.Hash().IsZero() || !s.IsZero() {
		t.Error("the zero Secret is something")
	}
}

func BenchmarkParseSecret(b *testing.B) {
	shown := secret(b, APIKey, 1).Show()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseSecret(shown); err != nil {
			b.Fatal(err)
		}
	}
}
