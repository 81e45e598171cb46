package operators

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/identity/keys"
)

// counted counts hashes, with what they were asked to spend.
type counted struct{ costs []Cost }

func (c *counted) derive(_, _ []byte, time, memory uint32, threads uint8, size uint32) []byte {
	c.costs = append(c.costs, Cost{time, memory, threads})
	return make([]byte, size)
}

// Whatever is wrong, one hash of the full cost is spent and one answer given.
func TestOneAnswerAndOneCost(t *testing.T) {
	d := door(t)
	plain, mfa := account(t, d), enrolled(t, d)
	broken := plain
	broken.Password = "$argon2id$"
	right, wrong, now := NewPassword(phrase), NewPassword("correct horse batterz"), codeAt(t, 1, noon)
	var spent counted
	for name, c := range map[string]struct {
		account Account
		try     Attempt
	}{
		"unknown":                     {Account{}, Attempt{"alice", right, ""}},
		"unknown, no name":            {Account{}, Attempt{"", right, ""}},
		"disabled":                    {plain.Disable(noon), Attempt{"alice", right, ""}},
		"disabled, wrong":             {plain.Disable(noon), Attempt{"alice", wrong, ""}},
		"wrong password":              {plain, Attempt{"alice", wrong, ""}},
		"no password":                 {plain, Attempt{"alice", Password{}, ""}},
		"endless password":            {plain, Attempt{"alice", NewPassword(string(make([]byte, 1<<20))), ""}},
		"another's account":           {plain, Attempt{"bob", right, ""}},
		"hash that is none":           {broken, Attempt{"alice", right, ""}},
		"no code":                     {mfa, Attempt{"alice", right, ""}},
		"wrong code":                  {mfa, Attempt{"alice", right, codeAt(t, 2, noon)}},
		"old code":                    {mfa, Attempt{"alice", right, codeAt(t, 1, noon.Add(-time.Minute))}},
		"right code, wrong password":  {mfa, Attempt{"alice", wrong, now}},
		"right code, unknown account": {Account{}, Attempt{"alice", right, now}},
	} {
		before := len(spent.costs)
		p, err := Door{counting(d.Hasher, &spent), d.Sealer}.Verify(t.Context(), c.account, c.try, noon)
		if err != ErrUnauthenticated || p != (Proof{}) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		if len(spent.costs) != before+1 || spent.costs[before] != cheap {
			t.Errorf("%s: spent %v", name, spent.costs[before:])
		}
		if p, err := d.Verify(t.Context(), c.account, c.try, noon); err != ErrUnauthenticated || p != (Proof{}) { // with true hashes
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	wants(t, "the answer", ErrUnauthenticated, "UNAUTHENTICATED", "name, password or code is wrong")
}

// counting is h with hashes that are only counted.
func counting(h *Hasher, c *counted) *Hasher {
	return &Hasher{opts: h.opts, places: h.places, slots: h.slots, entropy: h.entropy, derive: c.derive}
}

func TestMFAOnlyByACode(t *testing.T) { // ID-8
	d := door(t)
	for name, c := range map[string]struct {
		account Account
		typed   string
		want    bool
	}{
		"no second factor":           {account(t, d), "", false},
		"no second factor, any code": {account(t, d), "123456", false},
		"a code":                     {enrolled(t, d), codeAt(t, 1, noon), true},
		"as typed":                   {enrolled(t, d), codeAt(t, 1, noon)[:3] + " " + codeAt(t, 1, noon)[3:], true},
	} {
		p, err := d.Verify(t.Context(), c.account, Attempt{"alice", NewPassword(phrase), c.typed}, noon)
		if err != nil || p.MFA() != c.want || p.Outdated() {
			t.Errorf("%s: %+v, %v", name, p, err)
			continue
		}
		next, s, err := Open(c.account, p, token(t, 1), Lasting{}, "", noon)
		if err != nil || s.MFA != c.want || (next.LastStep != c.account.LastStep) != c.want {
			t.Errorf("%s: %+v, %+v, %v", name, next, s, err)
		}
	}
}

// Two who present the same code both pass Verify; one of them gets a session.
func TestACodeOpensOneSession(t *testing.T) {
	d := door(t)
	a, try := enrolled(t, d), Attempt{"alice", NewPassword(phrase), codeAt(t, 1, noon)}
	first, err1 := d.Verify(t.Context(), a, try, noon)
	second, err2 := d.Verify(t.Context(), a, try, noon)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	a, _, err := Open(a, first, token(t, 1), Lasting{}, "", noon)
	if err != nil {
		t.Fatal(err)
	}
	same, s, err := Open(a, second, token(t, 2), Lasting{}, "", noon)
	if err != ErrUnauthenticated || same != a || s != (Session{}) {
		t.Errorf("%+v, %v", s, err)
	}
}

// Between Verify and Open an account may change; then the proof is void.
func TestProofsDoNotOutliveAChange(t *testing.T) {
	d := door(t)
	a := enrolled(t, d)
	p, err := d.Verify(t.Context(), a, Attempt{"alice", NewPassword(phrase), codeAt(t, 1, noon)}, noon)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := a.SetPassword(a.Password, noon)
	if err != nil {
		t.Fatal(err)
	}
	replaced, err := a.BeginTOTP(d.Sealer, seed(t, 2), noon)
	if err == nil {
		replaced, err = replaced.ConfirmTOTP(d.Sealer, codeAt(t, 2, noon.Add(-30*time.Second)), noon)
	}
	if err != nil {
		t.Fatal(err)
	}
	renamed, anew := a, a
	renamed.Name, anew.Created = "bob", noon
	for name, next := range map[string]Account{
		"password set": changed, "disabled": a.Disable(noon), "enabled again": a.Disable(noon).Enable(),
		"no second factor": a.DropTOTP(), "another second factor": replaced,
		"another account": renamed, "made anew": anew, "gone": {},
	} {
		if same, s, err := Open(next, p, token(t, 1), Lasting{}, "", noon); err != ErrUnauthenticated || same != next || s != (Session{}) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		if same, err := next.Rehashed(p, a.Password); name != "another second factor" && (err == nil || same != next) {
			t.Errorf("%s: hashed anew", name)
		}
	}
	if _, _, err := Open(a, Proof{}, token(t, 1), Lasting{}, "", noon); err != ErrUnauthenticated {
		t.Errorf("the zero Proof: %v", err)
	}
	if _, _, err := Open(Account{}, Proof{}, token(t, 1), Lasting{}, "", noon); err != ErrUnauthenticated {
		t.Errorf("nothing for nobody: %v", err)
	}
}

func TestPasswordsAreHashedAnewWhenTheCostRises(t *testing.T) {
	d := door(t)
	a := account(t, d)
	raised := cheap
	raised.Time++
	d.Hasher = hasher(t, Hashing{Cost: raised})
	try := Attempt{"alice", NewPassword(phrase), ""}
	p, err := d.Verify(t.Context(), a, try, noon)
	if err != nil || !p.Outdated() {
		t.Fatalf("%+v, %v", p, err)
	}
	phc, err := d.Hasher.Hash(t.Context(), "alice", try.Password)
	if err != nil {
		t.Fatal(err)
	}
	next, err := a.Rehashed(p, phc)
	if err != nil || next.Generation != a.Generation || next.PasswordChanged != a.PasswordChanged {
		t.Errorf("%+v, %v", next, err)
	}
	if p, err = d.Verify(t.Context(), next, try, noon); err != nil || p.Outdated() {
		t.Errorf("%+v, %v", p, err)
	}
	if same, err := a.Rehashed(p, "none"); err == nil || same != a {
		t.Error("took a hash that is none")
	}
}

func TestVerifyPassesOnWhatIsNotTheCallersFault(t *testing.T) {
	d := door(t)
	d.Hasher = hasher(t, Hashing{Cost: cheap, AtOnce: 1})
	d.Hasher.slots <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p, err := d.Verify(ctx, Account{}, Attempt{}, noon); !errors.Is(err, context.Canceled) || p != (Proof{}) {
		t.Errorf("%+v, %v", p, err)
	}
}

// However accounts change and whoever signs in: a session that opens is of the
// account as it is, it has the mark only with a code, and each code opens one.
func TestSignInSequences(t *testing.T) {
	d := door(t)
	start := account(t, d)
	rapid.Check(t, func(t *rapid.T) {
		a, now, codes := start, noon, map[string]bool{}
		var proof Proof
		var proved Account
		secondFactor := byte(0)
		t.Repeat(map[string]func(*rapid.T){
			"wait": func(t *rapid.T) { now = now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "s")) * time.Second) },
			"verify": func(t *rapid.T) {
				code := codeAt(t, rapid.ByteRange(1, 2).Draw(t, "device"), now)
				p, err := d.Verify(context.Background(), a, Attempt{"alice", NewPassword(phrase), code}, now)
				if err == nil {
					proof, proved = p, a
				}
				if err == nil && (!a.Disabled.IsZero() || p.MFA() != (secondFactor != 0)) {
					t.Fatalf("%+v by %+v", p, a)
				}
			},
			"open": func(t *rapid.T) {
				next, s, err := Open(a, proof, token(t, 1), Lasting{}, keys.ReadOnly, now)
				if err != nil {
					return
				}
				if s.MFA != a.HasTOTP() || proved.Generation != a.Generation || proved.Seed != a.Seed || !a.Disabled.IsZero() {
					t.Fatalf("%+v for %+v, proved %+v", s, a, proved)
				}
				used := a.Seed + string(rune(proof.step))
				if s.MFA && codes[used] {
					t.Fatal("a code twice")
				}
				codes[used] = true
				a = next
			},
			"enrol": func(t *rapid.T) {
				device := rapid.ByteRange(1, 2).Draw(t, "device")
				next, err := a.BeginTOTP(d.Sealer, seed(t, device), now)
				if err == nil {
					next, err = next.ConfirmTOTP(d.Sealer, codeAt(t, device, now), now)
				}
				if err != nil {
					t.Fatal(err)
				}
				a, secondFactor = next, device
			},
			"drop":     func(*rapid.T) { a, secondFactor = a.DropTOTP(), 0 },
			"disable":  func(*rapid.T) { a = a.Disable(now) },
			"enable":   func(*rapid.T) { a = a.Enable() },
			"password": func(t *rapid.T) { a, _ = a.SetPassword(start.Password, now) },
			"": func(t *rapid.T) {
				if err := a.Validate(); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}
