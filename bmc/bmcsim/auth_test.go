package bmcsim

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// login opens a session and uses it from then on.
func (s *simulated) open() got {
	s.t.Helper()
	g := s.want(201, "POST", s.where.sessions, s.who(), with{"Authorization", ""})
	s.token = g.Header().Get("X-Auth-Token")
	return g
}

// A session lives while it is used, and is gone when it is ended, idle or the BMC restarts.
func TestSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := simulate(t, r750, Options{Auth: Auth{Idle: time.Minute}})
		s.want(200, "GET", root, nil, with{"Authorization", ""})
		if g := s.want(401, "GET", dell, nil, with{"Authorization", ""}); g.Header().Get("WWW-Authenticate") == "" {
			t.Error("Basic is not offered")
		}
		at := s.open().Header().Get("Location")
		for range 3 {
			time.Sleep(59 * time.Second)
			s.want(200, "GET", dell, nil)
		}
		if g := s.want(200, "GET", s.where.sessions, nil); len(linksOf(g.at("Members"))) != 1 {
			t.Errorf("%s", g.Body)
		}
		if g := s.want(200, "GET", at, nil); g.at("UserName") != DefaultUser || g.at("Password") != nil {
			t.Errorf("%s", g.Body)
		}
		s.want(204, "DELETE", at, nil)
		s.want(401, "GET", dell, nil)
		s.open()
		time.Sleep(time.Minute)
		s.want(401, "GET", dell, nil)
		s.open()
		s.Reboot()
		s.want(401, "GET", dell, nil)
		if st := s.Stats(); st.Logins != 3 || st.Sessions != 0 || st.MostSessions != 1 || st.FailedLogins != 0 {
			t.Errorf("%+v", st)
		}
		if n := len(s.nodes); n > 4 {
			t.Errorf("%d resources are left of sessions", n)
		}
	})
}

func TestLoginRefuses(t *testing.T) {
	s := simulate(t, r750, Options{Auth: Auth{Sessions: 1, Full: 400, NoBasic: true}})
	s.want(400, "POST", s.where.sessions, map[string]any{"UserName": "root"})
	s.want(400, "POST", s.where.sessions, map[string]any{"Password": "x"})
	s.want(401, "POST", s.where.sessions, map[string]any{"UserName": "root", "Password": "x"})
	s.want(401, "GET", dell, nil) // by Basic
	s.open()
	if g := s.want(400, "POST", s.where.sessions, s.who()); g.says() != "CreateLimitReachedForResource" {
		t.Errorf("%s", g.Body)
	}
	s = simulate(t, r750, Options{Auth: Auth{NoToken: true}})
	if g := s.want(201, "POST", s.where.sessions, s.who()); g.Header().Get("X-Auth-Token") != "" {
		t.Error("there is a token")
	}
}

// The tree's lockout holds where options say nothing, for the right password too.
func TestLockoutOfTheTree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const smc = "/redfish/v1/Systems/1"
		s := simulate(t, "supermicro-821ge-11.01", Options{})
		right := s.o.Auth.Password
		for range 2 { // a success in between forgives
			s.o.Auth.Password = "wrong"
			s.want(401, "GET", smc, nil)
			s.want(401, "GET", smc, nil)
			s.o.Auth.Password = right
			s.want(200, "GET", smc, nil)
		}
		s.o.Auth.Password = "wrong"
		for range 3 {
			s.want(401, "POST", s.where.sessions, s.who())
		}
		s.o.Auth.Password = right
		s.want(401, "POST", s.where.sessions, s.who())
		time.Sleep(30 * time.Second)
		s.want(201, "POST", s.where.sessions, s.who())
		if n := s.Stats().FailedLogins; n != 7 {
			t.Errorf("%d failures", n)
		}
	})
}

