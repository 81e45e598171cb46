package explore

import (
	"fmt"
	"runtime/debug"
)

// Invalid reports a model, limits or history that cannot be run.
type Invalid struct {
	Model string
	Why   error
}

// Error says everything that is wrong.
func (e *Invalid) Error() string { return fmt.Sprintf("explore: model %q: %v", e.Model, e.Why) }

// Unwrap returns Why.
func (e *Invalid) Unwrap() error { return e.Why }

// Code is the error's wire name.
func (e *Invalid) Code() string { return "INVALID_CONFIG" }

// Cut reports a run that a limit ended before every state was seen. What the
// result counts is true as far as it goes; liveness was not judged.
type Cut struct {
	Model  string
	Limit  string // the field of Limits: MaxStates or MaxBytes
	Max    int64  // its value
	States int    // found until then
	Depth  int    // of the layer being walked
}

// Error names the limit.
func (e *Cut) Error() string {
	return fmt.Sprintf("explore: %s is not closed: %s %d reached with %d states at depth %d", e.Model, e.Limit, e.Max, e.States, e.Depth)
}

// Code is the error's wire name.
func (e *Cut) Code() string { return "UNAVAILABLE" }

// Drift reports a model whose functions answered differently when asked again,
// as by ranging over a map in Inputs or by changing a state in place in Step.
type Drift struct {
	Model string
	After int // inputs that still agreed
}

// Error says where the two walks part.
func (e *Drift) Error() string {
	return fmt.Sprintf("explore: %s is not deterministic: a history, stepped again, leads elsewhere after %s", e.Model, count(e.After, "input"))
}

// Code is the error's wire name.
func (e *Drift) Code() string { return "INVALID_CONFIG" }

// Refused reports an input of a history that the machine does not accept.
type Refused struct {
	Model  string
	At, Of int // the input's place, counted from 1, and the history's length
	Why    error
}

// Error says which input and why.
func (e *Refused) Error() string {
	return fmt.Sprintf("explore: %s refuses input %d of %d: %v", e.Model, e.At, e.Of, e.Why)
}

// Unwrap returns the machine's own refusal.
func (e *Refused) Unwrap() error { return e.Why }

// Code is the error's wire name.
func (e *Refused) Code() string { return "INVALID_STATE" }

// Panicked is the Why of a counterexample to NoPanic.
type Panicked struct {
	Value any    // what was passed to panic
	Stack string // of the goroutine, as it was then
}

// panicked must be called while the panic unwinds, for its stack.
func panicked(value any) *Panicked { return &Panicked{Value: value, Stack: string(debug.Stack())} }

// Error says the value; the stack would drown the history.
func (e *Panicked) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Code is the error's wire name.
func (e *Panicked) Code() string { return "INVALID_STATE" }
