package operators

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

// The vectors of the reference implementation (phc-winner-argon2, src/test.c).
func TestArgon2Vectors(t *testing.T) {
	h := hasher(t, Hashing{Cost: cheap})
	for _, c := range []struct {
		phc   PHC
		typed string
	}{
		{"$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc", "password"},
		{"$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", "password"},
		{"$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc", "password"},
	} {
		if testing.Short() && strings.Contains(string(c.phc), "m=65536") {
			continue
		}
		match, outdated, err := h.Check(t.Context(), c.phc, NewPassword(c.typed))
		if err != nil || !match || !outdated {
			t.Errorf("%s: %v %v %v", string(c.phc), match, outdated, err)
		}
		if match, _, err := h.Check(t.Context(), c.phc, NewPassword(c.typed+"x")); err != nil || match {
			t.Errorf("%s: another password, %v %v", string(c.phc), match, err)
		}
	}
}

func TestHashAndCheck(t *testing.T) {
	h := hasher(t, Hashing{Cost: cheap})
	long := strings.Repeat("x", MaxPassword)
	for _, typed := range []string{phrase, "    spaces    ", "пароль и ключ", "e\u0301 is left as it is", long} {
		phc, err := h.Hash(t.Context(), "alice", NewPassword(typed))
		if err != nil || !strings.HasPrefix(string(phc), "$argon2id$v=19$m=64,t=1,p=1$") {
			t.Fatalf("%q: %s, %v", typed, string(phc), err)
		}
		for _, c := range []struct {
			typed string
			want  bool
		}{{typed, true}, {typed + "x", false}, {typed[1:], false}, {strings.ToUpper(typed), strings.ToUpper(typed) == typed}, {"", false}, {strings.TrimSpace(typed), strings.TrimSpace(typed) == typed}} {
			match, outdated, err := h.Check(t.Context(), phc, NewPassword(c.typed))
			if err != nil || match != c.want || outdated {
				t.Errorf("%q for %q: %v %v %v", c.typed, typed, match, outdated, err)
			}
		}
	}
	a, err1 := h.Hash(t.Context(), "alice", NewPassword(phrase))
	b, err2 := h.Hash(t.Context(), "alice", NewPassword(phrase))
	if err := errors.Join(err1, err2); err != nil || a == b {
		t.Errorf("the same salt twice, %v", err)
	}
}

func TestPasswordRules(t *testing.T) {
	h := hasher(t, Hashing{Cost: cheap})
	for name, c := range map[string]struct {
		typed Password
		name  string
		why   string
	}{
		"short":          {NewPassword("elevenbytes"), "alice", "11 bytes, want 12 to 256"},
		"long":           {NewPassword(strings.Repeat("x", 257)), "alice", "257 bytes"},
		"not UTF-8":      {NewPassword("long enough\xff\xfe"), "alice", "UTF-8"},
		"the name":       {NewPassword("administrator"), "administrator", "the account's name"},
		"the name's cap": {NewPassword("Administrator"), "administrator", "the account's name"},
		"none":           {Password{}, "alice", "missing"},
	} {
		phc, err := h.Hash(t.Context(), c.name, c.typed)
		wants(t, name, err, "INVALID_INPUT", c.why)
		if phc != "" {
			t.Errorf("%s: hashed all the same", name)
		}
	}
	if err := NewPassword("aaaaaaaaaaaa").Acceptable("alice"); err != nil {
		t.Errorf("a rule of composition: %v", err)
	}
}

