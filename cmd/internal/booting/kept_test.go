package booting

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/api"
)

// A bundle that was drained is there after a restart, in a file that is its owner's
// alone; one in clear is never written.
func TestSealedBundlesOutliveABooter(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bundles.json")
	setups := func() *Setups {
		return &Setups{Client: newPlane().client(), Desk: newDesk(t, place(), still), Log: quiet, File: file}
	}
	s, p := setups(), newPlane()
	s.Client = p.client()
	other := strings.Replace(uuid, "0001", "0002", 1)
	for server, b := range map[string]api.Bundle{uuid: {Epoch: 4, Sealed: true, Bundle: sealedBundle}, other: {Epoch: 5, Bundle: "canary-in-clear"}} {
		p.on("/v1/setup/"+server+"/drain", func([]byte) (any, error) { return b, nil })
		s.drain(t.Context(), &Machine{setups: s, server: server, hash: "h"}, api.Approval{Server: server, Epoch: b.Epoch})
	}
	raw, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(raw), "in-clear") || !strings.Contains(string(raw), sealedBundle) {
		t.Fatalf("%v %s", err, raw)
	}
	if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", fi.Mode(), err)
	}
	again := setups()
	if err := again.Load(); err != nil || again.epochOf(uuid) != 4 || again.epochOf(other) != 0 || again.handed[uuid].Bundle.Bundle.Show() != sealedBundle {
		t.Errorf("%v %+v", err, again.handed)
	}
	again.ended(uuid, 4)
	last := setups()
	if err := last.Load(); err != nil || last.epochOf(uuid) != 0 {
		t.Errorf("what has ended is kept: %v %d", err, last.epochOf(uuid))
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := setups().Load(); err == nil {
		t.Error("a damaged file is loaded")
	}
	if err := (&Setups{File: filepath.Join(t.TempDir(), "none")}).Load(); err != nil {
		t.Errorf("a first start: %v", err)
	}
}
