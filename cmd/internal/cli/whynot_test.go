package cli_test

import (
	"net/http"
	"strings"
	"testing"
)

// Each thing that keeps work away is told once, with what would end it.
func TestWhyNot(t *testing.T) {
	f := newFake(t)
	for name, c := range map[string]struct {
		node, args string
		want       []string // whats and nexts, in order
	}{
		"nothing":   {`"states":{"provision":"ready"}`, "", []string{"nothing keeps work away"}},
		"tombstone": {`"deleted_at":"2026-05-01T00:00:00Z","states":{"provision":"ready","registration":"pending"}`, "", []string{"it is deleted"}},
		"flags": {`"states":{"provision":"failed","registration":"approved"},"scheduling":{"cordoned":true,"draining":true,"maintenance":true,"maintenance_reason":"fan","reasons":["draining","unreachable"]}`, "",
			[]string{"its provision state is failed", "ingot lifecycle path provision failed ready", "in maintenance: fan", "ingot maintenance " + node + " off", "it is cordoned", "ingot uncordon " + node, "it is draining", "reason unreachable", "a new session clears it"}},
		"disabled":        {`"claims":{"server_id":"` + uuid + `"},"states":{"provision":"ready","registration":"disabled"}`, "", []string{"registration is disabled", "factory-reset " + uuid}},
		"setting up":      {`"claims":{"server_id":"` + uuid + `"},"states":{"registration":"setting_up"},"attempt":{"holder":"setup","state":"setting_up","epoch":4}`, "", []string{"never accepted", "its registration is setting_up", "--until state=approved", "setup holds the machine (setting_up, attempt 4)"}},
		"a taint":         {`"states":{"provision":"ready"},"scheduling":{"reasons":["taint:slow"]}`, "", []string{"reason taint:slow", "remove the taint"}},
		"another's":       {`"states":{"provision":"ready"},"scheduling":{"reasons":["taint:dedicated=acme"]}`, " --tenant emca", []string{"dedicated to another tenant"}},
		"one's own":       {`"states":{"provision":"ready"},"scheduling":{"reasons":["taint:dedicated=acme"]}`, " --tenant acme", []string{"nothing keeps work away"}},
		"a condition":     {`"states":{"provision":"ready"},"conditions":["conditions"],"scheduling":{"reasons":["conditions"]}`, "", []string{"reason conditions", "repair the node"}},
		"quarantine":      {`"states":{"provision":"ready"},"identity":{"quarantined":true}`, "", []string{"quarantined", "find the twin"}},
		"retiring":        {`"states":{"provision":"ready","retirement":"wiping"}`, "", []string{"being retired (wiping)"}},
		"what is unknown": {`"states":{"provision":"ready"},"scheduling":{"reasons":["newer"]}`, "", []string{"reason newer", "none known to this version"}},
	} {
		f.answer = func(w http.ResponseWriter, _ *http.Request) { reply(w, `{"id":"`+node+`",`+c.node+`}`) }
		got := f.run(strings.Fields("why-not " + node + c.args)...)
		rest, ok := got.out, true
		for _, want := range c.want {
			if _, rest, ok = strings.Cut(rest, want); !ok {
				t.Errorf("%s: %q is not there in its order:\n%s%s", name, want, got.out, got.err)
				break
			}
		}
		if n := strings.Count(got.out, "\n"); name == "flags" && n != 10 || got.code != 0 {
			t.Errorf("%s: %d lines, code %d:\n%s", name, n, got.code, got.out)
		}
	}
}
