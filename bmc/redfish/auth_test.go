package redfish_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
)

// rule spoils requests.
func rule(method, path string, e bmcsim.Effect) bmcsim.Options {
	return bmcsim.Options{Rules: []bmcsim.Rule{{Method: method, Path: path, Effect: e}}}
}

func TestOneLogin(t *testing.T) {
	r := newRig(t, dell, bmcsim.Options{})
	s := r.open()
	together(t, s, 20)
	if _, err := s.Inventory(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := r.Stats().Logins; n != 1 {
		t.Errorf("%d logins", n)
	}
	must(t, s.Close(t.Context()))
	if n := r.Stats().Sessions; n != 0 {
		t.Errorf("%d sessions are left", n)
	}
	must(t, s.Close(t.Context()))
	if n := r.count("DELETE", ""); n > 1 {
		t.Errorf("%d logouts", n)
	}
	_, err := s.ReadPower(t.Context())
	wantKind(t, err, bmc.Unreachable)
}

// TestExpired: a token that ended is replaced once, whoever asks.
func TestExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dell, bmcsim.Options{Auth: bmcsim.Auth{Idle: time.Minute}})
		s := r.open()
		time.Sleep(2 * time.Minute)
		together(t, s, 10)
		if n := r.Stats().Logins; n != 2 {
			t.Errorf("%d logins", n)
		}
	})
}

// TestExpiredForEver: a BMC that accepts no token, though it gives them, is asked
// for two and then left alone.
func TestExpiredForEver(t *testing.T) {
	o := rule("GET", "/redfish/v1/Systems*", bmcsim.Effect{Status: 401})
	o.Rules[0].After = 2
	r := newRig(t, dell, o)
	s := r.open()
	for range 3 {
		_, err := s.ReadPower(t.Context())
		wantKind(t, err, bmc.Auth)
	}
	if n := r.Stats().Logins; n != 2 {
		t.Errorf("%d logins", n)
	}
	must(t, s.Close(t.Context()))
	if n := r.Stats().Sessions; n > 1 {
		t.Errorf("%d sessions are left", n)
	}
}

// TestRefusedForAPrivilege: a 401 that a new token does not change says nothing of
// the password. Each call logs in anew once at most, and leaves one session.
func TestRefusedForAPrivilege(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dell, rule("GET", "*/AccountService", bmcsim.Effect{Status: 401, MessageID: "Base.1.8.InsufficientPrivilege"}))
		s := r.open()
		for i := range 3 {
			if err := s.RotatePassword(t.Context(), bmc.Keep("the-next-one")); err == nil {
				t.Fatal("it was let in")
			}
			readPower(t, s)
			if st := r.Stats(); st.Logins > i+2 || st.Sessions != 1 {
				t.Errorf("%d logins, %d sessions", st.Logins, st.Sessions)
			}
		}
	})
}

// TestVainForAWhile: tokens that are all refused are asked for once a minute, and
// the first that is good ends it.
func TestVainForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := rule("GET", "/redfish/v1/Systems*", bmcsim.Effect{Status: 401})
		o.Rules[0].After, o.Rules[0].Times = 2, 3
		r := newRig(t, dell, o)
		s := r.open()
		for range 2 {
			_, err := s.ReadPower(t.Context())
			wantKind(t, err, bmc.Auth)
		}
		time.Sleep(renewGap)
		readPower(t, s)
		if st := r.Stats(); st.Logins != 2 || st.Sessions != 1 {
			t.Errorf("%d logins, %d sessions", st.Logins, st.Sessions)
		}
	})
}

// renewGap is the driver's.
const renewGap = time.Minute

// TestLatch: one wrong attempt, until the version of the credentials changes.
func TestLatch(t *testing.T) {
	r := newRig(t, dell, bmcsim.Options{})
	s := r.open()
	r.vault.set("wrong", "2")
	r.Reboot() // the token is gone
	var last *bmc.Error
	for range 5 {
		_, err := s.ReadPower(t.Context())
		last = wantKind(t, err, bmc.Auth)
	}
	if n := r.Stats().FailedLogins; n != 1 || last.Sent != bmc.SentNo {
		t.Errorf("%d attempts; %v", n, last)
	}
	r.vault.set(bmcsim.DefaultPassword, "3")
	readPower(t, s)
}

