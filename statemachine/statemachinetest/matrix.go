package statemachinetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/statemachine"
)

// Row is one line of a matrix, written by hand from the requirements:
//
//	{"off stuck", "press", "powered, not locked", "starting", "PSU-1"},
//
// Its columns are
//
//   - the states it speaks of, separated by spaces; "*" is every state and
//     "-name" takes one away, as in "* -off";
//   - the events, separated likewise;
//   - the guards that must hold and, after "not", those that must not,
//     separated by commas; empty is always;
//   - what must happen: a state to move to, "stay", or the code of a refusal
//     such as "INVALID_STATE";
//   - the requirement that the table must name there; it may be left out where
//     the table names none.
//
// Names are plain strings, the wire names, so that a renamed constant shows.
type Row [5]string

// Stay is the outcome of a Row whose event is accepted without a move.
const Stay = "stay"

// Matrix compares table with the rows and reports every difference. Every
// state, event and valuation of the guards, of which the table's cell or a row
// makes use, must be decided by exactly one row, and as the row says. It logs
// the table's size.
func Matrix[S, E ~string](t testing.TB, table *statemachine.Table[S, E], rows []Row) {
	t.Helper()
	n := table.Size()
	t.Logf("%s: %d states x %d events = %d pairs, %d cells under guards, %d pairs decided by default; %d expected rows",
		table.Name(), n.States, n.Events, n.Pairs, n.Cells, n.Default, len(rows))
	for _, line := range Diff(table, rows) {
		t.Error(line)
	}
}

// Diff is Matrix for those who want the differences: one line each, in the
// order of rows (what is wrong with the row itself), then of the table.
func Diff[S, E ~string](table *statemachine.Table[S, E], rows []Row) []string {
	d := &differ[S, E]{table: table, spec: table.Spec()}
	for n, row := range rows {
		d.read(n, row)
	}
	for from, on := range Pairs(table) {
		d.pair(from, on)
	}
	for n, row := range rows {
		if d.rows[n].good && !d.rows[n].used {
			d.bad("%s: no valuation reaches this row", row.name(n))
		}
	}
	return d.out
}

func (r Row) name(n int) string { return fmt.Sprintf("row %d {%s}", n, strings.Join(r[:], " | ")) }

// line is a Row that was understood; used, once some valuation came to it.
type line struct {
	states, events []string
	when           statemachine.When
	want, req      string
	good, used     bool
}

// differ compares, and gathers what differs. It goes on after a difference: a
// matrix and a table are mended together.
type differ[S, E ~string] struct {
	table *statemachine.Table[S, E]
	spec  statemachine.Spec[S, E]
	rows  []line
	out   []string
}

func (d *differ[S, E]) bad(format string, a ...any) { d.out = append(d.out, fmt.Sprintf(format, a...)) }

// read understands one row. What it cannot understand is a difference.
func (d *differ[S, E]) read(n int, row Row) {
	var states, events []string
	for st := range d.table.States() {
		states = append(states, string(st.Name))
	}
	for on := range d.table.Events() {
		events = append(events, string(on))
	}
	l := line{want: row[3], req: row[4]}
	var errs [4]error
	l.states, errs[0] = choose("state", row[0], states)
	l.events, errs[1] = choose("event", row[1], events)
	l.when, errs[2] = parseWhen(row[2], d.spec.Guards)
	if l.want != Stay && !slices.Contains(states, l.want) && strings.ToUpper(l.want) != l.want || l.want == "" {
		errs[3] = fmt.Errorf("%q is no state, no code and not %q", l.want, Stay)
	}
	if err := errors.Join(errs[:]...); err != nil {
		d.bad("%s: %s", row.name(n), strings.ReplaceAll(err.Error(), "\n", "; "))
	} else {
		l.good = true
	}
	d.rows = append(d.rows, l)
}

