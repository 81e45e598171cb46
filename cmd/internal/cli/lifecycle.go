package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/render"
	"github.com/ingotmetal/ingot/statemachine/run"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// A row is a cell of a table in words.
type row struct {
	From    string   `json:"from"`
	On      string   `json:"on"`
	When    string   `json:"when,omitempty"`
	To      string   `json:"to,omitempty"`
	Stays   bool     `json:"stays,omitempty"`
	Refused string   `json:"refused,omitempty"`
	Why     string   `json:"why,omitempty"`
	Req     string   `json:"requirement,omitempty"`
	Legal   []string `json:"legal,omitempty"`
}

// A state is one of a table's in words.
type state struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Deadline string `json:"deadline,omitempty"`
	Drives   string `json:"drives"`
	Means    string `json:"means"`
}

// An axis is a table whose types are forgotten.
type axis struct {
	name, mermaid string
	states        []state
	events        []string
	rows          []row
	legal         map[string][]string
	pathTo        func(from, to string) ([]row, bool)
}

// axes are the tables that decide (the authority is theirs, not a text's).
func axes() []axis {
	return []axis{
		axisOf("registration", registration.Table), axisOf("boot", netboot.Table), axisOf("provision", provision.Table),
		axisOf("scheduling", schedule.Table), axisOf("maintenance", schedule.ServiceTable), axisOf("run", run.Table), axisOf("retirement", run.Retirement),
	}
}

func axisOf[S, E ~string](name string, t *sm.Table[S, E]) axis {
	x := axis{name: name, mermaid: render.Mermaid(t), legal: map[string][]string{}}
	rules := t.Spec().Rules
	for s := range t.States() {
		d := ""
		if s.Deadline > 0 {
			d = s.Deadline.String()
		}
		x.states = append(x.states, state{string(s.Name), s.Kind.String(), d, s.Drives.String(), s.Means})
		x.legal[string(s.Name)] = t.Legal(s.Name)
	}
	for e := range t.Events() {
		x.events = append(x.events, string(e))
	}
	for c := range t.Cells() {
		x.rows = append(x.rows, rowOf(t, rules, c))
	}
	x.pathTo = func(from, to string) ([]row, bool) {
		cells, ok := t.Path(sm.At[S, E]{State: S(from)}, S(to))
		var out []row
		for _, c := range cells {
			out = append(out, rowOf(t, rules, c))
		}
		return out, ok
	}
	return x
}

func rowOf[S, E ~string](t *sm.Table[S, E], rules []sm.Rule[S, E], c sm.Cell[S, E]) row {
	r := row{From: string(c.From), On: string(c.On), When: t.WhenNames(c.When), Stays: c.Stays, Why: rules[c.Rule].Why, Req: rules[c.Rule].Req}
	switch {
	case c.Refused != nil:
		r.Refused, r.Why, r.Req, r.Legal = c.Refused.Code(), c.Refused.Why, c.Refused.Req, c.Refused.Legal
	case !c.Stays:
		r.To = string(c.To)
	}
	return r
}

// findAxis is the table of a name, also as a node's view calls it.
func findAxis(name string) (axis, error) {
	all := axes()
	var known []string
	for _, x := range all {
		if x.name == name {
			return x, nil
		}
		known = append(known, x.name)
	}
	return axis{}, usage("there is no axis %s", quote(name)).then("known: %s", strings.Join(known, ", "))
}

func (x axis) mustKnow(what, word string, known []string) error {
	if slices.Contains(known, word) {
		return nil
	}
	return usage("%s has no %s %s", x.name, what, quote(word)).then("known: %s", strings.Join(known, ", "))
}

func (x axis) stateNames() (out []string) {
	for _, s := range x.states {
		out = append(out, s.Name)
	}
	return out
}

// lifecycleCommand answers from the tables, without a server.
func (a *app) lifecycleCommand() *cobra.Command {
	c := &cobra.Command{Use: "lifecycle", Short: "What the tables of states decide, without asking a server", RunE: a.bare, Args: a.noVerb}
	c.AddCommand(a.lifecycleShow(), a.lifecycleWhy(), a.lifecyclePath())
	for _, sub := range c.Commands() {
		sub.ValidArgsFunction = completeLifecycle
	}
	return c
}

