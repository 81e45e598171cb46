package statemachine

import (
	"iter"
	"math/bits"
	"slices"
)

// declared checks everything that can be checked before cells exist. It goes on
// after a finding: whoever writes a table wants all of them at once.
func (c *compiler[S, E]) declared() {
	s := &c.spec
	if s.Name == "" || len(s.Name) > MaxName {
		c.bad("the machine's name is empty or over %d bytes", MaxName)
	}
	if len(s.States) == 0 || len(s.States) > MaxStates || len(s.Rules) == 0 || len(s.Rules) > MaxRules {
		c.bad("%d states and %d rules: want 1 to %d and 1 to %d", len(s.States), len(s.Rules), MaxStates, MaxRules)
	}
	c.set("guard", s.Guards)
	c.set("field", s.Fields)
	c.declaredStates()
	c.rules()
	c.groups()
	c.list("report", names(s.Reports))
	for _, on := range s.Reports {
		c.event("report", on)
	}
	c.list("start state", names(s.Start))
	for _, st := range s.Start {
		c.state("start", st)
	}
	if len(s.Start) == 0 {
		c.bad("no start state")
	}
}

// set checks a list of names that stand for bits.
func (c *compiler[S, E]) set(what string, names []string) {
	if len(names) > maxBits {
		c.bad("%d %ss: at most %d", len(names), what, maxBits)
	}
	c.list(what, names)
}

// names are list's names as plain strings.
func names[N ~string](list []N) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = string(list[i])
	}
	return out
}

// list demands names that are there, short and distinct.
func (c *compiler[S, E]) list(what string, names []string) {
	seen := map[string]bool{}
	for _, name := range names {
		if name == "" || len(name) > MaxName || seen[name] {
			c.bad("%s %q is empty, over %d bytes or declared twice", what, name, MaxName)
		}
		seen[name] = true
	}
}

// declaredStates checks each state by itself. At most one is absent: a record
// that does not exist is in no two states.
func (c *compiler[S, E]) declaredStates() {
	c.list("state", c.stateNames())
	absent := 0
	for _, st := range c.spec.States {
		c.attempt(st)
		c.things(st)
		if st.Kind == Absent {
			absent++
		}
	}
	if absent > 1 {
		c.bad("%d absent states: at most one", absent)
	}
}

// stateNames lists the states in the spec's order, which is table order.
func (c *compiler[S, E]) stateNames() []string {
	out := make([]string, len(c.spec.States))
	for i := range c.spec.States {
		out[i] = string(c.spec.States[i].Name)
	}
	return out
}

// things checks what a state drives and holds.
func (c *compiler[S, E]) things(st State[S, E]) {
	switch {
	case st.Holds>>len(c.spec.Fields) != 0:
		c.bad("%s holds a field that is not declared", st.Name)
	case st.Drives&^(Power|BootOrder|Disks) != 0:
		c.bad("%s drives an actuator that does not exist", st.Name)
	case st.Kind == Absent && (st.Holds != 0 || st.Drives != 0):
		c.bad("absent %s holds fields or drives actuators", st.Name)
	}
}

// attempt checks a state's kind against its deadline. A deadline in a state that
// opens no attempt by itself would look as if it did something.
func (c *compiler[S, E]) attempt(st State[S, E]) {
	inFlight := st.Kind == InFlight
	switch {
	case st.Kind < Absent || st.Kind > Terminal:
		c.bad("%s has no kind", st.Name)
	case inFlight && (st.Deadline <= 0 || st.Deadline > MaxDeadline || st.Expire == ""):
		c.bad("in-flight %s needs an expiry event and a deadline of at most %s", st.Name, MaxDeadline)
	case !inFlight && st.Deadline != 0:
		c.bad("%s %s has a deadline", st.Kind, st.Name)
	}
	if st.Expire != "" {
		c.event("expiry", st.Expire)
	}
}

// rules checks each rule by itself and counts the events that they name.
func (c *compiler[S, E]) rules() {
	events := map[E]bool{}
	for k, r := range c.spec.Rules {
		events[r.On] = true
		c.rule(k, r)
	}
	if len(events) > MaxEvents {
		c.bad("%d events: at most %d", len(events), MaxEvents)
	}
}

