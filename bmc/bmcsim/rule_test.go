package bmcsim

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Which of the requests that match a rule are spoiled.
func TestRulesChoose(t *testing.T) {
	for _, c := range []struct {
		rule Rule
		want string // of eight requests
	}{
		{Rule{}, "xxxxxxxx"}, {Rule{Nth: 3}, "..x....."}, {Rule{Every: 3}, "..x..x.."}, {Rule{After: 5}, ".....xxx"}, {Rule{Times: 2}, "xx......"},
		{Rule{Every: 2, After: 3, Times: 2}, "...x.x.."}, {Rule{Method: "POST"}, "........"}, {Rule{Path: "/redfish/v1/Systems"}, "........"},
		{Rule{Path: "/REDFISH/*"}, "xxxxxxxx"}, {Rule{Method: "GET", Path: "*1"}, "xxxxxxxx"}, {Rule{Path: "*/v*"}, "xxxxxxxx"}, {Rule{Path: "*x*"}, "........"},
	} {
		c.rule.Effect.Status = 503
		s := simulate(t, "openbmc-stock-2.15-off", Options{Rules: []Rule{c.rule}})
		got := ""
		for range 8 {
			got += map[int]string{200: ".", 503: "x"}[s.ask("GET", root, nil).status]
		}
		if got != c.want {
			t.Errorf("%+v: %s, want %s", c.rule, got, c.want)
		}
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"*", "", true}, {"*", "a/b", true}, {"a*", "ab/c", true}, {"a*", "ba", false}, {"*b", "ab", true}, {"a*b*c", "a1b2c", true},
		{"a*b*c", "a1c2b", false}, {"ab*b", "ab", false}, {"a**b", "ab", true},
	} {
		if glob(c.pattern, c.s) != c.want {
			t.Errorf("%q with %q is not %t", c.s, c.pattern, c.want)
		}
	}
}

// spoiled asks a BMC with one rule on a real socket.
func spoiled(t *testing.T, ctx context.Context, method, path, body string, rules ...Rule) (*BMC, *http.Response, []byte, error) {
	t.Helper()
	f := NewFleet(rand.Reader, nil)
	b, err := f.Add(Spec{Name: "b", Tree: load(t, r750), Options: Options{Rules: rules}})
	must(t, err)
	ln := listen(t)
	serving(t, f, func() error { return f.ServeOne(ln, "b") })
	req, err := http.NewRequestWithContext(ctx, method, "http://"+ln.Addr().String()+path, strings.NewReader(body))
	must(t, err)
	req.SetBasicAuth(b.o.Auth.User, string(b.o.Auth.Password))
	tr := &http.Transport{DisableKeepAlives: true}
	c := &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Do(req)
	if err != nil {
		return b, nil, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return b, resp, raw, err
}

// What each effect does to a GET of the systems, as a client on a socket sees it.
func TestEffects(t *testing.T) {
	const systems = "/redfish/v1/Systems"
	for name, c := range map[string]struct {
		e    Effect
		want func(resp *http.Response, raw []byte, err error) bool
	}{
		"drop": {Effect{Drop: DropBefore}, func(_ *http.Response, _ []byte, err error) bool { return errors.Is(err, io.EOF) }},
		"status": {Effect{Status: 500, MessageID: "Odd.1.0.Thing", Message: "odd"}, func(r *http.Response, raw []byte, _ error) bool {
			return r.StatusCode == 500 && bytes.Contains(raw, []byte("Odd.1.0.Thing"))
		}},
		"own body": {Effect{Status: 502, Answer: "<html>"}, func(r *http.Response, raw []byte, _ error) bool {
			return r.StatusCode == 502 && string(raw) == "<html>"
		}},
		"retry": {Effect{Status: 503, RetryAfter: 90 * time.Second}, func(r *http.Response, _ []byte, _ error) bool { return r.Header.Get("Retry-After") == "90" }},
		"retry at": {Effect{Status: 503, RetryAfter: 90 * time.Second, RetryDate: true}, func(r *http.Response, _ []byte, _ error) bool {
			at, err := http.ParseTime(r.Header.Get("Retry-After"))
			return err == nil && time.Until(at) > 60*time.Second
		}},
		"redirect": {Effect{Redirect: "{path}/", Status: 301}, func(r *http.Response, _ []byte, _ error) bool {
			return r.StatusCode == 301 && r.Header.Get("Location") == systems+"/"
		}},
		"redirect away": {Effect{Redirect: "https://evil.test{path}"}, func(r *http.Response, _ []byte, _ error) bool {
			return r.StatusCode == 307 && r.Header.Get("Location") == "https://evil.test"+systems
		}},
		"truncated": {Effect{Body: SpoilTruncated}, func(r *http.Response, raw []byte, err error) bool {
			return r.StatusCode == 200 && errors.Is(err, io.ErrUnexpectedEOF) && len(raw) > 0
		}},
		"endless": {Effect{Body: SpoilEndless}, func(r *http.Response, raw []byte, err error) bool {
			return err == nil && len(raw) == 1<<20 && r.ContentLength < 0
		}},
		"drip":    {Effect{Body: SpoilDrip, Every: time.Microsecond}, func(_ *http.Response, raw []byte, err error) bool { return err == nil && json.Valid(raw) }},
		"garbage": {Effect{Body: SpoilGarbage}, func(r *http.Response, raw []byte, _ error) bool { return r.StatusCode == 200 && !json.Valid(raw) }},
		"types": {Effect{Body: SpoilTypes}, func(_ *http.Response, raw []byte, _ error) bool {
			return bytes.Contains(raw, []byte(`"Members":"list"`)) && bytes.Contains(raw, []byte(`"Name":17`))
		}},
		"link": {Effect{Links: "@evil:1{path}"}, func(_ *http.Response, raw []byte, _ error) bool {
			return bytes.Contains(raw, []byte(`"@evil:1`+dell+`"`))
		}},
		"next page": {Effect{NextLink: "{path}"}, func(_ *http.Response, raw []byte, _ error) bool {
			return bytes.Contains(raw, []byte(`"Members@odata.nextLink":"`+systems+`"`))
		}},
		"set": {Effect{Set: map[string]any{"Oem": map[string]any{"a": 1}}}, func(_ *http.Response, raw []byte, _ error) bool { return bytes.Contains(raw, []byte(`"Oem":{"a":1}`)) }},
		"late": {Effect{Delay: time.Millisecond}, func(r *http.Response, raw []byte, err error) bool {
			return err == nil && r.StatusCode == 200 && json.Valid(raw)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, resp, raw, err := spoiled(t, t.Context(), "GET", systems, "", Rule{Path: systems, Effect: c.e})
			if !c.want(resp, raw, err) {
				t.Errorf("%+v %v %.300s", resp, err, raw)
			}
		})
	}
}

// A reply may be lost after its request was carried out.
func TestLostReply(t *testing.T) {
	b, _, _, err := spoiled(t, t.Context(), "POST", dell+reset, `{"ResetType":"ForceOff"}`, Rule{Path: "*" + reset, Effect: Effect{Drop: DropAfter}})
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if on, err := b.Backend(dell).Running(t.Context()); on || err != nil {
		t.Error("it was not carried out")
	}
	if log := b.Log(); len(log) != 1 || log[0].Status != 0 {
		t.Errorf("%+v", log)
	}
}

// A slow body ends with its client, and Close does not wait for it.
func TestSlowBodyEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, _, raw, err := spoiled(t, ctx, "GET", dell, "", Rule{Effect: Effect{Body: SpoilDrip, Every: 10 * time.Millisecond}})
	if !errors.Is(err, context.DeadlineExceeded) || len(raw) > 100 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
}

