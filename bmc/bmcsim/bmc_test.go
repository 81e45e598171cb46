package bmcsim

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/ingotmetal/ingot/bmc/bmcsim/trees"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// parsed are the trees that some test has read: BMCs share what they do not change.
var parsed sync.Map

// load reads one of the recorded trees.
func load(t testing.TB, name string) *Tree {
	t.Helper()
	if known, ok := parsed.Load(name); ok {
		return known.(*Tree)
	}
	raw, err := trees.Read(name)
	must(t, err)
	tree, err := ParseTree(name, bytes.NewReader(raw))
	must(t, err)
	parsed.Store(name, tree)
	return tree
}

// simulated is a BMC with who asks it.
type simulated struct {
	*BMC
	t     testing.TB
	token string
}

func simulate(t testing.TB, tree string, o Options) *simulated {
	t.Helper()
	b, err := New(load(t, tree), o)
	must(t, err)
	t.Cleanup(func() { must(t, b.Close()) })
	return &simulated{b, t, ""}
}

// got is an answer as it came; status 0 is a connection that was dropped.
type got struct {
	*httptest.ResponseRecorder
	status int
	body   map[string]any
}

// with is a header for one request.
type with [2]string

// ask sends a request by Basic authentication, or with the token where there is one.
func (s *simulated) ask(method, path string, body any, headers ...with) (out got) {
	s.t.Helper()
	raw, err := json.Marshal(body)
	must(s.t, err)
	if body == nil {
		raw = nil
	}
	r := httptest.NewRequestWithContext(s.t.Context(), method, path, bytes.NewReader(raw))
	if s.token != "" {
		r.Header.Set("X-Auth-Token", s.token)
	} else {
		r.SetBasicAuth(s.o.Auth.User, string(s.o.Auth.Password))
	}
	for _, h := range headers {
		r.Header.Set(h[0], h[1])
		if h[1] == "" {
			r.Header.Del(h[0])
		}
	}
	out.ResponseRecorder = httptest.NewRecorder()
	func() {
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				panic(p)
			} else if p != nil {
				out.Code = 0
			}
		}()
		s.ServeHTTP(out.ResponseRecorder, r)
	}()
	out.status = out.Code
	if strings.HasPrefix(out.Header().Get("Content-Type"), "application/json") {
		out.body, _ = object(out.Body.Bytes())
	}
	return out
}

// want asks and demands a status.
func (s *simulated) want(status int, method, path string, body any, headers ...with) got {
	s.t.Helper()
	out := s.ask(method, path, body, headers...)
	if out.status != status {
		s.t.Errorf("%s %s: %d, want %d: %s", method, path, out.status, status, out.Body)
	}
	return out
}

// at is a value in an answer: at("Boot", "BootOrder").
func (g got) at(names ...string) any {
	last := len(names) - 1
	return dig(g.body, names[:last]...)[names[last]]
}

// says is the MessageId of an error, without its registry.
func (g got) says() string {
	list, _ := dig(g.body, "error")["@Message.ExtendedInfo"].([]any)
	if len(list) == 0 {
		return ""
	}
	first, _ := list[0].(map[string]any)
	id := text(first, "MessageId")
	return id[strings.LastIndex(id, ".")+1:]
}

const (
	r750   = "dell-r750-idrac9-6.00"
	dell   = "/redfish/v1/Systems/System.Embedded.1"
	reset  = "/Actions/ComputerSystem.Reset"
	insert = "/Actions/VirtualMedia.InsertMedia"
	eject  = "/Actions/VirtualMedia.EjectMedia"
)

func (s *simulated) power(system string) string {
	s.t.Helper()
	v, _ := s.want(200, "GET", system, nil).at("PowerState").(string)
	return v
}

func (s *simulated) reset(status int, system, kind string) got {
	s.t.Helper()
	return s.want(status, "POST", system+reset, map[string]any{"ResetType": kind})
}

// Every tree is served whole: each resource as it was recorded, at each spelling of its path.
func TestEveryTreeIsServed(t *testing.T) {
	for _, name := range trees.Names() {
		t.Run(name, func(t *testing.T) {
			s := simulate(t, name, Options{})
			for _, n := range s.tree.nodes {
				if strings.HasPrefix(n.path, s.where.sessions) || strings.HasPrefix(n.path, s.where.accounts) {
					continue
				}
				for _, path := range []string{n.path, strings.ToUpper(n.path), n.path + "/"} {
					if strings.Contains(n.path, "?") && path != n.path {
						continue
					}
					g := s.want(200, "GET", path, nil)
					if g.Header().Get("OData-Version") != "4.0" || !strings.HasPrefix(g.Header().Get("Allow"), "GET, HEAD") {
						t.Errorf("%s: %v", path, g.Header())
					}
					want := overlaid(n.body, nil)
					if _, ok := want["@odata.etag"]; ok {
						want["@odata.etag"] = g.body["@odata.etag"]
					}
					if a, b := (answer{body: g.body}).bytes(), (answer{body: want}).bytes(); string(a) != string(b) {
						t.Fatalf("%s: %.300s\nwant %.300s", path, a, b)
					}
				}
			}
			if g := s.want(404, "GET", "/redfish/v1/Nowhere", nil); g.says() != "ResourceMissingAtURI" {
				t.Errorf("%s", g.Body)
			}
		})
	}
}

// A machine is turned off and on, and each is told in its log.
func TestPower(t *testing.T) {
	s := simulate(t, r750, Options{})
	s.reset(204, dell, "ForceOff")
	if p := s.power(dell); p != "Off" {
		t.Error(p)
	}
	if g := s.want(200, "GET", "/redfish/v1/Chassis/System.Embedded.1", nil); g.at("PowerState") != "Off" {
		t.Errorf("%v", g.at("PowerState"))
	}
	s.reset(204, dell, "On")
	if p := s.power(dell); p != "On" {
		t.Error(p)
	}
	g := s.want(200, "GET", s.EventLog(dell), nil)
	if raw := g.Body.String(); !strings.Contains(raw, "ResourcePoweredOff") || !strings.Contains(raw, "ResourcePoweredOn") {
		t.Error(raw)
	}
	if n := s.Stats().Resets["ForceOff"]; n != 1 {
		t.Errorf("%d", n)
	}
}
