package server_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/cmd/internal/server"
)

// ID-8: a session has an end, ends with a sign-out, a change of the password, a
// disabled and a removed account, and goes to no account of the same name.
func TestHowSessionsEnd(t *testing.T) {
	ref := api.OperatorChange{OperatorRef: api.OperatorRef{Operator: "bob"}}
	word := &api.SetOperatorPassword{OperatorChange: ref}
	word.Body.Password = "another long password"
	for name, end := range map[string]func(s *site, bob *api.Client){
		"its time": func(s *site, _ *api.Client) { s.pass(8 * time.Hour) },
		"sign-out": func(s *site, bob *api.Client) { ask(s, api.SessionClose, bob, &api.CloseSession{}) },
		"password": func(s *site, _ *api.Client) { ask(s, api.OperatorPassword, s.host, word) },
		"disabled": func(s *site, _ *api.Client) { ask(s, api.OperatorDisable, s.host, &ref) },
		"removed":  func(s *site, _ *api.Client) { ask(s, api.OperatorRemove, s.host, &ref) },
		"namesake": func(s *site, _ *api.Client) { ask(s, api.OperatorRemove, s.host, &ref); s.add("bob") },
		"no factor": func(s *site, _ *api.Client) {
			in := &api.EnrolTOTP{OperatorChange: ref}
			in.Body.Drop = true
			ask(s, api.OperatorTOTP, s.host, in)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.add("bob")
			bob := s.signIn("bob", password)
			waits := make(chan error, 1)
			go func() {
				for _, err := range api.Follow(t.Context(), bob, &api.EventStream{EventFilter: api.EventFilter{Type: "no."}}) {
					waits <- err
				}
			}()
			ask(s, api.SessionShow, bob, &api.Empty{})
			end(s, bob)
			refuses(s, "UNAUTHENTICATED", api.SessionShow, bob, &api.Empty{})
			s.write("test/x", 1) // so that the stream looks up
			select {
			case <-waits:
			case <-time.After(10 * time.Second):
				t.Error("a stream of the session goes on")
			}
		})
	}
}

// A session that is configured to end by idleness does so, and not while it is used.
func TestIdleSession(t *testing.T) {
	s := siteWith(t, func(c *server.Config) { c.Lasting.Idle = 10 * time.Minute })
	for range 6 {
		s.pass(9 * time.Minute)
		ask(s, api.SessionShow, s.ada, &api.Empty{})
	}
	s.pass(10*time.Minute + time.Second)
	refuses(s, "UNAUTHENTICATED", api.SessionShow, s.ada, &api.Empty{})
}

// Sessions that are over leave the store, by and by.
func TestOldSessionsAreForgotten(t *testing.T) {
	s := newSite(t)
	for range 40 {
		s.signIn("ada", password)
	}
	s.pass(9 * time.Hour)
	for range 20 {
		s.signIn("ada", password)
	}
	n := 0
	for key := range s.rows() {
		if strings.HasPrefix(key, "session/") {
			n++
		}
	}
	s.check(n <= 30, "sessions that are kept", n)
}

// codeAt is the code of an otpauth URI's seed (RFC 6238).
func codeAt(t *testing.T, uri string, at time.Time) api.Secret {
	t.Helper()
	u, err := url.Parse(uri)
	must(t, err)
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(u.Query().Get("secret"))
	must(t, err)
	mac := hmac.New(sha1.New, key)
	_ = binary.Write(mac, binary.BigEndian, uint64(at.Unix()/30))
	sum := mac.Sum(nil)
	cut := binary.BigEndian.Uint32(sum[sum[19]&15:]) & 0x7fffffff
	return api.Secret(fmt.Sprintf("%06d", cut%1_000_000))
}

