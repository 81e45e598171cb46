package statemachine

import (
	"fmt"
	"slices"
	"strings"
)

// Change is one difference between two tables that a record or a caller can
// notice: reasons and meanings are for people and do not count.
type Change[S, E ~string] struct {
	State S
	On    E      // empty where the state itself changed
	When  string // the cell's condition, as WhenNames has it
	Old   string // what was; empty for what the old table does not have
	New   string // what is; empty for what is gone
}

// Strands reports whether a state is gone that records may be in. The new
// table refuses them every event and leaves them alone (EDGE-18), so they must
// be moved before it serves. In an absent state there are none.
func (c Change[S, E]) Strands() bool {
	return c.On == "" && c.New == "" && !strings.HasPrefix(c.Old, Absent.String())
}

// String is one line: where, what was, and what is.
func (c Change[S, E]) String() string {
	where := string(c.State)
	if c.On != "" {
		where = fmt.Sprintf("%s, %s, %s", c.State, c.On, c.When)
	}
	return fmt.Sprintf("%s: %q, now %q", where, c.Old, c.New)
}

// Diff lists what differs: states and then cells in the old table's order, and
// after them what was added.
// It compares decided cells, not rules: a default written out is no change,
// and a cell that a new guard splits is gone while its parts are new. Guards
// and fields go by name. The cells of a state that is new or gone are left out:
// one line says it.
func Diff[S, E ~string](old, new *Table[S, E]) (out []Change[S, E]) {
	places, was := old.facts()
	later, is := new.facts()
	for _, at := range append(places, slices.DeleteFunc(later, func(at Change[S, E]) bool { return was[at] != "" })...) {
		c := at
		c.Old, c.New = was[at], is[at]
		if c.Old != c.New && (c.On == "" || old.Knows(c.State) && new.Knows(c.State)) {
			out = append(out, c)
		}
	}
	return out
}

// facts are a table as text, in its order: what each state is, and what each
// cell decides. Equal text is equal meaning; none is empty.
func (t *Table[S, E]) facts() (places []Change[S, E], text map[Change[S, E]]string) {
	text = map[Change[S, E]]string{}
	for _, st := range t.spec.States {
		at := Change[S, E]{State: st.Name}
		places, text[at] = append(places, at), t.nature(st)
	}
	for c := range t.Cells() {
		at := Change[S, E]{State: c.From, On: c.On, When: t.WhenNames(c.When)}
		places, text[at] = append(places, at), t.decision(c)
	}
	return places, text
}

// nature is what a state is. Its kind comes first.
func (t *Table[S, E]) nature(st State[S, E]) string {
	text := fmt.Sprintf("%s, drives %s, holds {%s}", st.Kind, st.Drives, t.FieldNames(st.Holds))
	if st.Expire != "" {
		text += fmt.Sprintf(", expires by %s after %s", st.Expire, st.Deadline)
	}
	if slices.Contains(t.spec.Start, st.Name) {
		text += ", start"
	}
	return text
}

// decision is what a cell does, and who asks for it.
func (t *Table[S, E]) decision(c Cell[S, E]) string {
	text, req := "to "+string(c.To), t.spec.Rules[c.Rule].Req
	if c.Refused != nil {
		text = c.Refused.Code()
	}
	for _, part := range []struct {
		says bool
		what string
	}{
		{t.Reports(c.On), "as a report"},
		{c.Ends != "", "ends as " + string(c.Ends)},
		{c.Opens != 0, "opens " + c.Opens.String()},
		{c.Forgets, "forgets"},
		{req != "", "by " + req},
	} {
		if part.says {
			text += ", " + part.what
		}
	}
	return text
}
