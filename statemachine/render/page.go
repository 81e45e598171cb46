package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/statemachine"
)

// Page describes a table as GitHub-flavoured Markdown: a diagram, the states,
// what moves, stays and is refused, a matrix of events by states, and the
// cells that a default decides. It ends with a newline. Text from the spec is
// escaped; it cannot leave its cell.
func Page[S, E ~string](table *statemachine.Table[S, E]) string {
	p := newPage(table)
	n := table.Size()
	p.line("# The %s table", escape(table.Name()))
	p.line("")
	p.line("Generated from the table; do not edit.")
	p.line("")
	p.line("%d states, %d events, %d rules. %d pairs of a state and an event, decided by %d cells under guards; %d pairs by an event's default.",
		n.States, n.Events, n.Rules, n.Pairs, n.Cells, n.Default)
	p.words()
	p.line("")
	p.line("```mermaid")
	p.b.WriteString(Mermaid(table))
	p.line("```")
	p.states()
	p.moves()
	p.stays()
	p.refusals()
	p.matrix()
	p.defaults()
	return p.b.String()
}

// words tells the reports and the guards, and what a table does not have it does
// not mention.
func (p *page[S, E]) words() {
	if len(p.spec.Reports) > 0 {
		p.line("\nReports, which name the epoch of an attempt: %s.", escape(strings.Join(texts(p.spec.Reports), ", ")))
	}
	if len(p.spec.Guards) > 0 {
		p.line("\nGuards: %s.", escape(strings.Join(p.spec.Guards, ", ")))
	}
	for _, group := range p.spec.OneOf {
		p.line("\nExactly one of %s holds.", escape(list(p.table.GuardNames(group))))
	}
}

// texts are names as plain strings; nil stays nil.
func texts[N ~string](names []N) (out []string) {
	for _, n := range names {
		out = append(out, string(n))
	}
	return out
}

// page is a Page being written. Sections append to b in the order of the page.
type page[S, E ~string] struct {
	table *statemachine.Table[S, E]
	spec  statemachine.Spec[S, E]
	rules []decided
	b     strings.Builder
}

// decided is a rule, with plain names, and where it decides. Plain names let the
// methods below do without type parameters.
type decided struct {
	rule statemachine.Rule[string, string]
	from []string // in table order; empty for a rule that decides nothing
}

// newPage gathers, from the table's cells, where each rule decides: rules
// alone do not say it, for a default decides what is left.
func newPage[S, E ~string](table *statemachine.Table[S, E]) *page[S, E] {
	p := &page[S, E]{table: table, spec: table.Spec()}
	p.rules = make([]decided, len(p.spec.Rules))
	for n, r := range p.spec.Rules {
		p.rules[n].rule = statemachine.Rule[string, string]{On: string(r.On), From: texts(r.From), When: r.When, To: string(r.To), Stay: r.Stay,
			Refuse: r.Refuse, Opens: r.Opens, Ends: string(r.Ends), Forget: r.Forget, Why: r.Why, Req: r.Req}
	}
	for c := range table.Cells() {
		d := &p.rules[c.Rule]
		if from := string(c.From); !slices.Contains(d.from, from) {
			d.from = append(d.from, from)
		}
	}
	return p
}

// line writes one line. Text from the spec must be escaped before; row does so by
// itself.
func (p *page[S, E]) line(format string, a ...any) { fmt.Fprintf(&p.b, format+"\n", a...) }

// head begins a section with a table of these columns.
func (p *page[S, E]) head(title string, columns ...string) {
	p.line("\n## %s\n", title)
	p.row(columns...)
	p.line("|%s", strings.Repeat(" --- |", len(columns)))
}

// row writes one row; an empty cell stays empty.
func (p *page[S, E]) row(cells ...string) {
	for _, c := range cells {
		p.b.WriteString("| ")
		if c != "" {
			p.b.WriteString(escape(c) + " ")
		}
	}
	p.b.WriteString("|\n")
}

// states has a row for each state: what it is, how long, and what is safe.
func (p *page[S, E]) states() {
	p.head("States", "State", "Kind", "Deadline", "Expires by", "May be driven", "May hold", "Meaning")
	for st := range p.table.States() {
		deadline := ""
		if st.Deadline > 0 {
			deadline = st.Deadline.String()
		}
		p.row(string(st.Name), p.kind(st), deadline, string(st.Expire), st.Drives.String(), list(p.table.FieldNames(st.Holds)), st.Means)
	}
}

// kind is a state's kind, and whether records begin there: the arrow of the
// diagram, for those who read the text alone.
func (p *page[S, E]) kind(st statemachine.State[S, E]) string {
	if slices.Contains(p.spec.Start, st.Name) {
		return st.Kind.String() + ", start"
	}
	return st.Kind.String()
}

// list spaces comma-separated names, so that a narrow column can break them.
func list(names string) string { return strings.ReplaceAll(names, ",", ", ") }

// moves has a row for each rule that leads to a state. Which report ends an
// attempt as itself is not said: every report that moves does.
func (p *page[S, E]) moves() {
	p.head("Moves", "Event", "In", "When", "To", "Effect", "Why", "Requirement")
	for n := range p.rules {
		if d := &p.rules[n]; d.rule.To != "" {
			p.row(d.rule.On, d.where(), p.when(d), d.rule.To, d.effect(), d.rule.Why, d.rule.Req)
		}
	}
}

// stays has a row for each rule that accepts without a move. Its effect is all
// that happens: without one, the event is known and ignored.
func (p *page[S, E]) stays() {
	p.head("Stays", "Event", "In", "When", "Effect", "Why", "Requirement")
	for n := range p.rules {
		if d := &p.rules[n]; d.rule.Stay {
			p.row(d.rule.On, d.where(), p.when(d), d.effect(), d.rule.Why, d.rule.Req)
		}
	}
}

// refusals has a row for each rule that refuses, with the reason that callers
// are given.
func (p *page[S, E]) refusals() {
	p.head("Refusals", "Event", "In", "When", "Code", "Why", "Requirement")
	for n := range p.rules {
		if d := &p.rules[n]; d.rule.Refuse != "" {
			p.row(d.rule.On, d.where(), p.when(d), string(d.rule.Refuse), d.rule.Why, d.rule.Req)
		}
	}
}

// where lists the states in which a rule decides.
func (d *decided) where() string {
	if d.rule.From == nil {
		return "by default: " + strings.Join(d.from, ", ")
	}
	return strings.Join(d.from, ", ")
}

// when is a rule's condition; empty for always, to keep tables quiet: most rules
// have none.
func (p *page[S, E]) when(d *decided) string {
	if d.rule.When == (statemachine.When{}) {
		return ""
	}
	return p.table.WhenNames(d.rule.When)
}

// effect tells what a rule does to attempts. That entering an in-flight state
// opens one is said by the state.
func (d *decided) effect() string {
	var out []string
	if d.rule.Ends != "" {
		out = append(out, "ends the attempt as "+d.rule.Ends)
	}
	if d.rule.Opens > 0 {
		out = append(out, "opens an attempt of "+d.rule.Opens.String())
	}
	if d.rule.Forget {
		out = append(out, "forgets past attempts")
	}
	return strings.Join(out, ", ")
}

// escape keeps text within its cell of a Markdown table: a vendor's words are on
// the same page as ours.
func escape(s string) string { return markdown.Replace(s) }

// markdown replaces what ends a cell, begins a tag or marks text.
var markdown = strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ", "\r", " ", "`", "\\`", "*", `\*`, `\`, `\\`)
