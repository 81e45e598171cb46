// Package statemachine sets ingot's table beside looplab/fsm and
// qmuntal/stateless, on one ring of four states with a guard.
package statemachine