// TestLatchOfBasic: the first 401 is the last request.
func TestLatchOfBasic(t *testing.T) {
	o := rule("GET", "*/System.Embedded.1", bmcsim.Effect{Status: 401})
	o.Rules[0].After = 2
	r := newRig(t, dell, o)
	r.end.Options = []byte(`{"scheme":"basic"}`)
	s := r.open()
	before := r.Stats().Total
	for range 5 {
		_, err := s.ReadPower(t.Context())
		wantKind(t, err, bmc.Auth)
	}
	if n := r.Stats().Total - before; n != 1 {
		t.Errorf("%d requests", n)
	}
}

// TestLatchOfOpen: a wrong password is one attempt for each Open, by session and
// by Basic.
func TestLatchOfOpen(t *testing.T) {
	for _, scheme := range []string{"session", "basic"} {
		r := newRig(t, dell, bmcsim.Options{})
		r.end.Options = []byte(`{"scheme":"` + scheme + `"}`)
		r.vault.set("hunter2-is-wrong", "1")
		_, err := r.tryOpen()
		wantKind(t, err, bmc.Auth)
		if n := r.Stats().FailedLogins; n != 1 {
			t.Errorf("%s: %d attempts", scheme, n)
		}
		if strings.Contains(fmt.Sprintf("%v %+v", err, err), "hunter2") {
			t.Errorf("the password is in %+v", err)
		}
	}
}

// TestEchoedPassword: a BMC that quotes the password does not get it into an
// error.
func TestEchoedPassword(t *testing.T) {
	for _, status := range []int{400, 403, 500, 503} {
		r := newRig(t, dell, rule("POST", "*/Sessions", bmcsim.Effect{Status: status, MessageID: "Base.1.0.PropertyValueFormatError", Message: "The value " + bmcsim.DefaultPassword + " for the property Password"}))
		_, err := r.tryOpen()
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), bmcsim.DefaultPassword) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestLoginsThatAreNone(t *testing.T) {
	for _, c := range []struct {
		name string
		o    bmcsim.Options
		want bmc.Kind
	}{
		{"no token", bmcsim.Options{Auth: bmcsim.Auth{NoToken: true}}, bmc.Protocol},
		{"403", rule("POST", "*/Sessions", bmcsim.Effect{Status: 403}), bmc.Auth},
		{"400", rule("POST", "*/Sessions", bmcsim.Effect{Status: 400, Answer: "no"}), bmc.Auth},
		{"a password change", rule("POST", "*/Sessions", bmcsim.Effect{Status: 403, MessageID: "Base.1.11.PasswordChangeRequired"}), bmc.PasswordChange},
		{"sessions full as 400", bmcsim.Options{Auth: bmcsim.Auth{Sessions: 1, Full: 400}}, ""},
		{"RAC0218", rule("POST", "*/Sessions", bmcsim.Effect{Status: 400, MessageID: "IDRAC.2.8.RAC0218", Message: "The maximum number of user sessions has been reached."}), bmc.Busy},
		{"a licence", rule("POST", "*/Sessions", bmcsim.Effect{Status: 403, Message: "A license is needed."}), bmc.Licence},
		{"must change", bmcsim.Options{Auth: bmcsim.Auth{MustChange: true}}, bmc.PasswordChange},
		{"lost", rule("POST", "*/Sessions", bmcsim.Effect{Drop: bmcsim.DropAfter}), bmc.Indeterminate},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, dell, c.o)
			if c.want == "" {
				r.open()
				c.want = bmc.Busy
			}
			_, err := r.tryOpen()
			wantKind(t, err, c.want)
			if n := r.count("POST", "Sessions"); n > 2 {
				t.Errorf("%d logins", n)
			}
		})
	}
}

