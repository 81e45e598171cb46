package keys

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// matrix is the table of ID-5, SET-2, SET-16 and API-4 as the requirements have
// it, written by hand: + may, - may not, o on its own node only. It is never
// derived from the table under test.
const matrix = `
action                              operator full read_only audit_only agent booter ur_enroll
compute:nodes:read                         +    +         +          -     -      -         -
compute:nodes:cordon                       +    +         -          -     -      -         -
compute:nodes:drain                        +    +         -          -     -      -         -
compute:nodes:update                       +    +         -          -     -      -         -
compute:nodes:provision                    +    +         -          -     -      -         -
compute:nodes:power                        +    +         -          -     -      -         -
compute:nodes:revoke-identity              +    +         -          -     -      -         -
compute:nodes:delete                       +    +         -          -     -      -         -
compute:nodes:ssh-root                     +    +         -          -     -      -         -
compute:sites:read                         +    +         +          -     -      -         -
CnSetupApprove                             +    -         -          -     -      -         -
compute:registrations:read                 +    +         +          -     -      -         -
compute:registrations:approve              +    +         -          -     -      -         -
compute:registrations:update               +    +         -          -     -      -         -
compute:registrations:disable              +    +         -          -     -      -         -
compute:registrations:factory-reset        +    +         -          -     -      -         -
compute:registrations:delete               +    +         -          -     -      -         -
compute:windows:read                       +    +         +          -     -      -         -
compute:windows:auto-approve               +    +         -          -     -      -         -
compute:windows:enroll                     +    +         -          -     -      -         -
compute:boot:read                          +    +         +          -     -      -         -
compute:boot:enroll                        +    +         -          -     -      -         -
compute:boot:decommission                  +    +         -          -     -      -         -
compute:boot:reactivate                    +    +         -          -     -      -         -
compute:boot:mode                          +    +         -          -     -      -         -
compute:boot:purge                         +    +         -          -     -      -         -
compute:boot-policy:read                   +    +         +          -     -      -         -
compute:boot-policy:update                 +    +         -          -     -      -         -
compute:keys:read                          +    +         +          -     -      -         -
compute:keys:mint                          +    +         -          -     -      -         -
compute:keys:revoke                        +    +         -          -     -      -         -
compute:audit:read                         +    +         -          +     -      -         -
compute:operators:read                     +    +         +          -     -      -         -
compute:events:read                        +    +         +          -     -      -         -
agent:registration:refresh                 -    +         -          -     o      -         -
agent:key:acknowledge                      -    +         -          -     o      -         -
agent:session:open                         -    +         -          -     o      -         -
booter:snapshot:follow                     -    +         -          -     -      +         -
booter:sightings:report                    -    +         -          -     -      +         -
booter:boots:report                        -    +         -          -     -      +         -
setup:announce:relay                       -    +         -          -     -      -         +
setup:approvals:poll                       -    +         -          -     -      -         +
setup:bundle:drain                         -    +         -          -     -      -         +
setup:outcome:report                       -    +         -          -     -      -         +
`

// at names a cell of the matrix.
type at struct {
	action Action
	scope  Scope
}

// cells yields the matrix, cell by cell.
func cells(yield func(at, string) bool) {
	lines := strings.Split(strings.TrimSpace(matrix), "\n")
	columns := strings.Fields(lines[0])[1:]
	for _, line := range lines[1:] {
		f := strings.Fields(line)
		for i, column := range columns {
			if !yield(at{Action(f[0]), Scope(column)}, f[i+1]) {
				return
			}
		}
	}
}

// cell looks one cell up.
func cell(a Action, s Scope) string {
	for at, c := range cells {
		if at.action == a && at.scope == s {
			return c
		}
	}
	return ""
}

// caller makes whom a column of the matrix stands for.
func caller(s Scope) Caller {
	switch s {
	case Operator:
		return Caller{Operator: "ann"}
	case Agent:
		return Caller{Scope: Agent, Node: "node_own"}
	}
	return Caller{Scope: s}
}

func TestEveryCell(t *testing.T) {
	seen := 0
	for at, want := range cells {
		action, scope := at.action, at.scope
		seen++
		for _, node := range []string{"node_own", "node_other", ""} {
			err := caller(scope).Authorize(action, node)
			allowed := want == "+" || want == "o" && node == "node_own"
			if (err == nil) != allowed {
				t.Errorf("%s, %s, on %q: %v; the matrix says %s", action, scope, node, err, want)
			}
			denied, ok := errors.AsType[*Denied](err)
			if err == nil {
				continue
			}
			if !ok || denied.Code() != "ACCESS_DENIED" || denied.Action != action || denied.Caller != caller(scope) {
				t.Errorf("%s, %s: denied as %#v", action, scope, err)
				continue
			}
			if denied.OtherNode != (want == "o") {
				t.Errorf("%s, %s: OtherNode is %t", action, scope, denied.OtherNode)
			}
			if got, want := denied.Holders, holdersOf(action); !slices.Equal(got, want) {
				t.Errorf("%s: holders %v, want %v", action, got, want)
			}
		}
	}
	if seen != 44*7 {
		t.Errorf("%d cells, want %d", seen, 44*7)
	}
}

// holdersOf reads a row of the matrix.
func holdersOf(a Action) []Scope {
	var held []Scope
	for at, c := range cells {
		if at.action == a && c != "-" {
			held = append(held, at.scope)
		}
	}
	return held
}

