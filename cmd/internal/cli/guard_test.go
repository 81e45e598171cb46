package cli_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/api"
)

const (
	uuid   = "6b1f2c3d-0001-4000-8000-000000000001"
	mac    = "02:00:00:00:00:01"
	node   = "node_01hzx3c8v7k2m4n6p8q0r2s4t6"
	digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
)

// good is an operation's command with all that it needs, without --yes.
func good(f *fake, d api.Def) []string {
	args := []string{d.Axis(), d.Verb()}
	if i := strings.Index(d.Path, "{"); i >= 0 {
		name, _, _ := strings.Cut(d.Path[i+1:], "}")
		args = append(args, map[string]string{"server_id": uuid, "mac": mac, "node_id": node, "key_id": "key_1", "operator": "ada"}[name])
	}
	secret, info := f.write("secret", "correct horse battery"), f.write("sysinfo.json", "{}")
	return append(args, map[string][]string{
		"registration.register":      {"--server-id", uuid, "--sysinfo-file", info},
		"registration.refresh":       {"--sysinfo-file", info},
		"registration.plan":          {"--layout", "gpt", "--hostname", "n1"},
		"registration.approve":       {"--code-file", secret},
		"registration.approve-setup": {"--layout", "gpt", "--hostname", "n1", "--shown-plan", digest},
		"registration.reservoir":     {"64GiB"},
		"setup.announce":             {"--routing-id", uuid, "--server-id", uuid, "--sysinfo-file", info},
		"setup.drain":                {"--epoch", "1"},
		"setup.complete":             {"--epoch", "1"},
		"setup.failed":               {"--epoch", "1", "--why", "x"},
		"booter.sightings":           {"--booter", "b1"},
		"booter.boots":               {"--booter", "b1"},
		"booter.changes":             {"--incarnation", "x"},
		"boot.mode":                  {"rescue"},
		"policy.set":                 {"--file", f.write("policy.yaml", "auto_enroll: true\n")},
		"auto-approve.open":          {"--ends", "+2h"},
		"enroll-window.open":         {"--ends", "+2h"},
		"key.mint":                   {"--scope", "booter"},
		"session.open":               {"ada", "--password-file", secret},
		"operator.add":               {"ada", "--password-file", secret},
		"operator.password":          {"--password-file", secret},
		"node.maintenance":           {"on"},
		"metal.enroll":               {"https://10.0.0.7", "--username", "root", "--password-file", secret},
		"metal.confirm-mac":          {mac},
		"node.power":                 {"cycle"},
		"node.boot-set":              {"pxe"},
		"node.media-insert":          {"https://images.example/a.iso"},
		"node.media-eject":           {"CD"},
		"audit.rows":                 {"--to", "-"},
		"store.backup":               {"--to", "-"},
	}[d.Name]...)
}

// Every verb that is whole reaches the server by the method and path of the table.
func TestEveryVerbCalls(t *testing.T) {
	f := newFake(t)
	for _, op := range api.All() {
		d := op.Info()
		f.answer = func(w http.ResponseWriter, r *http.Request) {
			if d.Stream != api.JSON {
				w.Header().Set("Content-Type", string(d.Stream))
				return
			}
			reply(w, `{"registrations":[],"boots":[],"sightings":[],"nodes":[],"keys":[],"sessions":[],"operators":[],"events":[],"windows":[]}`)
		}
		args := append(good(f, d), "-o", "json", "--timeout", "1m")
		if d.Destructive {
			args = append(args, "--yes")
		}
		if d.Stream == api.Events {
			args = append(args, "--timeout", "100ms")
		}
		got := f.run(args...)
		f.mu.Lock()
		reached := f.requests
		f.mu.Unlock()
		want := 0
		if d.Stream == api.Events {
			want = 8
		}
		if f.count() == 0 || got.code != want {
			t.Errorf("%s: %q ended with %d: %s", d.Name, args, got.code, got.err)
			continue
		}
		if r := reached[0]; r.Method != d.Method || strings.Count(r.URL.Path, "/") != strings.Count(d.Path, "/") {
			t.Errorf("%s: %s %s", d.Name, r.Method, r.URL.Path)
		}
		if key := reached[0].Header.Get("Idempotency-Key"); (key != "") != keyed(op) {
			t.Errorf("%s: Idempotency-Key %q", d.Name, key)
		}
	}
}