// Members may come in another order, and the BMC may restart while it is asked.
func TestShuffleAndReboot(t *testing.T) {
	s := simulate(t, "hpe-cray-ex235n-2node", Options{Rules: []Rule{
		{Path: "/redfish/v1/Systems", Every: 2, Effect: Effect{Shuffle: true}}, {Path: "*" + reset, Effect: Effect{Reboot: true}},
	}})
	first := func() string { return linksOf(s.want(200, "GET", "/redfish/v1/Systems", nil).at("Members"))[0] }
	if a, b, c := first(), first(), first(); a == b || a != c {
		t.Errorf("%s %s %s", a, b, c)
	}
	s.open()
	s.reset(204, "/redfish/v1/Systems/Node0", "ForceOff")
	s.want(401, "GET", "/redfish/v1/Systems/Node0", nil)
}

// A BMC that restarts is away, and then busy for a while.
func TestReboot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := simulate(t, r750, Options{Load: Load{Starting: 20 * time.Second, RetryAfter: 5 * time.Second, Rebooting: time.Minute}})
		time.Sleep(20 * time.Second)
		s.open()
		s.reset(204, dell, "ForceOff")
		s.Reboot()
		for _, status := range []int{0, 503, 401} {
			s.want(status, "GET", dell, nil)
			time.Sleep(map[int]time.Duration{0: time.Minute, 503: 20 * time.Second}[status])
		}
		s.open()
		if p := s.power(dell); p != "Off" {
			t.Errorf("the system is %s", p)
		}
	})
}

func TestOptionsAreJudged(t *testing.T) {
	for option, o := range map[string]Options{
		"Auth.Idle": {Auth: Auth{Idle: -1}}, "Auth.Sessions": {Auth: Auth{Sessions: -1}}, "Auth.Full": {Auth: Auth{Full: 200}}, "ETags.Mode": {ETags: ETags{Mode: "odd"}},
		"Tasks.Ends": {Tasks: Tasks{Ends: "odd"}}, "Power.WrongState": {Power: Power{WrongState: 1}}, "Rules[1]": {Rules: []Rule{{}, {Nth: -1}}},
		"Rules[0]": {Rules: []Rule{{Effect: Effect{Body: "odd"}}}},
	} {
		_, err := New(load(t, "openbmc-stock-2.15-off"), o)
		if e, ok := errors.AsType[*OptionError](err); !ok || e.Option != option || e.Code() != "INVALID_CONFIG" {
			t.Errorf("%s: %v", option, err)
		}
	}
	for _, e := range []Effect{{Drop: "odd"}, {Status: 1}, {Replies: 99}, {Delay: -1}} {
		if (Rule{Effect: e}).Validate() == nil {
			t.Errorf("%+v is taken", e)
		}
	}
}
