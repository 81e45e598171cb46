package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/api"
)

const evil = "a\x1b[31mb\u202ec\nd\te"

// Text never has what a terminal obeys, whatever a machine said of itself.
func TestTextIsClean(t *testing.T) {
	f := newFake(t)
	said, err := json.Marshal(evil)
	must(t, err)
	f.answer = func(w http.ResponseWriter, r *http.Request) {
		one := fmt.Sprintf(`{"server_id":%s,"state":%s,"last_setup_error":%s,"labels":{%s:%s},"inventory":{"digest":"d","macs":[%s],"disks":[{"name":%s,"model":%s}]}}`, said, said, said, said, said, said, said, said)
		switch {
		case strings.HasSuffix(r.URL.Path, "/plan"):
			reply(w, fmt.Sprintf(`{"digest":%s,"hostname":%s,"text":%s,"macs":[%s],"warnings":[%s],"left_out_macs":[%s]}`, said, said, said, said, said, said))
		case strings.HasSuffix(r.URL.Path, "/disable"):
			reply(w, fmt.Sprintf(`{"facts":[%s],"moves":[{"axis":%s,"from":%s,"to":%s}],"rows":[{"key":%s,"change":%s}],"registration":%s}`, said, said, said, said, said, said, one))
		case strings.HasSuffix(r.URL.Path, "registrations"):
			reply(w, `{"registrations":[`+one+`]}`)
		case strings.HasSuffix(r.URL.Path, "/approve"):
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(409)
			_, _ = fmt.Fprintf(w, `{"code":%s,"detail":%s,"next":%s,"state":%s,"legal":[%s],"reason":%s,"fields":[{"field":%s,"want":%s}]}`, said, said, said, said, said, said, said, said)
		default:
			reply(w, one)
		}
	}
	code := f.write("code", "ABC-DEF")
	for _, line := range []string{"registration list", "registration list -o wide", "registration list -o name", "registration show " + uuid, "registration show " + uuid + " -o wide", "registration show " + uuid + " -o json", "registration show " + uuid + " -o yaml",
		"plan " + uuid + " --layout gpt --hostname n1", "disable " + uuid, "disable " + uuid + " -o wide", "disable " + uuid + " --dry-run", "disable " + uuid + " -o name", "disable " + uuid + " " + uuid, "approve --code-file " + code, "approve --json --code-file " + code} {
		got := f.run(strings.Fields(line)...)
		if text := got.out + got.err; strings.ContainsAny(text, "\x1b\t") || strings.Contains(text, "\u202e") && !strings.Contains(line, "json") && !strings.Contains(line, "yaml") {
			t.Errorf("%s: %q", line, text)
		}
	}
	if got := f.runIn(map[string]string{"INGOT_SERVER": f.server.URL, "TTY": "1"}, "", "registration", "show", uuid, "-q", ".state"); strings.ContainsAny(got.out, "\x1b\u202e") {
		t.Errorf("-q to a terminal: %q", got.out)
	}
	if got := f.run("registration", "show", uuid, "-q", ".state"); got.out != evil+"\n" {
		t.Errorf("-q to a pipe is not exact: %q", got.out)
	}
}

// Colours are for terminals that want them.
func TestColours(t *testing.T) {
	f := newFake(t)
	f.answer = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/boot" {
			reply(w, `{"boots":[{"mac":"a","state":"enrolled"}]}`)
			return
		}
		refuse(w, 404, "NOT_FOUND")
	}
	for name, c := range map[string]struct {
		env  map[string]string
		want bool
	}{
		"pipe":              {map[string]string{}, false},
		"terminal":          {map[string]string{"TTY": "1"}, true},
		"dumb":              {map[string]string{"TTY": "1", "TERM": "dumb"}, false},
		"no colour":         {map[string]string{"TTY": "1", "NO_COLOR": "1"}, false},
		"forced":            {map[string]string{"CLICOLOR_FORCE": "1"}, true},
		"forced by 0":       {map[string]string{"CLICOLOR_FORCE": "0"}, false},
		"forced and not":    {map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, false},
		"forced for a dumb": {map[string]string{"CLICOLOR_FORCE": "1", "TERM": "dumb"}, false},
	} {
		c.env["INGOT_SERVER"] = f.server.URL
		list, show := f.runIn(c.env, "", "boot", "list"), f.runIn(c.env, "", "boot", "show", mac)
		if got := strings.Contains(list.out, "\x1b"); got != c.want {
			t.Errorf("%s: %q", name, list.out)
		}
		if got := strings.Contains(show.err, "\x1b"); got != c.want || show.code != 3 {
			t.Errorf("%s: %q", name, show.err)
		}
	}
}