// rule checks what rule k says, but for the names in it.
func (c *compiler[S, E]) rule(k int, r Rule[S, E]) {
	outcomes := 0
	for _, set := range []bool{r.To != "", r.Stay, r.Refuse != ""} {
		if set {
			outcomes++
		}
	}
	both := r.When.If & r.When.Not
	switch {
	case r.On == "" || len(r.On) > MaxName:
		c.bad("rule %d: the event is empty or over %d bytes", k, MaxName)
	case outcomes != 1:
		c.bad("rule %d (%s): exactly one of To, Stay, Refuse must be set", k, r.On)
	case r.Refuse != "" && !r.Refuse.known():
		c.bad("rule %d (%s) refuses with %q, which is no code", k, r.On, r.Refuse)
	case r.Refuse != "" && r.Why == "":
		c.bad("rule %d (%s) refuses without a reason", k, r.On)
	case r.Refuse != "" && (r.Opens != 0 || r.Ends != "" || r.Forget):
		c.bad("rule %d (%s) refuses and has effects", k, r.On)
	case both != 0:
		c.bad("rule %d (%s) contradicts itself: {%s} must hold and not hold", k, r.On, c.GuardNames(both))
	case (r.When.If|r.When.Not)>>len(c.spec.Guards) != 0:
		c.bad("rule %d (%s) uses a guard that is not declared", k, r.On)
	case bits.OnesCount32(uint32(r.When.If|r.When.Not)) > MaxCellGuards:
		c.bad("rule %d (%s) uses more than %d guards", k, r.On, MaxCellGuards)
	}
	c.targets(k, r)
}

// targets checks the states and the report that a rule names.
func (c *compiler[S, E]) targets(k int, r Rule[S, E]) {
	for i, from := range r.From {
		c.state("rule", from)
		if slices.Contains(r.From[:i], from) {
			c.bad("rule %d (%s) names %s twice", k, r.On, from)
		}
	}
	if r.To != "" {
		c.state("rule", r.To)
	}
	if r.Opens < 0 || r.Opens > MaxDeadline {
		c.bad("rule %d (%s) opens an attempt for %s: want at most %s", k, r.On, r.Opens, MaxDeadline)
	}
	if r.Ends != "" && !slices.Contains(c.spec.Reports, r.Ends) {
		c.bad("rule %d (%s) ends an attempt as %s, which is no report", k, r.On, r.Ends)
	}
}

// groups checks OneOf. Groups are disjoint: overlapping ones could contradict
// each other where no single cell shows it.
func (c *compiler[S, E]) groups() {
	var grouped Guard
	for _, g := range c.spec.OneOf {
		if bits.OnesCount32(uint32(g)) < 2 || g>>len(c.spec.Guards) != 0 {
			c.bad("a OneOf group needs two or more declared guards")
		}
		if both := g & grouped; both != 0 {
			c.bad("two OneOf groups share {%s}", c.GuardNames(both))
		}
		grouped |= g
	}
}

// state demands that s is declared.
func (c *compiler[S, E]) state(what string, s S) {
	if !slices.ContainsFunc(c.spec.States, func(st State[S, E]) bool { return st.Name == s }) {
		c.bad("%s names the unknown state %q", what, s)
	}
}

// event demands that some rule decides on: an event is what rules name.
func (c *compiler[S, E]) event(what string, on E) {
	if !slices.ContainsFunc(c.spec.Rules, func(r Rule[S, E]) bool { return r.On == on }) {
		c.bad("%s names the event %q, which no rule decides", what, on)
	}
}

// valuations yields every combination of the used guards that the OneOf
// groups allow.
func (t *Table[S, E]) valuations(used Guard) iter.Seq[Guard] {
	return func(yield func(Guard) bool) {
		for g := used; ; g = (g - 1) & used {
			if t.possible(g, used) && !yield(g) {
				return
			}
			if g == 0 {
				return
			}
		}
	}
}

// possible reports whether g, out of used, breaks no group.
func (t *Table[S, E]) possible(g, used Guard) bool {
	for _, group := range t.spec.OneOf {
		n := bits.OnesCount32(uint32(g & group))
		if n > 1 || n == 0 && group&^used == 0 {
			return false
		}
	}
	return true
}
