package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/identity/keys"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

// who is a caller of the matrix. Its secret is "" for none.
type who struct {
	name   string
	base   string
	secret string
}

// secretOf is what a client shows: it is asked by a request to nowhere.
func secretOf(c *api.Client) string {
	var got string
	copied := *c
	copied.HTTP = &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
		got = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		return nil, io.EOF
	})}
	_, _ = copied.Do(context.Background(), api.SessionShow, &api.Empty{})
	return got
}

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// foreigner makes an operator and a key of another tenant.
func (s *site) foreigner() (session, full *api.Client) {
	s.t.Helper()
	hash, err := s.hasher.Hash(s.t.Context(), "eve", operators.NewPassword(password))
	must(s.t, err)
	a, err := operators.NewAccount("eve", "other", hash, s.now())
	must(s.t, err)
	s.write("operator/eve", a)
	secret, err := control.Draw{Entropy: s.entropy}.Secret(keys.APIKey)
	must(s.t, err)
	k, err := operators.MintKey(secret, operators.KeyRequest{Scope: keys.Full, Tenant: "other"}, "eve", s.now())
	must(s.t, err)
	s.write("apikey/"+k.Key.ID, k)
	return s.signIn("eve", password), s.as(api.Secret(secret.Show()))
}

// opened is an operator's session that was opened with a key of a scope. No
// operation opens one by now.
func (s *site) opened(scope keys.Scope) *api.Client {
	s.t.Helper()
	c := s.signIn("ada", password)
	id := ask(s, api.SessionShow, c, &api.Empty{}).Session.ID
	_, err := s.door.Record(s.t.Context(), control.Call{Actor: "test"}, func(tx store.Tx, _ time.Time) ([]journal.Fact, error) {
		raw, _ := tx.Get("session/" + id)
		row, err := operators.DecodeSession(raw)
		if err != nil {
			return nil, err
		}
		row.OpenedWith = scope
		return []journal.Fact{{Type: "test.wrote", Subject: "site"}}, putRow(tx, "session/"+id, row)
	})
	must(s.t, err)
	return c
}

// callers are all kinds of callers, of a site with two installed machines.
func (s *site) callers(own, other *api.Client) []who {
	session, foreign := s.foreigner()
	revoked := s.mint("full")
	ask(s, api.KeyRevoke, s.ada, &api.RevokeKey{KeyRef: api.KeyRef{Key: ask(s, api.SessionShow, revoked, &api.Empty{}).Key.ID}})
	all := []who{{"anonymous", s.url, ""}, {"host", s.host.Base, ""}, {"operator", s.url, secretOf(s.ada)}}
	for _, scope := range []string{"full", "read_only", "audit_only", "booter", "ur_enroll"} {
		all = append(all, who{scope, s.url, secretOf(s.mint(scope))})
	}
	return append(all, who{"own agent", s.url, secretOf(own)}, who{"other agent", s.url, secretOf(other)},
		who{"session of full", s.url, secretOf(s.opened(keys.Full))}, who{"session of read_only", s.url, secretOf(s.opened(keys.ReadOnly))},
		who{"foreign session", s.url, secretOf(session)}, who{"foreign full", s.url, secretOf(foreign)}, who{"revoked full", s.url, secretOf(revoked)})
}

// garbage calls an operation with nothing right in it but the path and the caller.
func (s *site) garbage(d api.Def, w who, vars map[string]string) (int, string) {
	s.t.Helper()
	return s.post(d, w, vars, "?no_such_parameter=%zz", `{"no_such_field": [`)
}

// post calls an operation with what the typed client would not send.
func (s *site) post(d api.Def, w who, vars map[string]string, query, body string) (int, string) {
	s.t.Helper()
	path := d.Path
	for name, val := range vars {
		path = strings.ReplaceAll(path, "{"+name+"}", val)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), d.Method, w.base+path+query, strings.NewReader(body))
	must(s.t, err)
	req.Header.Set("Content-Type", "application/json")
	if w.secret != "" {
		req.Header.Set("Authorization", "Bearer "+w.secret)
	}
	res, err := http.DefaultClient.Do(req)
	must(s.t, err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	must(s.t, err)
	return res.StatusCode, string(answer)
}