// choose reads a list of names: "a b", "*", "* -a".
func choose(what, text string, all []string) ([]string, error) {
	var out []string
	for word := range strings.FieldsSeq(text) {
		name, without := strings.CutPrefix(word, "-")
		switch {
		case word == "*":
			out = append(out, all...)
		case !slices.Contains(all, name):
			return nil, fmt.Errorf("there is no %s %q", what, name)
		case without:
			out = slices.DeleteFunc(out, func(s string) bool { return s == name })
		default:
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("it names no %s", what)
	}
	return out, nil
}

// parseWhen reads a condition: "a, not b". Empty is always, as in a table.
func parseWhen(text string, guards []string) (w statemachine.When, err error) {
	for word := range strings.SplitSeq(text, ",") {
		name, not := strings.CutPrefix(strings.TrimSpace(word), "not ")
		bit := slices.Index(guards, strings.TrimSpace(name))
		switch {
		case strings.TrimSpace(text) == "":
			return w, nil
		case bit < 0:
			return w, fmt.Errorf("there is no guard %q", name)
		case not:
			w.Not |= 1 << bit
		default:
			w.If |= 1 << bit
		}
	}
	if both := w.If & w.Not; both != 0 {
		return w, fmt.Errorf("it wants %q and not %[1]q", guards[firstBit(both)])
	}
	return w, nil
}

// firstBit is the position of the lowest guard in g, which is not empty.
func firstBit(g statemachine.Guard) (n int) {
	for ; g&1 == 0; g >>= 1 {
		n++
	}
	return n
}

// pair compares one state and event under every valuation of the guards that
// either side uses: a row may ask for more than the table does.
func (d *differ[S, E]) pair(from S, on E) {
	var used statemachine.Guard
	for g := range d.table.Valuations(from, on) {
		used |= g
	}
	var here []int
	for n, l := range d.rows {
		if l.good && slices.Contains(l.states, string(from)) && slices.Contains(l.events, string(on)) {
			here = append(here, n)
			used |= l.when.If | l.when.Not
		}
	}
	for g := range valuations(d.spec.OneOf, used) {
		d.valuation(from, on, g, here)
	}
}

// valuation compares one decision with the rows that speak of its pair. No row is
// as bad as two: a matrix that is not total proves nothing of the cells it lacks.
func (d *differ[S, E]) valuation(from S, on E, g statemachine.Guard, here []int) {
	where := fmt.Sprintf("%s, %s", from, on)
	if names := d.table.GuardNames(g); names != "" {
		where += ", {" + names + "}"
	}
	got, req := d.decide(from, on, g)
	var hits []int
	for _, n := range here {
		if d.rows[n].when.Holds(g) {
			d.rows[n].used = true
			hits = append(hits, n)
		}
	}
	if len(hits) != 1 {
		d.bad("%s: %d rows %v decide it; the table says %s", where, len(hits), hits, by(got, req))
		return
	}
	if want := d.rows[hits[0]]; got != want.outcome(string(from)) || req != want.req {
		d.bad("%s: the table says %s; row %d wants %s", where, by(got, req), hits[0], by(want.want, want.req))
	}
}

// by names an outcome and, if there is one, its requirement. A requirement that
// moved is a difference: the matrix was written from requirements.
func by(outcome, req string) string {
	if req == "" {
		return outcome
	}
	return outcome + " by " + req
}

// outcome lets a row that names its own state as target mean stay, as in a
// row for many states.
func (l line) outcome(from string) string {
	if l.want == from {
		return Stay
	}
	return l.want
}

// decide asks the table: by Next for the outcome, by Cell for the requirement.
func (d *differ[S, E]) decide(from S, on E, g statemachine.Guard) (outcome, req string) {
	to, err := d.table.Next(from, on, g)
	if cell, ok := d.table.Cell(from, on, g); ok {
		req = d.spec.Rules[cell.Rule].Req
	}
	if refused, ok := errors.AsType[*statemachine.Refused](err); ok {
		return refused.Code(), req
	}
	if to == from {
		return Stay, req
	}
	return string(to), req
}

// Defaults lists the pairs that an event's default decides, one a line, for a
// golden file: whoever adds a state sees there what it was given unasked.
func Defaults[S, E ~string](table *statemachine.Table[S, E]) string {
	var b strings.Builder
	for c := range table.Cells() {
		if !c.Default {
			continue
		}
		to := string(c.To)
		switch {
		case c.Refused != nil:
			to = c.Refused.Code()
		case c.Stays:
			to = Stay
		}
		fmt.Fprintf(&b, "%s %s %s: %s\n", c.From, c.On, table.WhenNames(c.When), to)
	}
	return b.String()
}