func TestTheTableHasTheMatrixsActions(t *testing.T) {
	got := map[Action]int{}
	for r := range Rules() {
		got[r.Action]++
		if !slices.Equal(r.Holders, holdersOf(r.Action)) || r.Req == "" {
			t.Errorf("%+v, want holders %v and a requirement", r, holdersOf(r.Action))
		}
		r.Holders[0] = "changed" // a copy: the next pass must not see it
	}
	for at := range cells {
		if got[at.action] != 1 {
			t.Errorf("%s is in the table %d times", at.action, got[at.action])
		}
	}
	if len(got) != 44 {
		t.Errorf("%d actions, the matrix has 44", len(got))
	}
	for r := range Rules() {
		if slices.Contains(r.Holders, "changed") {
			t.Fatal("Rules hands out the table itself")
		}
		break
	}
}

// SET-2: no key may approve a setup, nor a session opened with one.
func TestOnlyASignedInOperatorApprovesASetup(t *testing.T) {
	for _, s := range Scopes() {
		for _, c := range []Caller{{Scope: s}, {Scope: s, Node: "node_own"}, {Scope: s, Operator: "ann"}, {Scope: s, Operator: "ann", Node: "node_own"}} {
			if err := c.Authorize(CnSetupApprove, "node_own"); err == nil {
				t.Errorf("%+v approves a setup", c)
			}
		}
	}
	if err := (Caller{Operator: "ann"}).Authorize(CnSetupApprove, "node_own"); err != nil {
		t.Error(err)
	}
}

// A session opened with a key may do what both the operator and the key may.
func TestSessionKeepsItsKeysDenials(t *testing.T) {
	for _, opened := range Scopes() {
		for at, want := range cells {
			action := at.action
			if at.scope != opened {
				continue
			}
			err := Caller{Operator: "ann", Scope: opened}.Authorize(action, "node_own")
			if both := want == "+" && cell(action, Operator) == "+"; (err == nil) != both {
				t.Errorf("session opened with %s, %s: %v, want allowed %t", opened, action, err, both)
			}
		}
	}
}

func TestWhoIsNobodyMayDoNothing(t *testing.T) {
	for at := range cells {
		a := at.action
		for _, c := range []Caller{{}, {Scope: "root"}, {Scope: Operator}, {Scope: "FULL"}, {Node: "node_own"}, {Operator: "ann", Scope: "root"}, {Operator: "ann", Scope: Operator}, {Scope: Agent}} {
			if err := c.Authorize(a, "node_own"); err == nil {
				t.Errorf("%+v may do %s", c, a)
			}
			if err := c.Authorize(a, ""); err == nil {
				t.Errorf("%+v may do %s on no node", c, a)
			}
		}
	}
}

func TestUnknownActionsAreDenied(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Action(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "compute:nodes:Read", "compute:nodes", "cnsetupapprove"})).Draw(t, "action"))
		if cell(a, Full) != "" {
			return // drew a real one
		}
		for _, s := range append(Scopes(), Operator) {
			err := caller(s).Authorize(a, "node_own")
			denied, ok := errors.AsType[*Denied](err)
			if !ok || len(denied.Holders) != 0 || !strings.Contains(err.Error(), "no such action") {
				t.Fatalf("%s may %q: %v", s, a, err)
			}
		}
	})
}

func TestDeniedSaysWhoMay(t *testing.T) {
	for _, c := range []struct {
		caller Caller
		action Action
		want   string
	}{
		{Caller{Scope: Full}, CnSetupApprove, `keys: a key of scope "full" may not do CnSetupApprove: held by operator (SET-2)`},
		{Caller{Scope: Full, Operator: "ann"}, CnSetupApprove, `keys: an operator's session opened with a key of scope "full" may not do CnSetupApprove: held by operator (SET-2)`},
		{Caller{Operator: "ann"}, SetupDrain, `keys: an operator's session may not do setup:bundle:drain: held by full, ur_enroll (SET-16)`},
		{Caller{Scope: Booter}, WindowsEnroll, `keys: a key of scope "booter" may not do compute:windows:enroll: held by operator, full (REG-10)`},
		{Caller{}, SetupDrain, `keys: a caller that proved nothing may not do setup:bundle:drain: authenticate first (SET-16)`},
		{Caller{Operator: "ann"}, "paint", `keys: an operator's session may not "paint": there is no such action; Rules lists all`},
		{Caller{Scope: Agent, Node: "node_own"}, AgentRefresh, `keys: a key of scope "agent" may do agent:registration:refresh on its own node only (REG-15)`},
	} {
		if err := c.caller.Authorize(c.action, "node_other"); err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func TestSession(t *testing.T) { // ID-8
	ends := noon.Add(time.Hour)
	for _, c := range []struct {
		name    string
		session Session
		at      time.Time
		want    Caller
		why     string
	}{
		{"signed in", Session{Operator: "ann", MFA: true, Ends: ends}, noon, Caller{Operator: "ann"}, ""},
		{"opened with a key", Session{Operator: "ann", Ends: ends, OpenedWith: Full}, noon, Caller{Operator: "ann", Scope: Full}, ""},
		{"last instant", Session{Operator: "ann", Ends: ends}, ends.Add(-1), Caller{Operator: "ann"}, ""},
		{"ended", Session{Operator: "ann", Ends: ends}, ends, Caller{}, "has ended"},
		{"no end is ended", Session{Operator: "ann"}, noon, Caller{}, "has ended"},
		{"nobody's", Session{Ends: ends}, noon, Caller{}, "no operator"},
	} {
		got, err := c.session.Caller(c.at)
		if got != c.want || (err != nil) != (c.why != "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if bad, ok := errors.AsType[*Unauthenticated](err); err != nil && (!ok || bad.Code() != "UNAUTHENTICATED") {
			t.Errorf("%s: %#v", c.name, err)
		}
	}
}

func BenchmarkAuthorizeLastRow(b *testing.B) {
	c := Caller{Scope: UREnroll}
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Authorize(SetupReport, "node_own"); err != nil {
			b.Fatal(err)
		}
	}
}
