package explore

// Run walks every state of m that can be reached, breadth first.
//
// The error is nil when the walk closed and every promise holds. Otherwise it
// is a *[Counterexample] of S and I, a *[Cut], an *[Invalid] (nothing was
// walked) or a *[Drift]; none of them may be ignored, since each means that
// states were left unseen or a promise broken.
func Run[S, I any, K comparable](m Model[S, I, K], limits Limits) (Result, error) {
	if err := m.validate(); err != nil {
		return Result{Model: m.Name}, err
	}
	if err := limits.validate(m.Name); err != nil {
		return Result{Model: m.Name}, err
	}
	w := newWalk(m, limits.orDefaults())
	if err := w.explore(); err != nil {
		return w.result(false), err
	}
	return w.result(true), w.settle()
}

// walk is one run under way. States are numbered as they are found, and are
// taken up in that order, layer by layer.
type walk[S, I any, K comparable] struct {
	m      *Model[S, I, K]
	limits Limits
	price  price

	index   map[K]uint32 // a state's number
	parents []origin     // by number: where it was first reached from
	graph   graph        // accepted system steps, only for liveness

	layer, next []S
	depth       int // of layer

	taken  bool   // from is set: the walk is past the start states
	from   S      // the state being taken up
	at     uint32 // its number
	trying bool   // in is set
	in     I      // the input being tried
	place  uint32 // its place among those of from; before, the start's
	err    error  // what ended the walk

	counts       Result
	events, rows tallies
}

// origin is how a state was first reached: the state before, or noParent, and
// the place of the input among those of that state, or of the start in Start.
type origin struct{ parent, place uint32 }

// newWalk stands before the first start state.
func newWalk[S, I any, K comparable](m Model[S, I, K], limits Limits) *walk[S, I, K] {
	return &walk[S, I, K]{
		m: &m, limits: limits, price: priceOf[S, K](m.Held, m.Stable != nil),
		index: map[K]uint32{}, events: tallies{}, rows: tallies{},
	}
}

// explore walks until no layer follows, or something is broken.
func (w *walk[S, I, K]) explore() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = w.broken(NoPanic, "", panicked(p))
		}
	}()
	for _, s := range w.m.Start {
		if _, err := w.find(s, origin{noParent, w.place}); err != nil {
			return err
		}
		w.place++
	}
	try := w.try // once: a method value is allocated each time it is taken
	for w.descend() {
		for i, s := range w.layer {
			w.take(s)
			w.m.Inputs(s)(try)
			if w.err != nil {
				return w.err
			}
			var none S
			w.layer[i] = none // what s refers to may go
		}
	}
	return nil
}

// descend makes the next layer the one to walk. It reports false at the end.
func (w *walk[S, I, K]) descend() bool {
	if len(w.next) == 0 {
		return false
	}
	if w.taken {
		w.depth++
	}
	w.layer, w.next = w.next, w.layer[:0]
	w.counts.Widest = max(w.counts.Widest, len(w.layer))
	return true
}

// take begins with the inputs of the next state in number.
func (w *walk[S, I, K]) take(s S) {
	if w.taken {
		w.at++
	}
	w.from, w.place, w.taken = s, 0, true
	if w.m.Stable != nil {
		w.graph.begin()
	}
}

// try answers one input; it is what Inputs yields to, and so reports whether
// to go on.
func (w *walk[S, I, K]) try(in I) bool {
	if w.err != nil {
		return false // Inputs did not heed the last answer
	}
	w.in, w.trying = in, true
	to, refused := w.m.Step(w.from, in)
	w.count(in, to, refused)
	if refused != nil {
		w.err = w.refuse(in, refused)
	} else {
		w.err = w.accept(in, to)
	}
	w.place++
	w.trying = false
	return w.err == nil
}

// accept checks a step and notes where it leads.
func (w *walk[S, I, K]) accept(in I, to S) error {
	if v, why := w.m.checkStep(w.from, in, to); why != nil {
		return w.broken(v.Name, v.Req, why, to)
	}
	n, err := w.find(to, origin{w.at, w.place})
	if err == nil && w.m.Stable != nil && n != w.at && w.m.class(in) == System {
		w.graph.add(n)
	}
	return err
}

// refuse checks that in may be refused, and be refused like this.
func (w *walk[S, I, K]) refuse(in I, refused error) error {
	if v, why := w.m.checkRefusal(w.from, in, refused); why != nil {
		return w.broken(v.Name, v.Req, why)
	}
	return nil
}

// find returns the number of s. A state not seen before is numbered, checked
// and put into the next layer.
func (w *walk[S, I, K]) find(s S, by origin) (uint32, error) {
	k := w.m.Key(s)
	if n, ok := w.index[k]; ok {
		return n, nil
	}
	n := uint32(len(w.parents))
	if err := w.full(); err != nil {
		return 0, err
	}
	w.index[k] = n
	w.parents = append(w.parents, by)
	w.next = append(w.next, s)
	if w.m.Stable != nil {
		w.graph.state(w.m.Stable(s))
	}
	if v, why := w.m.checkState(s); why != nil {
		return n, w.brokenAt(n, v.Name, v.Req, why)
	}
	return n, nil
}

// full reports the limit that one more state would pass.
func (w *walk[S, I, K]) full() error {
	cut := &Cut{Model: w.m.Name, States: len(w.parents), Depth: w.depth}
	room := int64(cap(w.layer) + cap(w.next) + 1)
	bytes := int64(len(w.parents)+1)*w.price.state + int64(cap(w.graph.to))*w.price.edge +
		room*w.price.frontier + int64(len(w.layer)+len(w.next)+1)*w.price.held
	switch {
	case len(w.parents) >= w.limits.MaxStates:
		cut.Limit, cut.Max = "MaxStates", int64(w.limits.MaxStates)
	case bytes > w.limits.MaxBytes:
		cut.Limit, cut.Max = "MaxBytes", w.limits.MaxBytes
	default:
		w.counts.Bytes = max(w.counts.Bytes, bytes)
		return nil
	}
	return cut
}

// count tallies one input tried.
func (w *walk[S, I, K]) count(in I, to S, refused error) {
	w.counts.Steps++
	if refused == nil {
		w.counts.Accepted++
	} else {
		to = w.from
	}
	if w.m.Event != nil {
		w.events.count(w.m.Event(in), refused == nil)
	}
	if w.m.Row != nil {
		if row := w.m.Row(w.from, in, to, refused); row != "" {
			w.rows.count(row, refused == nil)
		}
	}
}

// result sums up.
func (w *walk[S, I, K]) result(closed bool) Result {
	r := w.counts
	r.Model, r.Closed, r.States, r.Depth = w.m.Name, closed, len(w.parents), w.depth
	r.Events, r.Rows = w.events.sorted(), w.rows.sorted()
	return r
}