func keyed(op api.Any) bool {
	for _, f := range api.Fields(op) {
		if f.Name == "Idempotency-Key" {
			return true
		}
	}
	return false
}

// A destroying verb without --yes sends nothing, and says how to look first (CLI-1).
func TestWithoutYesNothingIsSent(t *testing.T) {
	f := newFake(t)
	n := 0
	for _, op := range api.All() {
		d := op.Info()
		if !d.Destructive {
			continue
		}
		n++
		got := f.run(good(f, d)...)
		if got.code != 2 || f.count() != 0 || !strings.Contains(got.err, "--dry-run") || !strings.Contains(got.err, d.Axis()+" "+d.Verb()) {
			t.Errorf("%s: %d %s", d.Name, got.code, got.err)
		}
		if got := f.run(append(good(f, d), "--dry-run")...); f.count() != 1 {
			t.Errorf("%s --dry-run: %d %s", d.Name, got.code, got.err)
		}
	}
	if n != 7 {
		t.Errorf("%d destroying verbs", n)
	}
}

// A readonly context refuses every change before it is sent, and a protected one
// every change that does not name it. Signing in and out changes only who asks.
func TestReadonlyAndProtected(t *testing.T) {
	f := newFake(t)
	f.write(".config/ingot/contexts.yaml", "current: ro\ncontexts:\n"+
		"  ro: {server: '"+f.server.URL+"', readonly: true}\n  prod: {server: '"+f.server.URL+"', protected: true}\n")
	for _, op := range api.All() {
		d := op.Info()
		args := append(good(f, d), "--timeout", "1m")
		if d.Stream == api.Events {
			args = append(args, "--timeout", "100ms")
		}
		if d.Destructive {
			args = append(args, "--yes")
		}
		free := !d.Mutates || d.Axis() == "session"
		if got := f.runIn(nil, "", args...); (f.count() > 0) != free || !free && got.code != 4 {
			t.Errorf("readonly, %s: %d %s", d.Name, got.code, got.err)
		}
		env := map[string]string{"INGOT_CONTEXT": "prod"}
		if got := f.runIn(env, "", args...); (f.count() > 0) != free || !free && (got.code != 2 || !strings.Contains(got.err, "--context prod")) {
			t.Errorf("protected, %s: %d %s", d.Name, got.code, got.err)
		}
		if got := f.runIn(env, "", append(args, "--context", "prod")...); f.count() == 0 {
			t.Errorf("protected and named, %s: %d %s", d.Name, got.code, got.err)
		}
	}
}

