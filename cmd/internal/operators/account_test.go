package operators

import (
	"strings"
	"testing"
	"time"
)

func TestNewAccount(t *testing.T) {
	phc := account(t, door(t)).Password
	for _, c := range []struct {
		name, account, tenant string
		phc                   PHC
		now                   time.Time
		why                   string
	}{
		{"plain", "alice", "acme", phc, noon, ""},
		{"all that may be", "_a.b-c_9", "A.b:c_-9", phc, noon, ""},
		{"longest", "a" + strings.Repeat("b", 63), strings.Repeat("t", 128), phc, noon, ""},
		{"too long", "a" + strings.Repeat("b", 64), "acme", phc, noon, "a name"},
		{"no name", "", "acme", phc, noon, "a name"},
		{"upper case", "Alice", "acme", phc, noon, "a name"},
		{"a digit first", "9alice", "acme", phc, noon, "a name"},
		{"a line", "alice\n", "acme", phc, noon, "a name"},
		{"no tenant", "alice", "", phc, noon, "a tenant"},
		{"a tenant too long", "alice", strings.Repeat("t", 129), phc, noon, "a tenant"},
		{"no password", "alice", "acme", "", noon, "no password hash"},
		{"no time", "alice", "acme", phc, time.Time{}, "lacks a time"},
	} {
		a, err := NewAccount(c.account, c.tenant, c.phc, c.now)
		if c.why == "" {
			if err != nil || a.Generation != 1 {
				t.Errorf("%s: %+v, %v", c.name, a, err)
			}
			continue
		}
		wants(t, c.name, err, "INVALID_INPUT", c.why)
		if a != (Account{}) {
			t.Errorf("%s: made all the same", c.name)
		}
	}
}

func TestAccountJSON(t *testing.T) {
	d := door(t)
	a := enrolled(t, d)
	readsBack(t, a, DecodeAccount)
	begun, err := a.Disable(noon).BeginTOTP(d.Sealer, seed(t, 2), noon.In(time.FixedZone("x", 3600)))
	if err != nil {
		t.Fatal(err)
	}
	readsBack(t, begun, DecodeAccount)
	refusesForms(t, a, DecodeAccount)
	a.Pending = "half"
	wants(t, "half an enrolment", a.Validate(), "INVALID_INPUT", "half an enrolment")
}

// What must end an account's sessions raises its generation, and nothing else
// does.
func TestGenerations(t *testing.T) {
	d := door(t)
	a := enrolled(t, d)
	other := account(t, d).Password
	changed, err := a.SetPassword(other, noon)
	if err != nil || changed.Generation != a.Generation+1 || !changed.PasswordChanged.Equal(noon) || changed.Password != other {
		t.Errorf("%+v, %v", changed, err)
	}
	off := a.Disable(noon)
	if again := off.Disable(noon.Add(time.Hour)); off.Generation != a.Generation+1 || again != off {
		t.Errorf("%+v, then %+v", off, again)
	}
	if on := off.Enable(); on.Generation != off.Generation || !on.Disabled.IsZero() {
		t.Errorf("%+v", on)
	}
	if plain := a.DropTOTP(); plain.Generation != a.Generation+1 || plain.HasTOTP() || plain.LastStep != 0 {
		t.Errorf("%+v", plain)
	}
	begun, err := a.BeginTOTP(d.Sealer, seed(t, 2), noon)
	if err != nil || begun.Generation != a.Generation || begun.Seed != a.Seed {
		t.Errorf("%+v, %v", begun, err)
	}
	if same, err := a.SetPassword("none", noon); err == nil || same != a {
		t.Errorf("took a hash that is none: %v", err)
	}
}

func TestEnrolment(t *testing.T) {
	d := door(t)
	a := account(t, d)
	_, err := a.ConfirmTOTP(d.Sealer, codeAt(t, 1, noon), noon)
	wants(t, "none begun", err, "CONFLICT", "begin one")
	if same, err := a.BeginTOTP(d.Sealer, Seed{}, noon); err == nil || same != a {
		t.Errorf("began with no seed: %v", err)
	}
	begun, err := a.BeginTOTP(d.Sealer, seed(t, 1), noon)
	if err != nil || begun.HasTOTP() {
		t.Fatalf("%+v, %v", begun, err)
	}
	for name, c := range map[string]struct {
		typed string
		at    time.Time
		want  bool
	}{
		"right":       {codeAt(t, 1, noon), noon, true},
		"another's":   {codeAt(t, 2, noon), noon, false},
		"none":        {"", noon, false},
		"last chance": {codeAt(t, 1, noon.Add(EnrolTTL-1)), noon.Add(EnrolTTL - 1), true},
		"too late":    {codeAt(t, 1, noon.Add(EnrolTTL)), noon.Add(EnrolTTL), false},
	} {
		done, err := begun.ConfirmTOTP(d.Sealer, c.typed, c.at)
		if (err == nil) != c.want || done.HasTOTP() != c.want || err != nil && done != begun {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
	}
	done, err := begun.ConfirmTOTP(d.Sealer, codeAt(t, 1, noon), noon)
	if err != nil || done.Pending != "" || !done.PendingUntil.IsZero() {
		t.Errorf("%+v, %v", done, err)
	}
	// The code that confirmed cannot sign in as well.
	_, err = d.Verify(t.Context(), done, Attempt{"alice", NewPassword(phrase), codeAt(t, 1, noon)}, noon)
	wants(t, "used", err, "UNAUTHENTICATED", "each code once")
}

func TestSeedsDoNotMoveToAnotherAccount(t *testing.T) {
	d := door(t)
	a := enrolled(t, d)
	for name, move := range map[string]func(*Account){
		"another name":         func(a *Account) { a.Name = "bob" },
		"the same name, later": func(a *Account) { a.Created = a.Created.Add(1) },
	} {
		other := a
		move(&other)
		_, err := d.Verify(t.Context(), other, Attempt{other.Name, NewPassword(phrase), codeAt(t, 1, noon)}, noon)
		wants(t, name, err, "INVALID_CONFIG", "sealed elsewhere")
		_, err = d.Verify(t.Context(), other, Attempt{other.Name, NewPassword("wrong"), codeAt(t, 1, noon)}, noon)
		wants(t, name+", wrong password", err, "UNAUTHENTICATED", "")
	}
}

func TestAccountsLogWithoutTheirHash(t *testing.T) {
	a := enrolled(t, door(t))
	out := renderings(a, &a)
	for _, leak := range []string{"argon2id", string(a.Password)[30:]} {
		if strings.Contains(out, leak) {
			t.Errorf("%q leaks in %s", leak, out)
		}
	}
	if !strings.Contains(out, "v.name=alice v.tenant=acme v.disabled=false v.mfa=true") {
		t.Errorf("logs as %s", out)
	}
}

func FuzzDecodeAccount(f *testing.F) {
	f.Add([]byte(`{"Schema":1,"Name":"alice","Tenant":"acme","Password":"$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4","Generation":1,"Created":"2026-05-01T12:00:00Z","PasswordChanged":"2026-05-01T12:00:00Z"}`))
	f.Add([]byte(`{"Schema":2}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if a, err := DecodeAccount(in); err == nil && a.Validate() != nil {
			t.Fatalf("%s is read as %+v", in, a)
		}
	})
}