// TestCloseAfterCancel: the logout has a deadline of its own.
func TestCloseAfterCancel(t *testing.T) {
	r := newRig(t, dell, bmcsim.Options{})
	s, err := r.tryOpen()
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, s.Close(ctx))
	if n := r.Stats().Sessions; n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

// TestCloseOfADeadBMC ends in 5 s.
func TestCloseOfADeadBMC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dell, rule("DELETE", "*", bmcsim.Effect{Delay: time.Hour}))
		s, err := r.tryOpen()
		must(t, err)
		began := time.Now()
		if err := s.Close(t.Context()); err == nil || time.Since(began) > 6*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// TestCloseAtTheGate: a logout waits for its turn at a BMC with an interval.
func TestCloseAtTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := rule("DELETE", "*", bmcsim.Effect{Delay: time.Second})
		r := newRig(t, dell, o)
		r.end.Options = []byte(`{"interval":"10s"}`)
		l, err := r.driver().LimitsOf(r.end.Options)
		must(t, err)
		gate := gateOf(l)
		r.gate = late{gate}
		s, err := r.tryOpen()
		must(t, err)
		must(t, s.Close(t.Context()))
		if n := r.Stats().Sessions; n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	})
}

// A late gate gives up when its caller does.
type late struct{ *turnstile }

func (g late) Enter(ctx context.Context) (func(), error) {
	leave, err := g.turnstile.Enter(ctx)
	if ctx.Err() != nil && err == nil {
		leave()
		return nil, ctx.Err()
	}
	return leave, err
}

// TestCloseAgain: a logout that was not answered is tried by the next Close.
func TestCloseAgain(t *testing.T) {
	o := rule("DELETE", "*", bmcsim.Effect{Status: 503})
	o.Rules[0].Nth = 1
	r := newRig(t, dell, o)
	s, err := r.tryOpen()
	must(t, err)
	wantKind(t, s.Close(t.Context()), bmc.Busy)
	p, _ := bmc.As[bmc.Power](s)
	_, err = p.ReadPower(t.Context())
	wantKind(t, err, bmc.Unreachable)
	must(t, s.Close(t.Context()))
	must(t, s.Close(t.Context()))
	if n := r.Stats().Sessions; n != 0 || r.count("DELETE", "") != 2 {
		t.Errorf("%d sessions, %d logouts", n, r.count("DELETE", ""))
	}
}

// TestWithoutSessions: a service that has none is spoken to by Basic.
func TestWithoutSessions(t *testing.T) {
	o := rule("GET", "/redfish/v1/", bmcsim.Effect{Set: map[string]any{"Links": map[string]any{"Sessions": nil}, "SessionService": nil}})
	r := newRig(t, dell, o)
	readPower(t, r.open())
	if n := r.Stats().Logins; n != 0 {
		t.Errorf("%d logins", n)
	}
}

// TestNobody: without credentials nothing is sent that looks like some.
func TestNobody(t *testing.T) {
	r := newRig(t, dell, bmcsim.Options{})
	_, err := r.driver().Open(t.Context(), r.end, bmc.Access{})
	wantKind(t, err, bmc.Auth)
	if n := r.count("POST", ""); n != 0 {
		t.Errorf("%d posts", n)
	}
}

func TestRotate(t *testing.T) {
	for _, scheme := range []string{"session", "basic"} {
		t.Run(scheme, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, dell, bmcsim.Options{Auth: bmcsim.Auth{Idle: time.Minute}})
				r.end.Options = []byte(`{"scheme":"` + scheme + `"}`)
				s := r.open()
				must(t, s.RotatePassword(t.Context(), bmc.Keep("the-next-one")))
				time.Sleep(time.Hour) // the token ends; the source still gives the old one
				readPower(t, s)
				r.vault.set("the-next-one", "2")
				readPower(t, r.open())
				if n := r.Stats().FailedLogins; n != 0 {
					t.Errorf("%d failed logins", n)
				}
			})
		})
	}
}

