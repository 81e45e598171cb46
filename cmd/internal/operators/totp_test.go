package operators

import (
	"encoding/base32"
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// vectorSeed is that of RFC 4226 appendix D and RFC 6238 appendix B.
func vectorSeed(t fataler) Seed {
	s, err := NewSeed([SeedSize]byte([]byte("12345678901234567890")))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestHOTPVectors(t *testing.T) { // RFC 4226 appendix D
	s := vectorSeed(t)
	for step, want := range []string{"755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"} {
		if got := s.code(uint64(step)); got != want {
			t.Errorf("%d: %s, want %s", step, got, want)
		}
	}
}

func TestTOTPVectors(t *testing.T) { // RFC 6238 appendix B, the last six of eight digits
	s := vectorSeed(t)
	for sec, want := range map[int64]string{
		59: "94287082", 1111111109: "07081804", 1111111111: "14050471",
		1234567890: "89005924", 2000000000: "69279037", 20000000000: "65353130",
	} {
		at := time.Unix(sec, 0)
		if step, ok := s.match(want[2:], at, 0); !ok || step != uint64(sec)/30 {
			t.Errorf("%d: %d, %v", sec, step, ok)
		}
	}
}

func TestMatchWindow(t *testing.T) {
	s, middle := vectorSeed(t), uint64(noon.Unix())/30
	for _, c := range []struct {
		name string
		step uint64
		last uint64
		want bool
	}{
		{"of now", middle, 0, true},
		{"one before", middle - 1, 0, true},
		{"one after", middle + 1, 0, true},
		{"two before", middle - 2, 0, false},
		{"two after", middle + 2, 0, false},
		{"used", middle, middle, false},
		{"older than the last used", middle - 1, middle, false},
		{"newer than the last used", middle + 1, middle, true},
		{"after a clock was ahead", middle, middle + 100, false},
	} {
		step, ok := s.match(s.code(c.step), noon, c.last)
		if ok != c.want || ok && step != c.step {
			t.Errorf("%s: %d, %v", c.name, step, ok)
		}
	}
	for _, at := range []time.Time{{}, time.Unix(0, 0), time.Unix(-90, 0)} {
		for _, of := range []uint64{0, uint64(at.Unix()) / period} {
			if step, ok := s.match(s.code(of), at, 0); ok {
				t.Errorf("at %s: %d", at, step)
			}
		}
	}
	if _, ok := (Seed{}).match("755224", noon, 0); ok {
		t.Error("the zero Seed takes a code")
	}
	if _, ok := s.match("", noon, 0); ok {
		t.Error("no code is a code")
	}
}

func TestCodesAreUsedAtMostOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, last, now := vectorSeed(t), uint64(0), noon
		used := map[uint64]bool{}
		for range rapid.IntRange(1, 30).Draw(t, "tries") {
			now = now.Add(time.Duration(rapid.IntRange(-40, 60).Draw(t, "s")) * time.Second)
			of := uint64(now.Unix())/30 + uint64(rapid.IntRange(0, 2).Draw(t, "of")) - 1
			step, ok := s.match(s.code(of), now, last)
			if ok && used[step] || ok && step <= last {
				t.Fatalf("step %d twice", step)
			}
			if ok {
				used[step], last = true, step
			}
		}
	})
}

func TestParseCode(t *testing.T) {
	for in, want := range map[string]string{
		"123456": "123456", "123 456": "123456", " 12-34-56 ": "123456", "000000": "000000",
		"12345": "", "1234567": "", "12345x": "", "": "", "１２３４５６": "", "123456\n": "", "+12345": "",
		strings.Repeat(" ", 40) + "123456": "",
	} {
		if got := parseCode(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestShowURI(t *testing.T) {
	got, err := vectorSeed(t).ShowURI("Acme Ltd & Co", "alice")
	if want := "otpauth://totp/Acme%20Ltd%20&%20Co:alice?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Acme%20Ltd%20%26%20Co&algorithm=SHA1&digits=6&period=30"; err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	for name, c := range map[string]struct {
		seed         Seed
		issuer, name string
	}{
		"no issuer":  {vectorSeed(t), "", "alice"},
		"a colon":    {vectorSeed(t), "a:b", "alice"},
		"a line":     {vectorSeed(t), "a\nb", "alice"},
		"long":       {vectorSeed(t), strings.Repeat("x", 65), "alice"},
		"not UTF-8":  {vectorSeed(t), "a\xff", "alice"},
		"a bad name": {vectorSeed(t), "Acme", "Alice"},
		"no seed":    {Seed{}, "Acme", "alice"},
	} {
		got, err := c.seed.ShowURI(c.issuer, c.name)
		wants(t, name, err, "INVALID_INPUT", "")
		if got != "" {
			t.Errorf("%s: shows %s", name, got)
		}
	}
	_, err = NewSeed([SeedSize]byte{})
	wants(t, "zeros", err, "INVALID_INPUT", "draw 20 random bytes")
}

func FuzzShowURI(f *testing.F) {
	f.Add("Acme", "alice")
	f.Add("a&b=c#d?e/f%20 +", "x-y.z_")
	s := vectorSeed(f)
	f.Fuzz(func(t *testing.T, issuer, name string) {
		got, err := s.ShowURI(issuer, name)
		if err != nil {
			return
		}
		u, err := url.Parse(got)
		if err != nil || u.Scheme != "otpauth" || u.Host != "totp" || u.Path != "/"+issuer+":"+name || u.Fragment != "" {
			t.Fatalf("%q, %q: %s, %v", issuer, name, got, err)
		}
		q, err := url.ParseQuery(u.RawQuery)
		raw, err2 := base32.StdEncoding.DecodeString(q.Get("secret"))
		if err != nil || err2 != nil || len(q) != 5 || q.Get("issuer") != issuer || string(raw) != "12345678901234567890" {
			t.Fatalf("%q: %v, %v, %v", issuer, q, err, err2)
		}
	})
}

func FuzzParseCode(f *testing.F) {
	f.Add("123 456")
	f.Fuzz(func(t *testing.T, in string) {
		if got := parseCode(in); got != "" && (len(got) != 6 || strings.Trim(got, "0123456789") != "") {
			t.Fatalf("%q: %q", in, got)
		}
	})
}