func (a *app) lifecycleShow() *cobra.Command {
	mermaid := false
	c := a.leaf("show AXIS", "Show an axis: its states and moves", "ingot lifecycle show registration", nil)
	c.Args = exactly(1)
	c.Flags().BoolVar(&mermaid, "mermaid", false, "as a Mermaid diagram")
	c.RunE = func(c *cobra.Command, words []string) error {
		a.started = true
		if err := a.begin(c); err != nil {
			return err
		}
		x, err := findAxis(words[0])
		switch {
		case err != nil:
			return err
		case mermaid:
			return a.print(x.mermaid)
		case a.structured():
			return a.value(c.Context(), "lifecycle.show", must(map[string]any{"axis": x.name, "states": x.states, "events": x.events, "rules": x.rows}))
		}
		return a.axisText(x)
	}
	return c
}

func (a *app) axisText(x axis) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "STATE\tKIND\tDEADLINE\tMEANS")
	for _, s := range x.states {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Name, s.Kind, cmp.Or(s.Deadline, "-"), s.Means)
	}
	fmt.Fprintln(w, "\nFROM\tON\tTO\tWHEN")
	for _, r := range x.rows {
		if r.To != "" {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.From, r.On, r.To, r.When)
		}
	}
	_ = w.Flush()
	return a.print(a.heading(trimmed(b.String())))
}

func (a *app) lifecycleWhy() *cobra.Command {
	c := a.leaf("why AXIS STATE EVENT", "Show what a state does with an event, and why", "ingot lifecycle why registration pending approve-setup", func(c *cobra.Command, words []string) error {
		x, err := findAxis(words[0])
		if err == nil {
			err = x.mustKnow("state", words[1], x.stateNames())
		}
		if err == nil {
			err = x.mustKnow("event", words[2], x.events)
		}
		if err != nil {
			return err
		}
		rows := slices.DeleteFunc(x.rows, func(r row) bool { return r.From != words[1] || r.On != words[2] })
		if a.structured() {
			return a.value(c.Context(), "lifecycle.why", must(map[string]any{"axis": x.name, "rules": rows, "legal": x.legal[words[1]]}))
		}
		return a.whyText(x, rows, words[1])
	})
	c.Args = exactly(3)
	return c
}

func (a *app) whyText(x axis, rows []row, from string) error {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.String() + "\n")
	}
	fmt.Fprintf(&b, "legal in %s: %s\n", from, listOr(x.legal[from], "nothing"))
	return a.print(b.String())
}

// String is a cell in a line.
func (r row) String() string {
	var s string
	switch {
	case r.Refused != "":
		s = r.On + " is refused in " + r.From + " with " + r.Refused
	case r.Stays:
		s = r.On + " is accepted in " + r.From + ", which stays"
	default:
		s = r.On + " takes " + r.From + " to " + r.To
	}
	if r.When != "" && r.When != "always" {
		s += ", when " + r.When
	}
	if r.Why != "" {
		s += ": " + r.Why
	}
	if r.Req != "" {
		s += " (" + r.Req + ")"
	}
	return s
}

func (a *app) lifecyclePath() *cobra.Command {
	c := a.leaf("path AXIS FROM TO", "Show a shortest way between two states", "ingot lifecycle path registration pending setting_up", func(c *cobra.Command, words []string) error {
		x, err := findAxis(words[0])
		for _, s := range words[1:] {
			if err == nil {
				err = x.mustKnow("state", s, x.stateNames())
			}
		}
		if err != nil {
			return err
		}
		steps, ok := x.pathTo(words[1], words[2])
		if !ok {
			return &Refusal{"no events lead from " + words[1] + " to " + words[2], "ingot lifecycle show " + x.name, "NOT_FOUND"}
		}
		if a.structured() {
			return a.value(c.Context(), "lifecycle.path", must(map[string]any{"axis": x.name, "steps": append([]row{}, steps...)}))
		}
		var b strings.Builder
		for i, r := range steps {
			fmt.Fprintf(&b, "%d. %s\n", i+1, r)
		}
		if len(steps) == 0 {
			b.WriteString("it is there already\n")
		}
		return a.print(b.String())
	})
	c.Args = exactly(3)
	return c
}