// ID-5, SET-2, SET-16, REG-15, API-1: who reaches what, as the running handler
// says. A caller who is let in meets 400, since nothing else is right in the call;
// everybody else is turned away before anybody looked at that, or at what is there.
func TestAuthorizationMatrix(t *testing.T) {
	s := newSite(t)
	s.policy()
	m1, m2 := s.machine(1), s.machine(2)
	own, other := m1.installed(), m2.installed()
	key := ask(s, api.SessionShow, s.mint("full"), &api.Empty{}).Key.ID
	there := map[string]string{"server_id": m1.uuid, "mac": m1.mac, "node_id": m1.row().Node, "key_id": key, "operator": "ada"}
	nowhere := map[string]string{"server_id": uuidOf(99), "mac": macOf(99), "node_id": "node_00000000000000000000000099", "key_id": "key_none", "operator": "nobody"}
	_, poll := s.machine(3).registers()
	var b strings.Builder
	for _, w := range append(s.callers(own, other), who{"poll token", s.url, secretOf(poll)}) {
		fmt.Fprintf(&b, "%s\n", w.name)
		before := s.rows()
		for _, a := range api.All() {
			d := a.Info()
			status, body := s.garbage(d, w, there)
			if status == http.StatusBadRequest {
				fmt.Fprintf(&b, "  may  %s\n", d.Name)
			} else if absent, same := s.garbage(d, w, nowhere); absent != status || same != body {
				t.Errorf("%s tells %s what is there: %d %s, else %d %s", d.Name, w.name, status, body, absent, same)
			}
			if status != http.StatusBadRequest && status != http.StatusUnauthorized && status != http.StatusForbidden && status != http.StatusNotFound {
				t.Errorf("%s for %s: %d %s", d.Name, w.name, status, body)
			}
			if lets := w.name == "operator" || strings.HasPrefix(w.name, "foreign"); d.Action == keys.CnSetupApprove && !lets && status != http.StatusForbidden && status != http.StatusUnauthorized {
				t.Errorf("SET-2: %s meets %d at %s", w.name, status, d.Name)
			}
			if status == http.StatusNotFound {
				fmt.Fprintf(&b, "  404  %s\n", d.Name)
			}
		}
		if all := harm(before, s.rows()); len(all) > 0 {
			t.Errorf("%s changed %v", w.name, all)
		}
	}
	statemachinetest.Golden(t, "testdata/matrix.txt", b.String())
}

// API-1, API-2, BOOT-18: to another tenant what is the site's is not there.
func TestOtherTenantsSeeNothing(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	m.installed()
	s.machine(2).sighted()
	id := m.row().Node
	eve, full := s.foreigner()
	for _, c := range []*api.Client{eve, full} {
		s.check(len(ask(s, api.NodeListing, c, &api.NodeList{}).Nodes) == 0, "nodes")
		s.check(len(ask(s, api.RegistrationListing, c, &api.RegistrationList{}).Registrations) == 0, "rows")
		s.check(len(ask(s, api.BootListing, c, &api.BootList{}).Boots) == 0, "boots")
		page := ask(s, api.EventListing, c, &api.EventList{})
		s.check(len(page.Events) == 0 && page.Cursor == "" && !page.More, "events", page)
		for _, k := range ask(s, api.KeyListing, c, &api.KeyList{}).Keys {
			s.check(k.Tenant == "other", "keys", k)
		}
		for _, o := range ask(s, api.OperatorListing, c, &api.OperatorList{}).Operators {
			s.check(o.Name == "eve", "operators", o)
		}
		for _, x := range ask(s, api.SessionListing, c, &api.SessionList{}).Sessions {
			s.check(x.Operator == "eve", "sessions", x)
		}
		ref := m.ref()
		refuses(s, "NOT_FOUND", api.RegistrationShow, c, &ref)
		refuses(s, "NOT_FOUND", api.NodeShow, c, &api.NodeRef{Node: id})
		refuses(s, "NOT_FOUND", api.NodeCordon, c, &api.NodeChange{NodeRef: api.NodeRef{Node: id}})
		refuses(s, "NOT_FOUND", api.BootDiscovered, c, &api.DiscoveredList{})
		refuses(s, "NOT_FOUND", api.OperatorShow, c, &api.OperatorRef{Operator: "ada"})
		mint := &api.MintKey{}
		mint.Body.Scope, mint.Body.Tenant = "full", "default"
		refuses(s, "ACCESS_DENIED", api.KeyMint, c, mint)
		mint.Body.Tenant = ""
		s.check(ask(s, api.KeyMint, c, mint).Key.Tenant == "other", "its own key")
	}
	mine := ask(s, api.SessionShow, s.mint("full"), &api.Empty{}).Key.ID
	refuses(s, "NOT_FOUND", api.KeyRevoke, full, &api.RevokeKey{KeyRef: api.KeyRef{Key: mine}})
	for _, err := range api.Follow(t.Context(), eve, &api.EventStream{}) {
		s.check(codeOf(err) == "NOT_FOUND", "the stream", err)
	}
}
