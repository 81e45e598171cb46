package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/identity/keys"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

// TestPages writes the table as pages of the documentation.
func TestPages(t *testing.T) {
	statemachinetest.Golden(t, "../../docs/api/operations.md", operationsPage())
	statemachinetest.Golden(t, "../../docs/api/authorization.md", matrixPage())
}

func operationsPage() string {
	var b strings.Builder
	b.WriteString("# Operations\n\nGenerated from the table in cmd/api; do not edit.\n\n")
	fmt.Fprintf(&b, "%d operations. Who may call which is in [authorization.md](authorization.md). The same table is served as\n", len(All()))
	b.WriteString("OpenAPI at `/openapi.json` (3.1) and `/openapi-3.0.json`. Errors are problems (RFC 9457) with one of the codes listed.\n")
	axis := ""
	for _, a := range All() {
		d := a.Info()
		if d.Axis() != axis {
			axis = d.Axis()
			fmt.Fprintf(&b, "\n## %s\n", axis)
		}
		operation(&b, a)
	}
	return b.String()
}

func operation(b *strings.Builder, a Any) {
	d := a.Info()
	fmt.Fprintf(b, "\n### %s\n\n`%s %s`\n\n%s.%s\n", d.Name, d.Method, d.Path, d.Summary, marks(d))
	fmt.Fprintf(b, "\nCodes: %s.\n", strings.Join(d.Codes(), ", "))
	if fields := Fields(a); len(fields) > 0 {
		b.WriteString("\n| Field | In | Type | Meaning |\n| --- | --- | --- | --- |\n")
		for _, f := range fields {
			name := f.Name
			if f.Required {
				name += " (required)"
			}
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", name, f.In, typeName(f), strings.ReplaceAll(f.Doc, "|", "\\|"))
		}
	}
}

// marks says what a caller should know before calling.
func marks(d Def) string {
	var m []string
	switch {
	case d.Destructive:
		m = append(m, "**Destructive.**")
	case !d.Mutates && d.Method != "GET":
		m = append(m, "Changes nothing.")
	}
	if d.Waits {
		m = append(m, "Long poll.")
	}
	if d.Stream != JSON {
		m = append(m, "Answers with a stream, "+string(d.Stream)+".")
	}
	if d.Limit > MaxBody {
		m = append(m, fmt.Sprintf("Body up to %d KiB.", d.Limit>>10))
	}
	return strings.Join(append([]string{""}, m...), " ")
}

func typeName(f Field) string {
	name := string(f.Shape)
	switch {
	case f.Secret && f.Shape == String:
		name = "secret"
	case f.Enum != nil:
		name = strings.Join(f.Enum, ", ")
	case f.Shape == List:
		name = "list of " + string(f.Elem)
	case f.Shape == Map:
		name = "map to " + string(f.Elem)
	}
	if f.Fields != nil {
		var inner []string
		for _, sub := range f.Fields {
			inner = append(inner, sub.Name)
		}
		name += ": " + strings.Join(inner, ", ")
	}
	return name
}

// callers are the columns of the matrix: those of keys, then who has neither key
// nor session.
var callers = []string{"operator", "full", "read_only", "audit_only", "agent", "booter", "ur_enroll", "poll token", "anonymous", "host"}

func matrixPage() string {
	var b strings.Builder
	b.WriteString("# Who may call what\n\nGenerated from the tables in cmd/api and identity/keys; do not edit.\n\n")
	b.WriteString("\"own\" is: about its own machine, session or key alone. A session that was opened with a key may do what both may.\n\n")
	b.WriteString("| Operation | Action | " + strings.Join(callers, " | ") + " |\n|" + strings.Repeat(" --- |", len(callers)+2) + "\n")
	for _, a := range All() {
		d := a.Info()
		fmt.Fprintf(&b, "| %s | %s |", d.Name, d.Action)
		for _, c := range callers {
			fmt.Fprintf(&b, " %s |", may(d, c))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// may is a cell: yes, own or nothing.
func may(d Def, caller string) string {
	holds := slices.Contains(holdersOf(d.Action), keys.Scope(caller))
	switch {
	case d.Auth == Anonymous:
		return "yes"
	case d.Auth == Key && holds && caller == "agent", d.Auth == PollToken && caller == "poll token":
		return "own"
	case d.Auth == Self && slices.Contains(callers[:7], caller):
		return "own"
	case d.Auth == Key && holds, d.Auth == Host && caller == "host":
		return "yes"
	}
	return ""
}

func holdersOf(a keys.Action) []keys.Scope {
	for r := range keys.Rules() {
		if r.Action == a {
			return r.Holders
		}
	}
	return nil
}

// The gate to a machine's disks has one door (SET-1, SET-2), and no operator
// drains a bundle (SET-6).
func TestTheMatrixAroundSetup(t *testing.T) {
	for _, c := range []struct{ op, who string }{
		{"registration.approve-setup", "operator"},
		{"setup.drain", "full ur_enroll"},
		{"setup.complete", "full ur_enroll"},
		{"booter.snapshot", "full booter"},
		{"audit.rows", "operator full audit_only"},
		{"registration.list", "operator full read_only"},
		{"registration.refresh", "full agent"},
		{"operator.add", "host"},
		{"session.show", "operator full read_only audit_only agent booter ur_enroll"},
		{"enroll-window.open", "operator full"},
	} {
		i := slices.IndexFunc(All(), func(a Any) bool { return a.Info().Name == c.op })
		var got []string
		for _, who := range callers {
			if may(All()[i].Info(), who) != "" {
				got = append(got, who)
			}
		}
		same(t, c.op, got, c.who)
	}
}