func TestParsePHC(t *testing.T) {
	const tail = "$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"
	for in, want := range map[PHC]bool{
		"$argon2id$v=19$m=262144,t=16,p=16" + tail:            true,
		"$argon2id$v=19$m=8,t=1,p=1" + tail:                   true,
		"$argon2id$v=19$m=262145,t=1,p=1" + tail:              false, // more than may be spent
		"$argon2id$v=19$m=9999999,t=1,p=1" + tail:             false,
		"$argon2id$v=19$m=64,t=17,p=1" + tail:                 false,
		"$argon2id$v=19$m=1024,t=1,p=17" + tail:               false,
		"$argon2id$v=19$m=64,t=1,p=16" + tail:                 false, // less than 8 KiB a thread
		"$argon2id$v=19$m=64,t=0,p=1" + tail:                  false,
		"$argon2id$v=19$m=064,t=1,p=1" + tail:                 false,
		"$argon2id$v=19$t=1,m=64,p=1" + tail:                  false,
		"$argon2id$v=16$m=64,t=1,p=1" + tail:                  false,
		"$argon2i$v=19$m=64,t=1,p=1" + tail:                   false,
		"$argon2id$m=64,t=1,p=1" + tail:                       false,
		PHC("$argon2id$v=19$m=64,t=1,p=1$c2FsdA" + tail[12:]): false, // salt of 4
		"$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$nf65EOg":     false, // hash of 5
		"$argon2id$v=19$m=64,t=1,p=1" + tail + "=":            false,
		PHC("$argon2id$v=19$m=64,t=1,p=1" + tail[:54] + "9"):  false, // bits to spare
		"\n$argon2id$v=19$m=64,t=1,p=1" + tail:                false,
		"$argon2id$v=19$m=64,t=1,p=1" + tail + "\n":           false,
		"":                              false,
		"$2a$12$abcdefghijklmnopqrstuv": false,
		PHC(strings.Repeat("$", 300)):   false,
		PHC("$argon2id$v=19$m=64,t=1,p=1$" + tail + "$x"):  false,
		PHC("$argon2id$v=19$m=64,t=1,p=1,x=1" + tail):      false,
		PHC("$argon2id$v=19$m=99999999999,t=1,p=1" + tail): false,
	} {
		h, err := in.parse()
		if (err == nil) != want || err == nil && h.phc() != in {
			t.Errorf("%q: %v", string(in), err)
		}
		if err != nil {
			wants(t, string(in), err, "INVALID_INPUT", "password hash")
			if strings.Contains(err.Error(), "nf65") {
				t.Errorf("the error carries the hash: %v", err)
			}
		}
	}
}

func TestCostDefaults(t *testing.T) {
	if got, want := (Cost{}).filled(), (Cost{Time: 3, Memory: 64 << 10, Threads: 4}); got != want { // RFC 9106 section 4
		t.Errorf("%+v", got)
	}
	for name, c := range map[string]struct {
		h   Hashing
		why string
	}{
		"time":    {Hashing{Cost: Cost{Time: 17}}, "Cost.Time"},
		"threads": {Hashing{Cost: Cost{Threads: 17}}, "Cost.Threads"},
		"much":    {Hashing{Cost: Cost{Memory: 1 << 20}}, "Cost.Memory"},
		"little":  {Hashing{Cost: Cost{Memory: 31}}, "Cost.Memory"},
		"slots":   {Hashing{AtOnce: -1}, "AtOnce"},
		"queue":   {Hashing{Queue: 2000}, "Queue"},
	} {
		h, err := NewHasher(c.h, &steps{})
		wants(t, name, err, "INVALID_INPUT", c.why)
		if h != nil {
			t.Errorf("%s: made all the same", name)
		}
	}
	if err := (Hashing{}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestNoEntropyNoHash(t *testing.T) {
	dry := errors.New("dry")
	h, err := NewHasher(Hashing{Cost: cheap}, iotest.ErrReader(dry))
	if err != nil {
		t.Fatal(err)
	}
	if phc, err := h.Hash(t.Context(), "alice", NewPassword(phrase)); !errors.Is(err, dry) || phc != "" {
		t.Errorf("%s, %v", phc, err)
	}
}

func TestPasswordsNeverPrint(t *testing.T) {
	const canary = "kkkkkkkkkkkkkkkk"
	p, s := NewPassword(canary), seed(t, 'k')
	h := hasher(t, Hashing{Cost: cheap})
	phc, err := h.Hash(context.Background(), "alice", p)
	if err != nil {
		t.Fatal(err)
	}
	type holder struct {
		P Password
		p Password
		S Seed
		s Seed
		A Attempt
		H *Hasher
		h *Hasher
		D Door
	}
	held := holder{p, p, s, s, Attempt{Name: "alice", Password: p}, h, h, door(t)}
	out := renderings(p, &p, s, &s, held, &held, held.A)
	j, err := json.Marshal([]any{p, s, held.A})
	if err != nil {
		t.Fatal(err)
	}
	out += string(j)
	for _, leak := range []string{"kkkk", "6b6b", "6B6B", "107 107", "0x6b", "153 153"} {
		if strings.Contains(out, leak) {
			t.Errorf("%q leaks in %s", leak, out)
		}
	}
	if got := fmt.Sprintf("%v %s %q %#v", phc, phc, phc, []PHC{phc}); strings.Contains(got, "argon2id") {
		t.Errorf("a hash prints: %s", got)
	}
}

func FuzzPHC(f *testing.F) {
	f.Add("$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4")
	f.Add("$argon2id$v=19$m=,t=,p=$$")
	f.Fuzz(func(t *testing.T, in string) {
		h, err := PHC(in).parse()
		if err != nil {
			return
		}
		if string(h.phc()) != in || h.cost.Memory > maxMemory || h.cost.Time > maxTime || h.cost.Threads > maxThreads || h.cost.Threads == 0 || h.cost.Time == 0 {
			t.Fatalf("%q is read as %+v", in, h)
		}
	})
}
