package statemachine

// whole checks what only the compiled table shows. Findings before it would
// only repeat themselves here, so it waits until there are none.
func (c *compiler[S, E]) whole() {
	if len(c.found) > 0 {
		return
	}
	for k, used := range c.used {
		if r := &c.spec.Rules[k]; !used {
			c.bad("rule %d (%s) decides no cell", k, r.On)
		}
	}
	c.reachable()
	for i := range c.spec.States {
		c.exits(i)
		c.attempts(i)
		c.keeps(i)
		c.expires(i)
	}
	c.owned()
}

// reachable demands a path from a start state to every other. It follows moves
// under any guards: whether guards ever hold is beyond a table.
func (c *compiler[S, E]) reachable() {
	seen := map[S]bool{}
	for _, s := range c.spec.Start {
		seen[s] = true
	}
	for again := true; again; {
		again = false
		for m := range c.Moves() {
			if seen[m.From] && !seen[m.To] {
				seen[m.To], again = true, true
			}
		}
	}
	for _, st := range c.spec.States {
		if !seen[st.Name] {
			c.bad("%s is unreachable", st.Name)
		}
	}
}

// exits demands a way out of every state but a terminal one, which only
// leads to absence.
func (c *compiler[S, E]) exits(i int) {
	st, out := &c.spec.States[i], false
	for j := range c.width {
		for ch := range c.cells[i*c.width+j].choices() {
			if ch.refused != nil || ch.to == st.Name {
				continue
			}
			out = true
			if st.Kind == Terminal && !c.info[ch.state].absent {
				c.bad("terminal %s has a way out to %s", st.Name, ch.to)
			}
		}
	}
	if !out && st.Kind != Terminal {
		c.bad("%s has no way out; declare it Terminal", st.Name)
	}
}

// expires demands that a deadline ends the attempt it belongs to, whatever
// guards hold: no machine may wedge.
func (c *compiler[S, E]) expires(i int) {
	st := &c.spec.States[i]
	if st.Expire == "" {
		return
	}
	j := c.events.of(string(st.Expire))
	for ch := range c.cells[i*c.width+j].choices() {
		ends := ch.to != st.Name || st.Kind != InFlight && (ch.ends != "" || ch.forget)
		if ch.refused != nil || !ends || ch.opens != 0 && ch.to == st.Name {
			c.bad("%s does not end the attempt in %s when %s", st.Expire, st.Name, c.WhenNames(ch.when))
		}
	}
}

// attempts demands that attempts are opened where they can be held: by
// entering an in-flight state, or by a rule in a stable state with an expiry.
func (c *compiler[S, E]) attempts(i int) {
	st, opened := &c.spec.States[i], c.opensInto(i)
	switch {
	case opened && st.Kind == InFlight:
		c.bad("%s opens its own attempt; a rule must not", st.Name)
	case opened && st.Kind != Stable:
		c.bad("an attempt is opened in %s, which is %s", st.Name, st.Kind)
	case opened && st.Expire == "":
		c.bad("an attempt is opened in %s, which has no expiry event", st.Name)
	case !opened && st.Kind != InFlight && st.Expire != "":
		c.bad("%s %s has an expiry event and no rule that opens an attempt", st.Kind, st.Name)
	}
}

// opensInto reports whether some rule opens an attempt in state i.
func (c *compiler[S, E]) opensInto(i int) bool {
	for n := range c.cells {
		for ch := range c.cells[n].choices() {
			if ch.opens > 0 && int(ch.state) == i {
				return true
			}
		}
	}
	return false
}

// keeps demands that an in-flight state keeps its attempt as long as it
// lasts: what ends the attempt also leaves the state. It also demands that a
// report is accepted only where an attempt may be open; elsewhere it is always
// stale, and a rule that accepts it would never be taken.
func (c *compiler[S, E]) keeps(i int) {
	st := &c.spec.States[i]
	for j := range c.width {
		for ch := range c.cells[i*c.width+j].choices() {
			r := &c.spec.Rules[ch.rule]
			switch {
			case c.report[j] && ch.refused == nil && st.Kind != InFlight && !c.info[i].timed:
				c.bad("rule %d accepts the report %s in %s, which never holds an attempt", ch.rule, r.On, st.Name)
			case st.Kind != InFlight || ch.to != st.Name:
			case r.To != "":
				c.bad("rule %d (%s) moves in-flight %s to itself, which opens no attempt; use Stay", ch.rule, r.On, st.Name)
			case ch.ends != "" || ch.forget:
				c.bad("rule %d (%s) ends the attempt in %s and stays there", ch.rule, r.On, st.Name)
			}
		}
	}
}

// owned demands that some state may hold each field; what none may hold would
// be cleared by every step.
func (c *compiler[S, E]) owned() {
	var held Fields
	for _, st := range c.spec.States {
		held |= st.Holds
	}
	if lost := c.all &^ held; lost != 0 {
		c.bad("no state holds the field %s", c.FieldNames(lost))
	}
}
