package explore

import (
	"cmp"
	"errors"
	"reflect"
)

// Limits end a run before it eats the machine. The zero value takes the
// defaults.
type Limits struct {
	// MaxStates is how many distinct states may be found; default and greatest
	// 4,294,967,294, the most that an index of 32 bits tells apart.
	MaxStates int
	// MaxBytes bounds the memory of the walk as the run estimates it (see the
	// package comment), good to about a third; default 2 GiB. The collector
	// may let the heap grow to twice that.
	MaxBytes int64
}

const (
	noParent      = ^uint32(0)        // the parent of a start state
	mostStates    = int(noParent) - 1 // leaves room for noParent
	defaultMemory = 2 << 30
)

// validate reports limits that make no sense.
func (l Limits) validate(model string) error {
	if l.MaxStates < 0 || l.MaxStates > mostStates || l.MaxBytes < 0 {
		return &Invalid{Model: model, Why: errors.New("limits are negative or too great")}
	}
	return nil
}

// orDefaults fills in what is zero.
func (l Limits) orDefaults() Limits {
	l.MaxStates = cmp.Or(l.MaxStates, mostStates)
	l.MaxBytes = cmp.Or(l.MaxBytes, defaultMemory)
	return l
}

// price is what a run's parts cost in bytes.
type price struct {
	state    int64 // each state found, for good
	frontier int64 // room for one S in a layer
	held     int64 // what an S in a layer refers to
	edge     int64 // each system step kept
}

// priceOf sets the prices for a model's types. A Go map fills its slots (key,
// index, one byte of control) to 65 % on average. Liveness keeps an offset
// into the edges, a byte of marks, and at worst the whole graph on its stacks.
func priceOf[S, K any](held int, liveness bool) price {
	key := int64(reflect.TypeFor[K]().Size())
	p := price{
		state:    (key+4+1)*3/2 + 8,
		frontier: int64(reflect.TypeFor[S]().Size()),
		held:     int64(held),
	}
	if liveness {
		p.state += 33
		p.edge = 4
	}
	return p
}
