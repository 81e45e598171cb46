package cli_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// node power --wait looks until the command has ended, and fails if that did.
func TestPowerIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		result, out string
		code        int
	}{
		"done":    {"done: the machine is on", "done: the machine is on", 0},
		"nothing": {"unchanged: the machine is on", "unchanged", 0},
		"failed":  {"failed: bmc: log in: auth; give it other credentials", "give it other credentials", 7},
		"late":    {"expired", "expired", 7},
	} {
		t.Run(name, func(t *testing.T) {
			looks := 0
			got, took := bubble(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					reply(w, `{"revision":1,"facts":["command.queued"],"command":{"id":"c-1","action":"on","expires":"2026-01-01T00:00:00Z","done":false}}`)
					return
				}
				if looks++; looks < 4 {
					reply(w, `{"commands":[{"id":"c-1","action":"on","done":false}]}`)
					return
				}
				reply(w, `{"commands":[{"id":"c-0","action":"on","done":false},{"id":"c-1","action":"on","done":true,"result":"`+c.result+`"}]}`)
			}, "node power "+node+" on --wait -o json")
			if got.code != c.code || looks != 4 || took < 6*time.Second || !strings.Contains(got.out+got.err, c.out) {
				t.Errorf("code %d after %d looks in %s: %s%s", got.code, looks, took, got.out, got.err)
			}
		})
	}
}
