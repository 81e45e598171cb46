package operators

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/identity/keys"
)

// opened is a session of the token of 1s, for alice, with an idle end of an hour.
func opened(t fataler) (Account, Session) {
	d := door(t)
	a, p := account(t, d), Proof{}
	p = Proof{name: a.Name, created: a.Created, generation: a.Generation}
	a, s, err := Open(a, p, token(t, 1), Lasting{Idle: time.Hour}, keys.ReadOnly, noon)
	if err != nil {
		t.Fatal(err)
	}
	return a, s
}

func TestOpen(t *testing.T) {
	a, _ := opened(t)
	p := Proof{name: a.Name, created: a.Created, generation: a.Generation}
	key, err := keys.NewSecret(keys.APIKey, [keys.SecretSize]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		token keys.Secret
		for_  Lasting
		with  keys.Scope
		ends  time.Duration
		why   string
	}{
		"defaults":      {token(t, 1), Lasting{}, "", 8 * time.Hour, ""},
		"a day":         {token(t, 1), Lasting{For: 24 * time.Hour}, "", 24 * time.Hour, ""},
		"with a key":    {token(t, 1), Lasting{For: time.Minute}, keys.Full, time.Minute, ""},
		"too long":      {token(t, 1), Lasting{For: 24*time.Hour + 1}, "", 0, "Lasting.For"},
		"below zero":    {token(t, 1), Lasting{For: -1}, "", 0, "Lasting.For"},
		"idle in haste": {token(t, 1), Lasting{Idle: time.Minute}, "", 0, "Lasting.Idle"},
		"an API key":    {key, Lasting{}, "", 0, `is of kind "key", want "session"`},
		"no token":      {keys.Secret{}, Lasting{}, "", 0, `is of kind ""`},
		"no such scope": {token(t, 1), Lasting{}, keys.Operator, 0, `"operator" is none of`},
	} {
		next, s, err := Open(a, p, c.token, c.for_, c.with, noon)
		if c.why != "" {
			wants(t, name, err, "INVALID_INPUT", c.why)
			if next != a || s != (Session{}) {
				t.Errorf("%s: opened all the same", name)
			}
			continue
		}
		if err != nil || s.Ends.Sub(noon) != c.ends || s.OpenedWith != c.with || s.MFA || s.Tenant != "acme" || s.ID != c.token.ID() {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

func TestCheckSession(t *testing.T) {
	a, s := opened(t)
	right, wrong := token(t, 1), token(t, 2)
	poll, err := keys.NewSecret(keys.PollToken, [keys.SecretSize]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	changed, err := a.SetPassword(a.Password, noon)
	if err != nil {
		t.Fatal(err)
	}
	anew := a
	anew.Created = noon
	end := s.Ends
	seen, _ := s.Touch(end.Add(-time.Minute))
	for _, c := range []struct {
		name      string
		session   Session
		presented keys.Secret
		account   Account
		at        time.Time
		why       string
	}{
		{"right", s, right, a, noon, ""},
		{"last idle instant", s, right, a, noon.Add(time.Hour - 1), ""},
		{"last instant", seen, right, a, end.Add(-1), ""},
		{"wrong", s, wrong, a, noon, "not there or its token is wrong"},
		{"none", s, keys.Secret{}, a, noon, "not there or its token is wrong"},
		{"of another kind", s, poll, a, noon, "not there or its token is wrong"},
		{"no session", Session{}, right, a, noon, "not there or its token is wrong"},
		{"no session, no token", Session{}, keys.Secret{}, Account{}, noon, "not there or its token is wrong"},
		{"revoked", s.Revoke(noon), right, a, noon, "was revoked"},
		{"wrong, and no word of the revocation", s.Revoke(noon), wrong, a, noon, "not there or its token is wrong"},
		{"ended", seen, right, a, end, "has ended"},
		{"idle", s, right, a, noon.Add(time.Hour), "was idle"},
		{"password changed", s, right, changed, noon, "change of its account"},
		{"disabled", s, right, a.Disable(noon), noon, "change of its account"},
		{"enabled again", s, right, a.Disable(noon).Enable(), noon, "change of its account"},
		{"second factor dropped", s, right, a.DropTOTP(), noon, "change of its account"},
		{"account gone", s, right, Account{}, noon, "change of its account"},
		{"account made anew", s, right, anew, noon, "change of its account"},
	} {
		got, err := c.session.Check(c.presented, c.account, c.at)
		if c.why != "" {
			wants(t, c.name, err, "UNAUTHENTICATED", c.why)
			if got != (keys.Session{}) {
				t.Errorf("%s: %+v", c.name, got)
			}
			continue
		}
		if want := (keys.Session{Operator: "alice", Ends: end, OpenedWith: keys.ReadOnly}); err != nil || got != want {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if caller, err := got.Caller(c.at); err != nil || caller != (keys.Caller{Scope: keys.ReadOnly, Operator: "alice"}) {
			t.Errorf("%s: %+v, %v", c.name, caller, err)
		}
	}
}

func TestTouchIsRare(t *testing.T) {
	_, s := opened(t)
	writes := 0
	for sec := range 600 {
		next, write := s.Touch(noon.Add(time.Duration(sec) * time.Second))
		if write != (next != s) {
			t.Fatalf("%v: %+v", write, next)
		}
		if write {
			writes++
		}
		s = next
	}
	if writes != 9 {
		t.Errorf("%d writes in ten minutes", writes)
	}
	s.Idle = 0
	if next, write := s.Touch(noon.Add(time.Hour)); write || next != s {
		t.Error("written for nothing")
	}
}

// A session that was dead once stays dead, whatever is done to it.
func TestSessionsStayDead(t *testing.T) {
	_, start := opened(t)
	a, _ := opened(t)
	rapid.Check(t, func(t *rapid.T) {
		s, now, dead := start, noon, false
		t.Repeat(map[string]func(*rapid.T){
			"use": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 70).Draw(t, "min")) * time.Minute)
				_, err := s.Check(token(t, 1), a, now)
				if err == nil && dead || (err != nil) != s.Over(now) {
					t.Fatalf("dead %v, over %v: %v", dead, s.Over(now), err)
				}
				if dead = err != nil; !dead {
					s, _ = s.Touch(now)
				}
			},
			"revoke": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
					s, dead = s.Revoke(now), true
				}
			},
			"": func(t *rapid.T) {
				if err := s.Validate(); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

func TestSessionJSON(t *testing.T) {
	_, s := opened(t)
	readsBack(t, s, DecodeSession)
	readsBack(t, s.Revoke(noon.In(time.FixedZone("x", 3600))), DecodeSession)
	refusesForms(t, s, DecodeSession)
	b, err := json.Marshal(s)
	if err != nil || strings.Contains(string(b)+renderings(s, &s), token(t, 1).Show()[8:]) {
		t.Errorf("tells its token: %s, %v", b, err)
	}
	long := s
	long.Ends = long.Created.Add(25 * time.Hour)
	wants(t, "too long", long.Validate(), "INVALID_INPUT", "lasts too long")
}

// Only the token itself opens a session, however it is spelt.
func FuzzSessionToken(f *testing.F) {
	a, s := opened(f)
	f.Add(token(f, 1).Show())
	f.Add(token(f, 2).Show())
	f.Add("ingot_session_")
	f.Fuzz(func(t *testing.T, in string) {
		presented, err := keys.ParseSecret(in)
		if err != nil && !presented.IsZero() {
			t.Fatal("an error with a secret")
		}
		if _, err := s.Check(presented, a, noon); (err == nil) != (in == token(t, 1).Show()) {
			t.Fatalf("%q: %v", in, err)
		}
	})
}

func FuzzDecodeSession(f *testing.F) {
	_, s := opened(f)
	b, err := json.Marshal(s)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := DecodeSession(in)
		if err == nil && (s.Validate() != nil || s.Ends.Sub(s.Created) > maxFor) {
			t.Fatalf("%s is read as %+v", in, s)
		}
	})
}
