package statemachine

import (
	"fmt"
	"math/bits"
	"slices"
)

// New checks a spec and compiles it. It returns a *SpecError with every
// finding: names that are missing, doubled or unknown; a state, event and
// guard valuation without exactly one rule; rules that contradict themselves
// or decide nothing; states that cannot be reached or left; attempts without
// a deadline, or whose deadline does not end them.
func New[S, E ~string](s Spec[S, E]) (*Table[S, E], error) {
	c := &compiler[S, E]{Table: &Table[S, E]{spec: clone(s)}}
	c.declared()
	if len(c.found) == 0 {
		c.compile()
		c.legal()
		c.whole()
	}
	if len(c.found) > 0 {
		return nil, &SpecError{Machine: s.Name, Findings: c.found}
	}
	return c.Table, nil
}

// clone copies what New keeps, so that a caller may reuse its slices.
func clone[S, E ~string](s Spec[S, E]) Spec[S, E] {
	s.Start, s.Guards, s.OneOf = slices.Clone(s.Start), slices.Clone(s.Guards), slices.Clone(s.OneOf)
	s.Fields, s.Reports = slices.Clone(s.Fields), slices.Clone(s.Reports)
	s.States, s.Rules = slices.Clone(s.States), slices.Clone(s.Rules)
	for i := range s.Rules {
		s.Rules[i].From = slices.Clone(s.Rules[i].From)
	}
	return s
}

// compiler fills a Table and collects findings.
type compiler[S, E ~string] struct {
	*Table[S, E]
	found []string
	used  []bool      // by rule: it decides some cell under some valuation
	on    map[E][]int // the rules of each event
}

// bad adds a finding.
func (c *compiler[S, E]) bad(format string, a ...any) {
	c.found = append(c.found, fmt.Sprintf(format, a...))
}

// compile builds every cell: all that Step needs is worked out here, once, so
// that a step is two look-ups and a few comparisons. The names are known to be
// good.
func (c *compiler[S, E]) compile() {
	s := &c.spec
	c.eventNames()
	c.width, c.all = len(c.Table.names), Fields(1<<len(s.Fields)-1)
	c.states.fill(c.stateNames())
	c.events.fill(c.Table.names)
	c.cells = make([]cell[S, E], len(s.States)*c.width)
	c.used = make([]bool, len(s.Rules))
	c.report = make([]bool, c.width)
	for _, r := range s.Reports {
		c.report[c.events.of(string(r))] = true
	}
	for i := range s.States {
		c.info = append(c.info, c.inform(s.States[i]))
	}
	for i := range s.States {
		for j := range c.width {
			c.cell(i, j)
		}
	}
}

// eventNames lists the events in the order in which rules first name them.
func (c *compiler[S, E]) eventNames() {
	c.on = map[E][]int{}
	for k, r := range c.spec.Rules {
		if c.on[r.On] == nil {
			c.Table.names = append(c.Table.names, string(r.On))
		}
		c.on[r.On] = append(c.on[r.On], k)
	}
}

// inform gathers what Step needs to know of a state.
func (c *compiler[S, E]) inform(s State[S, E]) info[E] {
	in := info[E]{deadline: s.Deadline, expire: s.Expire, drives: s.Drives, drops: c.all &^ s.Holds,
		inFlight: s.Kind == InFlight, timed: s.Kind == Stable && s.Expire != "", absent: s.Kind == Absent}
	if s.Expire != "" {
		in.early = c.refused(s.Name, s.Expire, Conflict, "no attempt is overdue", "MACH-4")
	}
	return in
}

// refused makes the answer that a cell gives to everyone. What is legal
// instead is filled in once all cells exist.
func (c *compiler[S, E]) refused(from S, on E, code Code, why, req string) *Refused {
	return &Refused{Machine: c.spec.Name, From: string(from), On: string(on), Why: why, Req: req, code: code}
}

// cell decides state i and event j.
func (c *compiler[S, E]) cell(i, j int) {
	from, on := c.spec.States[i].Name, E(c.Table.names[j])
	rules, fallback := c.apply(from, on)
	if len(rules) == 0 {
		c.bad("%s in %s is undecided", on, from)
		return
	}
	if !c.total(from, on, rules) {
		return
	}
	out := &c.cells[i*c.width+j]
	out.expires = on == c.spec.States[i].Expire
	if c.report[j] {
		out.stale = c.refused(from, on, Conflict, "the report names an attempt that is not the open one; stop that one, its reports are void", "MACH-4")
	}
	for n, k := range rules {
		ch := c.choice(i, j, k)
		ch.fallback = fallback
		if n == 0 {
			out.first = ch
		} else {
			out.more = append(out.more, ch)
		}
	}
}

// apply finds the rules of a cell: those that name the state, else the
// event's default.
func (c *compiler[S, E]) apply(from S, on E) (rules []int, fallback bool) {
	var rest []int
	for _, k := range c.on[on] {
		switch r := &c.spec.Rules[k]; {
		case r.From == nil:
			rest = append(rest, k)
		case slices.Contains(r.From, from):
			rules = append(rules, k)
		}
	}
	if len(rules) == 0 {
		return rest, true
	}
	return rules, false
}

// total tries every valuation of the guards that the rules use and reports
// whether each has exactly one rule. Trying is the whole proof: MaxCellGuards
// keeps it to 4,096 valuations. Only the first bad one is told.
func (c *compiler[S, E]) total(from S, on E, rules []int) bool {
	var used Guard
	for _, k := range rules {
		used |= c.spec.Rules[k].When.If | c.spec.Rules[k].When.Not
	}
	if n := bits.OnesCount32(uint32(used)); n > MaxCellGuards {
		c.bad("%s in %s: its rules use %d guards; at most %d can be tried", on, from, n, MaxCellGuards)
		return false
	}
	ok := true
	for g := range c.valuations(used) {
		n := 0
		for _, k := range rules {
			if c.spec.Rules[k].When.Holds(g) {
				n++
				c.used[k] = true
			}
		}
		if n != 1 && ok {
			c.bad("%s in %s: %d rules apply when {%s} holds", on, from, n, c.GuardNames(g))
			ok = false
		}
	}
	return ok
}

// choice compiles rule k for state i and event j. A report that moves ends its
// attempt as itself; one that stays ends nothing unless its rule says so.
func (c *compiler[S, E]) choice(i, j, k int) choice[S, E] {
	r := &c.spec.Rules[k]
	ch := choice[S, E]{when: r.When, to: r.To, ends: r.Ends, opens: r.Opens, forget: r.Forget, rule: int32(k)}
	if r.To == "" {
		ch.to = c.spec.States[i].Name
	}
	if r.Refuse != "" {
		ch.refused = c.refused(ch.to, r.On, r.Refuse, r.Why, r.Req)
	}
	if c.report[j] && r.To != "" && r.Ends == "" {
		ch.ends = r.On
	}
	ch.state = int32(c.states.of(string(ch.to)))
	return ch
}

// legal gives every refusal the events that its state accepts.
func (c *compiler[S, E]) legal() {
	for i := range c.spec.States {
		legal := c.accepted(i)
		if c.info[i].early != nil {
			c.info[i].early.Legal = legal
		}
		for j := range c.width {
			c.cells[i*c.width+j].tell(legal)
		}
	}
}

// tell writes into a cell's refusals what is legal instead.
func (c *cell[S, E]) tell(legal []string) {
	if c.stale != nil {
		c.stale.Legal = legal
	}
	for ch := range c.choices() {
		if ch.refused != nil {
			ch.refused.Legal = legal
		}
	}
}