// A list reads every page, up to --limit.
func TestPages(t *testing.T) {
	f := newFake(t)
	var asked []string
	f.answer = func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RawQuery)
		switch r.URL.Query().Get("cursor") {
		case "":
			reply(w, `{"boots":[{"mac":"a"},{"mac":"b"}],"next_cursor":"b"}`)
		case "b":
			reply(w, `{"boots":[{"mac":"c"}],"next_cursor":"c"}`)
		default:
			reply(w, `{"boots":[{"mac":"d"}]}`)
		}
	}
	if got := f.run("boot", "list", "-o", "name"); got.out != "a\nb\nc\nd\n" {
		t.Errorf("%q", got.out)
	}
	got := f.run("boot", "list", "--limit", "3", "-o", "json")
	if want := `"next_cursor": "c"`; !strings.Contains(got.out, want) || !strings.Contains(got.out, `"schema": "ingot.boot.list/1"`) || strings.Contains(got.out, `"d"`) {
		t.Errorf("%s", got.out)
	}
	if want := "  cursor=b  limit=3 cursor=b&limit=1"; len(asked) != 5 || asked[3] != "limit=3" || asked[4] != "cursor=b&limit=1" {
		t.Errorf("asked %q, want %q", asked, want)
	}
	if got := f.run("boot", "list", "--cursor", "c", "--state", "enrolled"); !strings.Contains(got.out, "d") || asked[5] != "cursor=c&state=enrolled" {
		t.Errorf("%q %s", asked, got.out)
	}
	if got := f.run("boot", "list", "-q", "[.boots[].mac] | join(\"-\")"); got.out != "a-b-c-d\n" {
		t.Errorf("%q", got.out)
	}
}

// Numbers are exact in every form.
func TestNumbersAreExact(t *testing.T) {
	f := newFake(t)
	f.answer = func(w http.ResponseWriter, _ *http.Request) {
		reply(w, `{"server_id":"x","state":"s","reservoir":18446744073709551615}`)
	}
	for _, args := range [][]string{{}, {"-o", "json"}, {"-o", "yaml"}, {"-q", ".reservoir"}} {
		if got := f.run(append([]string{"registration", "show", uuid}, args...)...); !strings.Contains(got.out, "18446744073709551615") {
			t.Errorf("%q: %s", args, got.out)
		}
	}
}

// With --json an error is JSON on standard error: the server's as it is.
func TestErrorsAsJSON(t *testing.T) {
	f := newFake(t)
	f.answer = func(w http.ResponseWriter, _ *http.Request) { refuse(w, 409, "CONFLICT") }
	for line, code := range map[string]int{"boot enroll " + mac + " --json": 5, "boot enroll x --json": 2, "boot purge " + mac + " -o json": 2} {
		got := f.run(strings.Fields(line)...)
		var e struct {
			Schema string
			Exit   int
			Error  api.Problem
		}
		if err := json.Unmarshal([]byte(got.err), &e); err != nil || e.Schema != "ingot.error/1" || e.Exit != code || got.code != code || e.Error.Name == "" || got.out != "" {
			t.Errorf("%s: %v, %d: %s", line, err, got.code, got.err)
		}
	}
}

// Every exit code that a code of API-3 has is the one that a command ends with.
func TestExitOfEveryCode(t *testing.T) {
	f := newFake(t)
	want := map[string]int{"UNSUPPORTED": 1, "INVALID_CONFIG": 1, "NOT_FOUND": 3, "ACCESS_DENIED": 4, "UNAUTHENTICATED": 4, "CONFLICT": 5, "INVALID_STATE": 5, "INVALID_INPUT": 6, "UNAVAILABLE": 7, "RATE_LIMITED": 7}
	for _, code := range api.Codes() {
		f.answer = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "60")
			refuse(w, api.Status(code), code)
		}
		if got := f.run("boot", "show", mac); got.code != want[code] || !strings.Contains(got.err, code) {
			t.Errorf("%s: %d %s", code, got.code, got.err)
		}
	}
}
