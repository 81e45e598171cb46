package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
)

// A column is one of a list's, by the JSON path of what stands in it.
type column struct {
	head, path string
	wide       bool // only with -o wide
}

// columns are the lists' tables.
var columns = map[reflect.Type][]column{
	reflect.TypeFor[api.Registration](): {
		{"SERVER", "server_id", false}, {"STATE", "state", false}, {"NODE", "node_id", false}, {"SEEN", "last_seen", false}, {"ERROR", "last_setup_error", false},
		{"VERSION", "version", true}, {"IMAGE", "image", true}, {"MACS", "inventory.macs", true}, {"DEADLINE", "setup_deadline", true},
	},
	reflect.TypeFor[api.BootRecord](): {
		{"MAC", "mac", false}, {"STATE", "state", false}, {"MODE", "mode", false}, {"ADDRESS", "address", false}, {"IMAGE", "image", false}, {"NODE", "node_id", false},
		{"SERVER", "server_id", true}, {"CANDIDATE-FOR", "candidate_for", true}, {"VERSION", "version", true}, {"SEEN", "last_seen", true},
	},
	reflect.TypeFor[api.Sighting](): {
		{"MAC", "mac", false}, {"SEEN", "last_seen", false}, {"COUNT", "count", false}, {"PRODUCT", "product_uuid", false}, {"CANDIDATE-FOR", "candidate_for", false},
		{"ARCH", "arch", true}, {"FIRST", "first_seen", true}, {"RELAYS", "relays", true}, {"BOOTERS", "booters", true},
	},
	reflect.TypeFor[api.Node](): {
		{"NODE", "id", false}, {"REGISTRATION", "states.registration", false}, {"PROVISION", "states.provision", false}, {"SCHEDULING", "states.scheduling", false},
		{"LINK", "states.connectivity", false}, {"KEPT AWAY BY", "scheduling.reasons", false},
		{"RUN", "states.run", true}, {"MAINTENANCE", "scheduling.maintenance_reason", true}, {"SERVER", "claims.server_id", true}, {"MACS", "macs", true}, {"VERSION", "version", true}, {"DELETED", "deleted_at", true},
	},
	reflect.TypeFor[api.KeyView](): {
		{"KEY", "id", false}, {"SCOPE", "scope", false}, {"NODE", "node_id", false}, {"CREATED", "created", false}, {"USED", "consumed", false}, {"REVOKED", "revoked", false}, {"TENANT", "tenant", true},
	},
	reflect.TypeFor[api.SessionView](): {
		{"SESSION", "id", false}, {"OPERATOR", "operator", false}, {"STARTED", "started", false}, {"ENDS", "ends", false}, {"SECOND-FACTOR", "mfa", false}, {"YOURS", "current", false}, {"OPENED-WITH", "opened_with", true},
	},
	reflect.TypeFor[api.OperatorView](): {
		{"OPERATOR", "name", false}, {"SECOND-FACTOR", "totp", false}, {"DISABLED", "disabled", false}, {"SEEN", "last_seen", false}, {"CREATED", "created", true}, {"VERSION", "version", true},
	},
	reflect.TypeFor[api.Event](): {
		{"TIME", "time", false}, {"TYPE", "type", false}, {"SUBJECT", "subject", false}, {"ACTOR", "actor", false}, {"CURSOR", "cursor", true}, {"BODY", "body", true},
	},
	reflect.TypeFor[api.PowerCommand](): {
		{"COMMAND", "id", false}, {"ACTION", "action", false}, {"DONE", "done", false}, {"RESULT", "result", false}, {"EXPIRES", "expires", true},
	},
	reflect.TypeFor[api.MediaSlot](): {
		{"SLOT", "id", false}, {"TYPES", "types", false}, {"TAKES-URL", "takes_url", false}, {"INSERTED", "inserted", false}, {"IMAGE", "image", false},
	},
	reflect.TypeFor[api.Window](): {
		{"WINDOW", "kind", false}, {"OPEN", "open", false}, {"ENDS", "ends", false}, {"SLOTS", "slots", false},
	},
}

// table prints items under their columns.
func (v *verb) table(items []json.RawMessage) error {
	if len(items) == 0 {
		v.note("none")
		return nil
	}
	cols := v.columns()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	var heads []string
	for _, c := range cols {
		heads = append(heads, c.head)
	}
	fmt.Fprintln(w, strings.Join(heads, "\t"))
	for _, item := range items {
		fmt.Fprintln(w, strings.Join(v.row(cols, item), "\t"))
	}
	_ = w.Flush()
	return v.print(v.heading(trimmed(b.String())))
}

// trimmed is text without blanks at the ends of its lines.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func (v *verb) columns() (out []column) {
	for _, c := range columns[v.shape.item] {
		if !c.wide || v.given.output == "wide" {
			out = append(out, c)
		}
	}
	return out
}

func (v *verb) row(cols []column, item json.RawMessage) (cells []string) {
	var x any
	_ = json.Unmarshal(item, &x) // was part of JSON
	for _, c := range cols {
		cells = append(cells, cmp.Or(v.cell(pick(x, c.path)), "-"))
	}
	return cells
}

// cell is a value in a table: in one line, without what a terminal obeys.
func (v *verb) cell(x any) string {
	switch x := x.(type) {
	case nil:
		return ""
	case bool:
		if x {
			return "yes"
		}
		return "no"
	case string:
		if t, err := time.Parse(time.RFC3339, x); err == nil && v.given.output != "wide" {
			return v.age(t)
		}
		return clean(x)
	case float64:
		return strings.TrimSuffix(fmt.Sprintf("%.0f", x), ".")
	case []any:
		var parts []string
		for _, e := range x {
			parts = append(parts, v.cell(e))
		}
		return strings.Join(parts, ",")
	}
	return clean(string(must(x)))
}

// age is a time as people read it in a list: how long ago, or in how long.
func (a *app) age(t time.Time) string {
	d := a.Now().Sub(t)
	if d < 0 {
		return "in " + short(-d)
	}
	return short(d) + " ago"
}

func short(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
