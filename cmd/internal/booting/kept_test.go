package booting

import (
	"errors"
	"io/fs"
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
	one := strings.TrimSuffix(file, ".json") + "-" + uuid + ".json"
	raw, err := os.ReadFile(one)
	if err != nil || !strings.Contains(string(raw), sealedBundle) {
		t.Fatalf("%v %s", err, raw)
	}
	if all, err := os.ReadDir(filepath.Dir(file)); err != nil || len(all) != 1 {
		t.Errorf("%v %v: one in clear is kept", all, err)
	}
	if fi, err := os.Stat(one); err != nil || fi.Mode().Perm() != 0o600 {
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
	whole := strings.TrimSuffix(file, ".json") + "-" + other + ".json"
	for path, text := range map[string]string{one: "{", whole: string(raw) + "  "} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	last = setups()
	if bad, ok := errors.AsType[*Damaged](last.Load()); !ok || bad.Code() != "UNAVAILABLE" || last.epochOf(uuid) != 0 || last.epochOf(other) != 4 {
		t.Errorf("a damaged file: %v, and beside it %+v", bad, last.handed)
	}
	if err := os.WriteFile(one, []byte("    "), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := setups().Load(); err != nil {
		t.Errorf("room that was never used: %v", err)
	}
	if _, err := os.Stat(one); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is left: %v", err)
	}
	if err := (&Setups{File: filepath.Join(t.TempDir(), "none")}).Load(); err != nil {
		t.Errorf("a first start: %v", err)
	}
}