// A password is changed before anything else, where the BMC demands it, and the old one is
// none then.
func TestPasswordIsChanged(t *testing.T) {
	for _, tree := range []string{r750, "openbmc-stock-2.15-off", "hpe-cray-ex420-2node"} {
		s := simulate(t, tree, Options{Auth: Auth{User: "ada", MustChange: true}})
		first := s.tree.Systems()[0]
		if g := s.want(403, "GET", first, nil); g.says() != "PasswordChangeRequired" || !strings.Contains(g.Body.String(), s.where.account) {
			t.Errorf("%s", g.Body)
		}
		if g := s.open(); !strings.Contains(g.Body.String(), "PasswordChangeRequired") {
			t.Errorf("%s", g.Body)
		}
		most := map[string]int{r750: 40, "openbmc-stock-2.15-off": 20, "hpe-cray-ex420-2node": 12}[tree]
		s.want(400, "PATCH", s.where.account, map[string]any{"Password": strings.Repeat("n", most+1)})
		s.want(400, "PATCH", s.where.account, map[string]any{"Password": 7})
		s.want(400, "PATCH", s.where.account, map[string]any{"UserName": "eve"})
		s.want(403, "GET", first, nil)
		s.want(204, "PATCH", s.where.account, map[string]any{"Password": strings.Repeat("n", most)})
		s.want(200, "GET", first, nil)
		s.token = ""
		s.want(401, "GET", first, nil)
		s.o.Auth.Password = Password(strings.Repeat("n", most))
		s.want(200, "GET", first, nil)
		if g := s.want(200, "GET", s.where.account, nil); g.at("UserName") != "ada" || g.at("Password") != nil {
			t.Errorf("%s", g.Body)
		}
		found := false
		for _, m := range linksOf(s.want(200, "GET", s.where.accounts, nil).at("Members")) {
			found = found || m == s.where.account
		}
		if !found {
			t.Error("the account is no member")
		}
	}
}

// An account that the tree has is used as it is.
func TestAccountOfTheTree(t *testing.T) {
	s := simulate(t, r750, Options{})
	if s.where.account != "/redfish/v1/AccountService/Accounts/2" {
		t.Error(s.where.account)
	}
}

// What is remembered of requests has no credentials, whatever they hold.
func TestNothingShowsCredentials(t *testing.T) {
	const secret = "hunter2-of-the-bmc"
	s := simulate(t, r750, Options{Auth: Auth{Password: secret}, Media: Media{}})
	token := s.open().Header().Get("X-Auth-Token")
	s.want(204, "PATCH", s.where.account, map[string]any{"Password": secret})
	s.want(204, "POST", cd+insert, map[string]any{"Image": "http://u:" + secret + "@images.test/a.iso", "UserName": "u", "Password": secret})
	s.want(200, "GET", dell+"?password="+secret, nil)
	s.token = ""
	s.want(200, "GET", dell, nil)
	for _, text := range []string{
		fmt.Sprintf("%+v %#v", s.Log(), s.Stats()), fmt.Sprintf("%v %+v %#v", s.o.Auth, s.o.Auth, s.o.Auth), string(answer{body: map[string]any{"auth": s.o.Auth}}.bytes()),
		s.want(200, "GET", cd, nil).Body.String(), s.want(200, "GET", s.where.account, nil).Body.String(), s.want(200, "GET", s.where.sessions, nil).Body.String(),
	} {
		if strings.Contains(text, secret) || strings.Contains(text, token) {
			t.Errorf("%.400s", text)
		}
	}
	for _, n := range s.nodes {
		if raw := string((answer{body: n.body}).bytes()); strings.Contains(raw, secret) {
			t.Errorf("%s", n.path)
		}
	}
}

// A change of the account that is refused changes nothing.
func TestRefusedAccountKeepsItsPassword(t *testing.T) {
	for range 16 { // members come in any order
		s := simulate(t, r750, Options{})
		s.want(400, "PATCH", s.where.account, map[string]any{"Password": "another-one", "RoleId": "Operator", "Enabled": false, "Id": "x"})
		s.want(200, "GET", dell, nil)
		if s.auth.password != DefaultPassword {
			t.Fatal("the password has changed")
		}
	}
}
