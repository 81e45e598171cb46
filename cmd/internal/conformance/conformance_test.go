package conformance_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/redfish"
	"github.com/ingotmetal/ingot/bmc/wire"
	"github.com/ingotmetal/ingot/cmd/internal/conformance"
)

func ours(dial conformance.Dial) bmc.Driver {
	return redfish.Driver{Wire: wire.Options{Dial: dial}}
}

// Our driver keeps all laws, eight at once too. What they wait for is what help says:
// in a bubble it costs nothing, and a busy host breaks nothing.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		of := 0
		r := conformance.Run{Driver: ours}.Judge(t.Context(), func(_, all int, line string, broken bool) {
			of = all
			if broken {
				t.Error(line)
			}
		})
		if took := time.Since(began); took > 2*time.Minute || took < 30*time.Second {
			t.Errorf("it waits %s, and help says %s", took, conformance.Waits)
		}
		if !r.OK() || len(r.Results) != of || r.Broken() != 0 {
			t.Errorf("%d results of %d, %d broken", len(r.Results), of, r.Broken())
		}
		time.Sleep(10 * time.Second) // for both ends of TLS to close
	})
}

// deaf is a driver without a check of its options.
type deaf struct{ redfish.Driver }

func (deaf) ValidateOptions(json.RawMessage) error { return nil }

// A driver that breaks a law is told so in every form.
func TestBroken(t *testing.T) {
	run := conformance.Run{Driver: func(dial conformance.Dial) bmc.Driver { return deaf{redfish.Driver{Wire: wire.Options{Dial: dial}}} }}
	if err := run.SetLevels("p"); err != nil {
		t.Fatal(err)
	}
	r := run.Judge(t.Context(), nil)
	if r.OK() || r.Broken() == 0 {
		t.Fatalf("%d broken", r.Broken())
	}
	for form, want := range map[string]string{"text": "broken  P ", "json": `"state": "broken"`, "junit": "<failure "} {
		var b strings.Builder
		if err := r.Write(&b, form); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %v\n%s", form, err, &b)
		}
	}
}

func TestLevels(t *testing.T) {
	var run conformance.Run
	for _, list := range []string{"", "X", "P,P", "P,,S"} {
		if run.SetLevels(list) == nil {
			t.Errorf("%q is taken", list)
		}
	}
	if run.SetLevels("p, L") != nil || run.Destroys() {
		t.Error("p, L")
	}
	if run.Destroy(); !run.Destroys() {
		t.Error("it does not destroy")
	}
	if conformance.Known(0) || !conformance.Known(12) || conformance.Known(999) {
		t.Error("numbers of laws")
	}
}
