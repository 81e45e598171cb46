package bmctest_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmctest"
)

// careless trusts whoever answers.
func careless(sim *bmctest.Simulator) *http.Transport {
	return &http.Transport{DialContext: sim.Dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
}

// A naive is a driver as it is written in an afternoon: Basic authentication, any
// peer, any redirect, any link, no limits.
type naive struct {
	sim     *bmctest.Simulator
	stays   bool // follows no redirect at all
	forgets bool // the context
	sockets bool // dials by itself
}

func (naive) Info() bmc.Info {
	return bmc.Info{Name: "naive", Protocols: []string{"redfish"}, Declares: []bmc.Feature{bmc.PowerState, bmc.ReadInventory}}
}
func (naive) ValidateOptions(json.RawMessage) error { return nil }
func (n naive) Open(_ context.Context, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
	by := careless(n.sim)
	if n.sockets {
		by.DialContext = nil
	}
	c := &http.Client{Transport: by}
	if n.stays {
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return errors.New("no redirects") }
	}
	return &naiveSession{n, c, e.URL, a}, nil
}

type naiveSession struct {
	naive
	http *http.Client
	base string
	a    bmc.Access
}

func (s *naiveSession) get(ctx context.Context, link string) (map[string]any, error) {
	if s.forgets {
		var cancel func()
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
	}
	r, err := http.NewRequestWithContext(ctx, "GET", s.base+link, nil)
	if err != nil {
		return nil, err
	}
	c, err := s.a.Credentials.Credentials(ctx)
	if err != nil {
		return nil, err
	}
	r.SetBasicAuth(c.Username, c.Password.Show())
	resp, err := s.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	const enough = 48 << 20 // the test must end
	raw, err := io.ReadAll(io.LimitReader(resp.Body, enough))
	if err != nil {
		return nil, err
	}
	var body map[string]any
	_ = json.NewDecoder(strings.NewReader(string(raw))).Decode(&body)
	return body, nil
}

func (s *naiveSession) members(ctx context.Context, link string) ([]string, error) {
	var out []string
	for range 2500 { // the test must end
		body, err := s.get(ctx, link)
		if err != nil {
			return nil, err
		}
		list, _ := body["Members"].([]any)
		for _, m := range list {
			m, _ := m.(map[string]any)
			id, _ := m["@odata.id"].(string)
			out = append(out, id)
		}
		next, ok := body["Members@odata.nextLink"].(string)
		if !ok {
			break
		}
		link = next
	}
	return out, nil
}

func (s *naiveSession) Probe(ctx context.Context) (bmc.Probed, error) {
	_, err := s.ReadPower(ctx)
	return bmc.Probed{}, err
}
func (s *naiveSession) Close(context.Context) error { return nil }
func (s *naiveSession) ReadPower(ctx context.Context) (bmc.PowerObservation, error) {
	body, err := s.get(ctx, "/redfish/v1/Systems")
	if err != nil {
		return bmc.PowerObservation{}, err
	}
	list, _ := body["Members"].([]any)
	if len(list) == 0 {
		return bmc.PowerObservation{}, nil
	}
	first, _ := list[0].(map[string]any)
	id, _ := first["@odata.id"].(string)
	_, err = s.get(ctx, id)
	return bmc.PowerObservation{State: bmc.On, Raw: "On", Began: time.Now(), Ended: time.Now()}, err
}
func (s *naiveSession) SendPower(context.Context, bmc.Action) (bmc.Receipt, error) {
	return bmc.Receipt{}, nil
}
func (s *naiveSession) Inventory(ctx context.Context) (bmc.Inspection, error) {
	_, err := s.members(ctx, "/redfish/v1/Systems")
	return bmc.Inspection{}, err
}

func wireMutants() []mutant {
	n := func(edit func(*naive)) func(*bmctest.Simulator) bmc.Driver {
		return func(sim *bmctest.Simulator) bmc.Driver {
			d := naive{sim: sim}
			edit(&d)
			return d
		}
	}
	plain := n(func(*naive) {})
	return []mutant{
		{7, "follows any link and redirect", plain},
		{8, "follows no redirect", n(func(d *naive) { d.stays = true })},
		{9, "pastes links behind its URL", plain},
		{10, "looks at no pin", plain},
		{11, "trusts whoever answers", plain},
		{12, "reads to the end", plain},
		{13, "follows every next page", plain},
		{14, "has no deadline", n(func(d *naive) { d.forgets = true })},
		{15, "does not let go", n(func(d *naive) { d.forgets = true })},
	}
}

// Where a BMC leads a driver is seen in each of its forms, in memory and on sockets.
func TestLedElsewhere(t *testing.T) {
	for name, sim := range map[string]*bmctest.Simulator{
		"memory":  {},
		"sockets": {Listen: func() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }},
	} {
		d := naive{sim: sim, sockets: sim.Listen != nil}
		r := bmctest.Judge(t.Context(), bmctest.Subject{Driver: d, Stage: sim.Stage, Only: 7}, nil)
		broken := map[bmctest.Scene]bool{}
		for _, one := range r.Results {
			broken[one.Scene] = one.State == bmctest.Broken
		}
		if !broken[bmctest.LinksAt] || !broken[bmctest.MovedAway] {
			t.Errorf("%s: not seen: %v", name, r.Results)
		}
	}
}
