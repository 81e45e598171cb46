package daemon_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/config"
)

// What the control plane refuses is counted where its metrics are read.
func TestRefusedCallsAreCounted(t *testing.T) {
	dir := t.TempDir()
	c := config.Default()
	c.Site, c.State, c.Listen.TCP, c.Listen.Unix = "lab", dir, nil, filepath.Join(dir, "s")
	c.Store.Path, c.Store.Mark = filepath.Join(dir, "site.db"), filepath.Join(dir, "site.mark")
	stop, client := started(t, c)
	defer stop()
	mint := api.MintKey{} // the host changes nothing but operators
	mint.Body.Scope = "full"
	if _, err := api.KeyMint.Call(t.Context(), client, &mint); err == nil {
		t.Fatal("the host minted a key")
	}
	dial := func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", c.Listen.Unix) }
	hc := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	res, err := hc.Get("http://ingotd/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`ingot_denied_total{action="compute:keys:mint"} 1`, `ingot_needs_unserved{verb="power"} 0`, "ingot_sweep_late_seconds 0"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
}