// What is malformed is told before any call (CLI-1).
func TestMalformedIsNotSent(t *testing.T) {
	f := newFake(t)
	for _, line := range []string{
		"node show node_1", "node cordon " + node + " node_2", "node list --site here", "node list --cordoned maybe", "node list --limit x",
		"boot show 02:00:00:00:00", "boot mode " + mac + " fast", "boot show", "boot show " + mac + " " + mac,
		"registration show 6b1f2c3d", "registration reservoir " + uuid + " 1.5GiB", "registration reservoir " + uuid + " 99999999999GiB",
		"registration label " + uuid + " --set rack", "registration label " + uuid + " --file /nowhere",
		"plan " + uuid + " --layout gpt", "plan " + uuid + " --layout gpt --hostname N1", "plan " + uuid + " --layout gpt --hostname n1 --disk s=1",
		"plan " + uuid + " --layout gpt --hostname n1 --disk serial", "plan " + uuid + " --layout gpt --hostname n1 --esp 1.5",
		"approve-setup " + uuid + " --layout gpt --hostname n1 --shown-plan abc --yes", "approve-setup " + uuid + " --layout gpt --hostname n1 --yes",
		"approve-setup " + uuid + " --plan-file /nowhere --yes", "approve", "approve --code-file /nowhere",
		"auto-approve open", "auto-approve open --ends tomorrow", "auto-approve open --ends +2h --slots 0", "auto-approve open --ends 2026-13-01T00:00:00Z",
		"key mint", "key mint --scope agent", "key show Key_1", "operator show Ada", "operator totp ada --code-file - --file -",
		"node cordon " + node + " --if-version 0", "node cordon " + node + " --if-version x", "node cordon " + node + " --reason a\nb",
		"node list --limit -1", "node list --pin sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "node list -o xml", "node list -q .nodes[", "node list -q . -o yaml", "node list --json -o yaml", "policy show -o name", "event stream -o yaml",
		"node list --nope", "node list extra", "nodes", "node lst", "", "registration status --wait -5s", "registration status --wait 5",
		"event list --cursor 1", "event list --type Node", "setup drain " + uuid, "audit rows", "audit verify", "registration show " + uuid + " --until nope=1",
		"registration show " + uuid + " --until state", "node maintenance " + node + " perhaps", "policy set", "node list --server ftp://x", "node list --timeout x",
		"lifecycle show nope", "lifecycle why registration nope approve", "lifecycle why registration pending nope", "explain NOPE", "completion tcsh", "help nope", "context show nope", "context set a/b --server https://x",
	} {
		got := f.run(fields(line)...)
		want := 2
		if line == "" {
			want = 0
		}
		if n := f.count(); got.code != want || n != 0 || want == 2 && got.err == "" {
			t.Errorf("%q: code %d, %d requests: %s", line, got.code, n, got.err)
		}
	}
}

// fields splits at blanks only, so that a word may have a newline.
func fields(line string) []string {
	if line == "" {
		return nil
	}
	return strings.Split(line, " ")
}

// Flags change the policy where it stands; a file replaces it whole.
func TestPolicyIsChangedOrReplaced(t *testing.T) {
	f := newFake(t)
	var body, query string
	f.answer = func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "GET" {
			reply(w, `{"policy":{"auto_enroll":true,"answer_only_pxe":true,"network":"10.0.0.0/24","allow":["a","b"]},"version":7}`)
			return
		}
		raw, _ := io.ReadAll(r.Body)
		body, query = string(raw), r.URL.RawQuery
		reply(w, `{}`)
	}
	for _, c := range []struct{ args, body, query string }{
		{"--rescue-image r --allow c", `{"auto_enroll":true,"allow":["c"],"network":"10.0.0.0/24","rescue_image":"r","answer_only_pxe":true}`, "version=7"},
		{"--auto-enroll=false --if-version 5", `{"auto_enroll":false,"allow":["a","b"],"network":"10.0.0.0/24","answer_only_pxe":true}`, "version=5"},
		{"--file " + f.write("p.yaml", "auto_enroll: true\nanswer_only_pxe: false\n"), `{"auto_enroll":true,"answer_only_pxe":false}`, ""},
	} {
		if got := f.run(strings.Fields("policy set " + c.args)...); got.code != 0 || body != c.body || query != c.query {
			t.Errorf("%s: %d %s\n%s ?%s", c.args, got.code, got.err, body, query)
		}
	}
}

// A file is read strictly, and flags change what it says.
func TestFile(t *testing.T) {
	f := newFake(t)
	var body string
	f.answer = func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body = string(raw)
		reply(w, `{}`)
	}
	run := func(stdin string, args ...string) ran {
		return f.runIn(map[string]string{"INGOT_SERVER": f.server.URL}, stdin, append([]string{"plan", uuid, "--file", "-"}, args...)...)
	}
	want := `{"layout":{"layout":"gpt","disks":[{"serial":"S1"}]},"hostname":"n1"}`
	for name, stdin := range map[string]string{"yaml": "layout:\n  layout: gpt\n  disks:\n  - serial: S1\nhostname: n1\n", "json": want} {
		if got := run(stdin); got.code != 0 || body != want {
			t.Errorf("%s: %d %s\n%s", name, got.code, got.err, body)
		}
	}
	if got := run(want, "--hostname", "n2", "--esp", "600MiB", "--data", "rest"); got.code != 0 || !strings.Contains(body, `"n2"`) || !strings.Contains(body, `"esp":629145600`) {
		t.Errorf("flags over a file: %d %s\n%s", got.code, got.err, body)
	}
	f.count()
	if got := run("nope: 1"); !strings.Contains(got.err, "known: layout.layout, layout.disks,") {
		t.Errorf("the known fields are not told: %s", got.err)
	}
	for _, bad := range []string{"", "nope: 1", "hostname: n1\nhostname: n2", `{"hostname":"n1","hostname":"n2"}`, "layout: {layout: gpt, nope: 1}", "layout: [", `{"hostname":"N1","layout":{"layout":"gpt"}}`} {
		if got := run(bad); got.code != 2 || f.count() != 0 {
			t.Errorf("%q: %d %s", bad, got.code, got.err)
		}
	}
}