// A second factor: begun, confirmed by its first code, asked for from then on, each
// code once, also of two at once.
func TestSecondFactor(t *testing.T) {
	s := newSite(t)
	s.add("bob")
	in := &api.EnrolTOTP{OperatorChange: api.OperatorChange{OperatorRef: api.OperatorRef{Operator: "bob"}}}
	uri := ask(s, api.OperatorTOTP, s.host, in).URI.Show()
	s.check(!ask(s, api.SessionShow, s.signIn("bob", password), &api.Empty{}).Session.MFA, "until it is confirmed nothing changes")
	in.Body.Code = "000000"
	refuses(s, "UNAUTHENTICATED", api.OperatorTOTP, s.host, in)
	in.Body.Code = codeAt(t, uri, s.now())
	s.check(ask(s, api.OperatorTOTP, s.host, in).Operator.TOTP, "confirmed")
	refuses(s, "CONFLICT", api.OperatorTOTP, s.host, in)

	try := api.OpenSession{}
	try.Body.Operator, try.Body.Password = "bob", password
	refuses(s, "UNAUTHENTICATED", api.SessionOpen, s.as(""), &try)
	try.Body.Code = codeAt(t, uri, s.now()) // that confirmed it
	refuses(s, "UNAUTHENTICATED", api.SessionOpen, s.as(""), &try)
	s.pass(time.Minute)
	try.Body.Code = codeAt(t, uri, s.now())
	var won atomic.Int64
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			out, err := api.SessionOpen.Call(t.Context(), s.as(""), &try)
			if err == nil && out.Session.MFA {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	s.check(won.Load() == 1, "sessions of one code", won.Load())
	in.Body.Code, in.Body.Drop = "", true
	ask(s, api.OperatorTOTP, s.host, in)
	s.signIn("bob", password)
}

// Sign-ins are limited, the same whether there is such an account, also at once; what
// succeeds is not counted; and nobody on the host is locked out.
func TestSignInsAreLimited(t *testing.T) {
	s := siteWith(t, func(c *server.Config) {
		c.SignIns = operators.Limits{Account: operators.Rate{Burst: 5, Per: time.Hour}}
		c.Source = func(context.Context) netip.Addr { return netip.MustParseAddr("192.0.2.7") }
	})
	for range 12 {
		s.signIn("ada", password)
	}
	for _, name := range []string{"ada", "nobody"} {
		var heard, limited atomic.Int64
		var bodies sync.Map
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				in := api.OpenSession{}
				in.Body.Operator, in.Body.Password = name, "a wrong password"
				_, err := api.SessionOpen.Call(t.Context(), s.as(""), &in)
				switch codeOf(err) {
				case "UNAUTHENTICATED":
					heard.Add(1)
					bodies.Store(err.Error(), true)
				case "RATE_LIMITED":
					limited.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		s.check(heard.Load() == 5 && limited.Load() == 15, name, heard.Load(), limited.Load())
		bodies.Range(func(k, _ any) bool { s.check(!strings.Contains(fmt.Sprint(k), name), "an oracle", k); return true })
	}
	in := api.OpenSession{}
	in.Body.Operator, in.Body.Password = "ada", password
	refuses(s, "RATE_LIMITED", api.SessionOpen, s.as(""), &in)
	ask(s, api.SessionOpen, &api.Client{Base: s.host.Base}, &in)
	s.pass(time.Hour)
	s.signIn("ada", password)
}

// A password is hashed anew at its owner's sign-in, where the cost has been changed;
// the session stays good and the password the same.
func TestPasswordIsHashedAnew(t *testing.T) {
	s := newSite(t)
	before := s.rows()["operator/ada"]
	dear, err := operators.NewHasher(operators.Hashing{Cost: operators.Cost{Time: 2, Memory: 64, Threads: 1}}, s.entropy)
	must(t, err)
	s.listen(s.config(func(c *server.Config) { c.Hasher = dear }))
	ask(s, api.SessionShow, s.signIn("ada", password), &api.Empty{})
	after := s.rows()["operator/ada"]
	s.check(before != after && strings.Contains(after, "t=2"), "the account", after)
	s.signIn("ada", password)
	s.check(s.rows()["operator/ada"] == after, "and no more")
}

// One operator closes no session of another, and a key has none.
func TestClosingOthersSessions(t *testing.T) {
	s := newSite(t)
	s.add("bob")
	bob := s.signIn("bob", password)
	id := ask(s, api.SessionShow, bob, &api.Empty{}).Session.ID
	refuses(s, "NOT_FOUND", api.SessionClose, s.ada, &api.CloseSession{Session: id})
	refuses(s, "NOT_FOUND", api.SessionClose, s.mint("full"), &api.CloseSession{Session: id})
	other := s.signIn("bob", password)
	s.check(ask(s, api.SessionClose, other, &api.CloseSession{Session: id}).Closed, "its owner does")
	s.check(!ask(s, api.SessionClose, other, &api.CloseSession{Session: id}).Closed, "once")
	refuses(s, "UNAUTHENTICATED", api.SessionShow, bob, &api.Empty{})
}

// A revoked key is dead at the next call and in what waits; a mint gives no agent key.
func TestRevokedKeys(t *testing.T) {
	s := newSite(t)
	s.policy()
	b := s.mint("booter")
	snap := ask(s, api.BooterSnapshot, b, &api.Empty{})
	ended := make(chan error, 1)
	go func() {
		_, err := api.BooterChanges.Call(t.Context(), b, &api.BootChanges{Incarnation: snap.Incarnation, Revision: snap.Revision, LongPoll: api.LongPoll{Wait: api.Duration{Duration: 50 * time.Second}}})
		ended <- err
	}()
	id := ask(s, api.SessionShow, b, &api.Empty{}).Key.ID
	time.Sleep(20 * time.Millisecond) // so that it waits
	ask(s, api.KeyRevoke, s.ada, &api.RevokeKey{KeyRef: api.KeyRef{Key: id}})
	refuses(s, "UNAUTHENTICATED", api.BooterSnapshot, b, &api.Empty{})
	select {
	case err := <-ended:
		s.check(codeOf(err) == "UNAUTHENTICATED", "the poll", err)
	case <-time.After(10 * time.Second):
		t.Error("a poll of the dead key waits on")
	}
	s.check(len(ask(s, api.KeyListing, s.ada, &api.KeyList{}).Keys) == 1 && len(ask(s, api.KeyListing, s.ada, &api.KeyList{Revoked: true}).Keys) == 2, "the lists")
	in := &api.MintKey{}
	in.Body.Scope = "agent"
	refuses(s, "INVALID_INPUT", api.KeyMint, s.ada, in)
}
