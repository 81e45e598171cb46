package bmctest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmctest"
)

// echoes makes a driver that sets overrides with the entity tag as it was told.
func echoes(sim *bmctest.Simulator) bmc.Driver {
	return &bent{Driver: good(sim), open: func(ctx context.Context, d bmc.Driver, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
		s, err := d.Open(ctx, e, a)
		if err != nil {
			return s, err
		}
		out := straight(s)
		out.set = func(ctx context.Context, b bmc.BootSpec) (bmc.BootState, error) {
			if err := echo(ctx, sim, e.URL, a); err != nil {
				return bmc.BootState{}, err
			}
			return out.boot(ctx)
		}
		return out, nil
	}}
}

// echo asks for one boot from PXE.
func echo(ctx context.Context, sim *bmctest.Simulator, url string, a bmc.Access) error {
	c, err := a.Credentials.Credentials(ctx)
	if err != nil {
		return err
	}
	tag := ""
	for _, method := range []string{http.MethodGet, http.MethodPatch} {
		body, err := json.Marshal(map[string]any{"Boot": map[string]string{
			"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe", "BootSourceOverrideMode": "UEFI"}})
		if err != nil {
			return err
		}
		r, err := http.NewRequestWithContext(ctx, method, url+"/redfish/v1/Systems/System.Embedded.1", bytes.NewReader(body))
		if err != nil {
			return err
		}
		r.SetBasicAuth(c.Username, c.Password.Show())
		r.Header.Set("Accept-Encoding", "identity")
		if method == http.MethodPatch {
			r.Header.Set("If-Match", tag)
		}
		a, err := (&http.Client{Transport: careless(sim)}).Do(r)
		if err != nil {
			return err
		}
		if tag = a.Header.Get("ETag"); a.StatusCode >= 300 {
			return &bmc.Error{Kind: bmc.Protocol, Op: "set boot", Status: a.StatusCode}
		}
		if err := a.Body.Close(); err != nil {
			return err
		}
	}
	return nil
}

// A tag that is sent as it was told is right for a strong one, and wrong for a weak one.
func TestEchoedTags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := &bmctest.Simulator{}
		r := bmctest.Judge(t.Context(), bmctest.Subject{Driver: echoes(sim), Stage: sim.Stage, Only: 42}, nil)
		want := map[bmctest.Scene]bmctest.State{bmctest.ETagStrong: bmctest.Kept, bmctest.ETagWeak: bmctest.Broken, bmctest.ETagRequired: bmctest.Kept}
		for _, one := range r.Results {
			if is, there := want[one.Scene]; there && one.State != is {
				t.Errorf("%s, want %s", one, is)
			}
		}
		time.Sleep(10 * time.Second) // both ends of a connection in memory close
	})
}
