package redfish

import (
	"encoding/json"
	"testing"

	"github.com/ingotmetal/ingot/bmc/bmcsim/trees"
	"github.com/ingotmetal/ingot/bmc/wire"
)

func TestDecodePower(t *testing.T) {
	for body, want := range map[string]string{
		`{"PowerState":"On"}`: "On", ` { "PowerState" : "Off" , "a":1}`: "Off", `{"a":{"PowerState":"On"},"PowerState":"Off"}`: "Off",
		`{"a":"PowerState","b":["PowerState",{"PowerState":"On"}]}`: "", `{"PowerState":null}`: "", `{"PowerState":1}`: "", `{"PowerState":{"x":"On"}}`: "",
		`{"PowerState":"On","PowerState":"Off"}`: "Off", `{"PowerState":"\u004fn"}`: "On", `{"x\"PowerState\":\"On\"":1,"PowerState":"Off"}`: "Off",
		`{"x":"\\","PowerState":"On"}`: "On", `{"x":"\\\"","PowerState":"On"}`: "On", `{"powerstate":"On"}`: "", `{}`: "", `[]`: "", `"PowerState"`: "",
		`{"Power\u0053tate":"On"}`: "On", "{\"PowerState\":\"\xff\"}": "\ufffd", `{"PowerState":"é"}`: "é",
	} {
		got, err := decodePower(&wire.Response{Status: 200, Body: []byte(body)})
		if got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", body, got, err, want)
		}
	}
	for _, body := range []string{``, `{`, `{"PowerState":"Off"`, `{"PowerState":"Off"}{}`, `{"PowerState":"Off",}`, "<html>", `{"PowerState":"Off" x}`} {
		if got, err := decodePower(&wire.Response{Status: 200, Body: []byte(body)}); err == nil {
			t.Errorf("%s is taken for %q", body, got)
		}
	}
}

// Of any document it reads what a whole decoder reads.
func FuzzPowerState(f *testing.F) {
	f.Add([]byte(`{"a":{"PowerState":"On"},"PowerState":"Off"}`))
	f.Add([]byte(`{"PowerState":"\u004fn","b":[1,2,{"c":"\\\""}]}`))
	for _, name := range trees.Names() {
		var all map[string]json.RawMessage
		raw, err := trees.Read(name)
		if err == nil {
			err = json.Unmarshal(raw, &all)
		}
		if err != nil {
			f.Fatal(err)
		}
		for path, body := range all {
			if len(path) < 40 && len(body) < 4096 {
				f.Add([]byte(body))
			}
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var whole map[string]any
		err := json.Unmarshal(body, &whole)
		want, _ := whole["PowerState"].(string)
		got, failed := decodePower(&wire.Response{Status: 200, Body: body})
		if err == nil && whole != nil && (failed != nil || got != want) {
			t.Fatalf("%q: %q, %v; want %q", body, got, failed, want)
		}
		if !json.Valid(body) && failed == nil {
			t.Fatalf("%q is taken", body)
		}
	})
}
