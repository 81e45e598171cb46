package api

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/identity/keys"
)

// names lists the operations that want picks, in the table's order.
func names(want func(Def) bool) []string {
	var out []string
	for _, a := range All() {
		if want(a.Info()) {
			out = append(out, a.Info().Name)
		}
	}
	return out
}

// same compares a list with what was written by hand.
func same(t *testing.T, what string, got []string, want string) {
	t.Helper()
	if w := strings.Fields(want); !slices.Equal(got, w) {
		t.Errorf("%s:\ngot  %v\nwant %v", what, got, w)
	}
}

func TestOperationsAreNamedOnce(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)*\.[a-z]+(-[a-z]+)*$`)
	path := regexp.MustCompile(`^/v1(/[a-z]+(-[a-z]+)*|/\{[a-z]+(_[a-z]+)*\})+$`)
	seen := map[string]bool{}
	for _, a := range All() {
		d := a.Info()
		for _, key := range []string{d.Name, d.Method + " " + d.Path} {
			if seen[key] {
				t.Errorf("%s is there twice", key)
			}
			seen[key] = true
		}
		if !name.MatchString(d.Name) || !path.MatchString(d.Path) {
			t.Errorf("%s at %s is not named like the others", d.Name, d.Path)
		}
		if d.Summary == "" || strings.HasSuffix(d.Summary, ".") || len(d.Summary) > 90 {
			t.Errorf("%s: summary %q", d.Name, d.Summary)
		}
	}
}

// Actions are for keys and sessions, and every action that has a part in the
// control plane by now is asked for somewhere.
func TestActionsAreTheOnesOfKeys(t *testing.T) {
	used, known := map[keys.Action]bool{}, map[keys.Action]bool{}
	for r := range keys.Rules() {
		known[r.Action] = true
	}
	for _, a := range All() {
		d := a.Info()
		if known[d.Action] != (d.Auth == Key) || (d.Action != "") != (d.Auth == Key) {
			t.Errorf("%s: auth %q with action %q", d.Name, d.Auth, d.Action)
		}
		if !slices.Contains([]Auth{Anonymous, PollToken, Key, Host, Self}, d.Auth) {
			t.Errorf("%s: auth %q", d.Name, d.Auth)
		}
		used[d.Action] = true
	}
	var idle []string
	for r := range keys.Rules() {
		if !used[r.Action] {
			idle = append(idle, string(r.Action))
		}
	}
	same(t, "actions without an operation", idle, `
		compute:nodes:drain compute:nodes:revoke-identity compute:nodes:ssh-root
		agent:key:acknowledge agent:session:open`)
}

func TestDestructiveOperations(t *testing.T) {
	same(t, "destructive operations", names(func(d Def) bool { return d.Destructive }), `
		registration.approve-setup registration.factory-reset registration.delete
		boot.purge key.revoke operator.remove node.delete`)
	same(t, "what only an operator's session may do", names(func(d Def) bool { return d.Action == keys.CnSetupApprove }), "registration.approve-setup")
	same(t, "what only the host may do", names(func(d Def) bool { return d.Auth == Host }), `
		operator.add operator.password operator.totp operator.disable operator.remove store.backup`)
	same(t, "what anybody may ask", names(func(d Def) bool { return d.Auth == Anonymous }), "registration.register session.open")
	for _, a := range All() {
		if d := a.Info(); d.Destructive && !d.Mutates {
			t.Errorf("%s destroys and changes nothing", d.Name)
		}
	}
}

func TestMethods(t *testing.T) {
	same(t, "calls with a body that change nothing", names(func(d Def) bool { return !d.Mutates && d.Method != "GET" }), "registration.plan")
	for _, a := range All() {
		d := a.Info()
		_, body := a.In().FieldByName("Body")
		switch {
		case !slices.Contains([]string{"GET", "POST", "PUT", "DELETE"}, d.Method):
			t.Errorf("%s: method %s", d.Name, d.Method)
		case d.Method == "GET" && d.Mutates:
			t.Errorf("%s: a GET that changes something", d.Name)
		case (d.Method == "GET" || d.Method == "DELETE") && body:
			t.Errorf("%s: a %s with a body", d.Name, d.Method)
		case (a.Out() == nil) != (d.Stream != JSON):
			t.Errorf("%s: a stream that answers with a value, or the reverse", d.Name)
		}
		_, waits := a.In().FieldByName("LongPoll")
		if waits != d.Waits {
			t.Errorf("%s: waits, and does not say so, or the reverse", d.Name)
		}
	}
}

// machines reports whether a machine and no person calls the operation: its
// guard is an epoch or a token, not a version.
func machines(d Def) bool {
	action := string(d.Action)
	return d.Auth == PollToken || strings.HasPrefix(action, "agent:") || strings.HasPrefix(action, "booter:") || strings.HasPrefix(action, "setup:")
}

func TestMutationsEmbedChangeAndOutcome(t *testing.T) { // API-1
	for _, a := range All() {
		d := a.Info()
		first := d.Auth == Anonymous // there is no record yet, and nobody to name
		want := d.Mutates && !machines(d) && !first
		if got := embeds(a.In(), reflect.TypeFor[Change]()); got != want {
			t.Errorf("%s embeds Change: %t, want %t", d.Name, got, want)
		}
		if a.Out() == nil {
			continue
		}
		if got := embeds(a.Out(), reflect.TypeFor[Outcome]()); got != want {
			t.Errorf("%s embeds Outcome: %t, want %t", d.Name, got, want)
		}
	}
}

func embeds(t, part reflect.Type) bool {
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous && f.Type == part {
			return true
		}
	}
	return false
}

// A change names its target in the path, or in a body that must be given, or has
// only one.
func TestNoChangeHasAnImplicitTarget(t *testing.T) {
	same(t, "changes without a target in their path", names(func(d Def) bool { return d.Mutates && !strings.Contains(d.Path, "{") }), `
		registration.register registration.acknowledge registration.approve setup.announce
		booter.sightings booter.boots policy.set
		auto-approve.open auto-approve.close enroll-window.open enroll-window.close
		key.mint session.open session.close operator.add metal.enroll`)
	for _, a := range All() {
		for _, f := range Fields(a) {
			if strings.Contains(f.Name, "all") && a.Info().Mutates && f.Name != "allow" {
				t.Errorf("%s has a field %s", a.Info().Name, f.Name)
			}
		}
	}
}

func TestCodesAreThoseOfTheAPI(t *testing.T) { // API-3
	want := strings.Fields("ACCESS_DENIED CONFLICT INVALID_CONFIG INVALID_INPUT INVALID_STATE NOT_FOUND RATE_LIMITED UNAUTHENTICATED UNAVAILABLE UNSUPPORTED")
	if !slices.Equal(Codes(), want) {
		t.Errorf("%v", Codes())
	}
	for _, a := range All() {
		for _, c := range a.Info().Codes() {
			if !slices.Contains(want, c) {
				t.Errorf("%s: code %s", a.Info().Name, c)
			}
		}
	}
	for code, status := range map[string]int{"INVALID_INPUT": 400, "UNAUTHENTICATED": 401, "ACCESS_DENIED": 403, "NOT_FOUND": 404, "INVALID_STATE": 409, "CONFLICT": 409, "RATE_LIMITED": 429, "UNSUPPORTED": 501, "INVALID_CONFIG": 501, "UNAVAILABLE": 503, "": 500} {
		if Status(code) != status {
			t.Errorf("%q: %d, want %d", code, Status(code), status)
		}
	}
}

func TestBodyLimits(t *testing.T) {
	large := names(func(d Def) bool { return d.BodyLimit() == MaxSysinfoBody })
	same(t, "operations with 512 KiB", large, "registration.register registration.refresh setup.announce policy.set")
	for _, a := range All() {
		if n := a.Info().BodyLimit(); n < MaxBody || n > MaxSysinfoBody {
			t.Errorf("%s: %d bytes", a.Info().Name, n)
		}
	}
}