func TestRotateLosesItsAnswer(t *testing.T) {
	patch := func(drop string) bmcsim.Options {
		return rule("PATCH", "*/Accounts/*", bmcsim.Effect{Drop: drop})
	}
	r := newRig(t, dell, patch(bmcsim.DropAfter))
	must(t, r.open().RotatePassword(t.Context(), bmc.Keep("the-next-one"))) // the login tells
	r = newRig(t, dell, patch(bmcsim.DropBefore))
	err := r.open().RotatePassword(t.Context(), bmc.Keep("the-next-one"))
	wantKind(t, err, bmc.Indeterminate)
	if strings.Contains(fmt.Sprintf("%+v", err), "the-next-one") {
		t.Error(err)
	}
	if n := r.Stats().FailedLogins; n != 1 {
		t.Errorf("%d failed logins", n)
	}
}

// TestRotateInDoubt: the password was set, and the answer does not say so. The
// login tells.
func TestRotateInDoubt(t *testing.T) {
	large := map[string]any{"Oem": strings.Repeat("x", 600<<10)}
	for name, e := range map[string]bmcsim.Effect{
		"500": {Replies: 500}, "503": {Replies: 503}, "300": {Replies: 300},
		"too large":  {Replies: 200, Set: large},
		"cut off":    {Replies: 200, Body: bmcsim.SpoilTruncated},
		"with error": {Replies: 200, Set: map[string]any{"error": map[string]any{"code": "Base.1.0.ResourceInUse", "message": "in use"}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, dell, rule("PATCH", "*/Accounts/*", e))
			s := r.open()
			must(t, s.RotatePassword(t.Context(), bmc.Keep("the-next-one")))
			r.Reboot() // the token is gone; the source still gives the old password
			readPower(t, s)
			if n := r.Stats().FailedLogins; n != 0 {
				t.Errorf("%d failed logins", n)
			}
		})
	}
	for _, status := range []int{500, 503, 200} { // not set
		e := bmcsim.Effect{Status: status, Answer: `{"error":{"code":"Base.1.0.ResourceInUse","message":"no the-next-one"}}`}
		r := newRig(t, dell, rule("PATCH", "*/Accounts/*", e))
		s := r.open()
		err := s.RotatePassword(t.Context(), bmc.Keep("the-next-one"))
		wantKind(t, err, bmc.Indeterminate)
		if strings.Contains(fmt.Sprintf("%+v", err), "the-next-one") {
			t.Error(err)
		}
		readPower(t, s)
	}
}

func TestRotateIsRefused(t *testing.T) {
	o := rule("PATCH", "*/Accounts/*", bmcsim.Effect{Status: 400, MessageID: "Base.1.0.PropertyValueFormatError", Message: "The value the-next-one is too simple"})
	r := newRig(t, dell, o)
	s := r.open()
	err := s.RotatePassword(t.Context(), bmc.Keep("the-next-one"))
	if err == nil || strings.Contains(fmt.Sprintf("%+v", err), "the-next-one") {
		t.Error(err)
	}
	readPower(t, s)
	readPower(t, r.open()) // with the old one
}

// TestSecretsDoNotPrint: neither the password nor the token are in what a session
// prints, however it is printed.
func TestSecretsDoNotPrint(t *testing.T) {
	for _, scheme := range []string{"session", "basic"} {
		r := newRig(t, dell, bmcsim.Options{})
		r.end.Options = []byte(`{"scheme":"` + scheme + `"}`)
		s := r.open()
		for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
			out := fmt.Sprintf(format, s)
			basic := base64.StdEncoding.EncodeToString([]byte(bmcsim.DefaultUser + ":" + bmcsim.DefaultPassword))
			if strings.Contains(out, bmcsim.DefaultPassword) || strings.Contains(out, basic) || regexp.MustCompile(`[A-Z2-7]{26}`).MatchString(out) {
				t.Errorf("%s of a session by %s shows a secret: %s", format, scheme, out)
			}
		}
	}
}
