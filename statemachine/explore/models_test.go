package explore_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/ingotmetal/ingot/statemachine/explore"
)

// seq offers the same inputs in every state.
func seq[S, I any](all ...I) func(S) iter.Seq[I] {
	return func(S) iter.Seq[I] { return slices.Values(all) }
}

func same[T any](v T) T { return v }

// Peterson's lock for two processes (Myths about the mutual exclusion problem,
// Inf. Process. Lett. 1981). Each wants, yields the turn, enters, leaves.

type lock struct {
	PC   [2]uint8 // 0 idle, 1 wants, 2 has yielded, 3 inside
	Turn uint8
}

type act struct {
	Who uint8
	Do  string
}

func (a act) String() string { return fmt.Sprintf("p%d %s", a.Who, a.Do) }

// fault says how a lock is broken.
type fault string

const (
	sound    fault = ""
	keepTurn fault = "takes the turn instead of yielding it"
	noTurn   fault = "waits for the other's wish alone"
)

var acts = []act{{0, "want"}, {0, "yield"}, {0, "enter"}, {0, "leave"}, {1, "want"}, {1, "yield"}, {1, "enter"}, {1, "leave"}}

var errNotNow = errors.New("not now")

func (f fault) step(s lock, a act) (lock, error) {
	pc, other := &s.PC[a.Who], 1-a.Who
	want := uint8(slices.Index([]string{"want", "yield", "enter", "leave"}, a.Do))
	blocked := s.PC[other] != 0 && (s.Turn == other || f == noTurn)
	if *pc != want || a.Do == "enter" && blocked {
		return lock{}, errNotNow
	}
	if a.Do == "yield" {
		s.Turn = other
		if f == keepTurn {
			s.Turn = a.Who
		}
	}
	*pc = (*pc + 1) % 4
	return s, nil
}

func peterson(f fault) explore.Model[lock, act, lock] {
	return explore.Model[lock, act, lock]{
		Name: "peterson", Start: []lock{{}}, Inputs: seq[lock](acts...), Step: f.step, Key: same[lock],
		Stable: func(s lock) bool { return s.PC == [2]uint8{} },
		Event:  func(a act) string { return a.Do },
		Class: func(a act) explore.Class {
			if a.Do == "want" {
				return explore.Operator
			}
			return explore.System
		},
		Invariants: []explore.Invariant[lock, act]{{
			Name: "one inside", Req: "MUTEX-1",
			State: func(s lock) error {
				if s.PC == [2]uint8{3, 3} {
					return errors.New("both are inside")
				}
				return nil
			},
		}},
	}
}

// An installer: an attempt begins, its report may be lost, a deadline ends it.

type install struct {
	State  string // idle, installing, installed, failed
	Report bool   // on its way
}

func installer(deadline bool) explore.Model[install, string, install] {
	return explore.Model[install, string, install]{
		Name: "installer", Start: []install{{State: "idle"}}, Key: same[install],
		Inputs: seq[install]("start", "write", "lose", "report", "deadline", "abort"),
		Step: func(s install, in string) (install, error) {
			running := s.State == "installing"
			switch {
			case in == "start" && !running && !s.Report:
				return install{State: "installing"}, nil
			case in == "write" && running && !s.Report:
				return install{State: "installing", Report: true}, nil
			case in == "lose" && s.Report:
				return install{State: "lost"}, nil
			case in == "report" && running && s.Report:
				return install{State: "installed"}, nil
			case in == "deadline" && deadline && (running || s.State == "lost"):
				return install{State: "failed"}, nil
			}
			return install{}, errNotNow
		},
		Stable: func(s install) bool { return s.State != "installing" && s.State != "lost" },
		Event:  same[string],
		Class: func(in string) explore.Class {
			return map[string]explore.Class{"start": explore.Operator, "abort": explore.Operator, "lose": explore.Fault}[in]
		},
	}
}

// counter counts to limit by ones and twos, and should stop at 10.
func counter(limit int) explore.Model[int, int, int] {
	return explore.Model[int, int, int]{
		Name: "counter", Start: []int{0}, Inputs: seq[int](1, 2), Key: same[int],
		Step: func(s, in int) (int, error) {
			if s+in > limit {
				return 0, errNotNow
			}
			return s + in, nil
		},
		Invariants: []explore.Invariant[int, int]{{
			Name: "at most 10",
			State: func(s int) error {
				if s > 10 {
					return fmt.Errorf("counted to %d", s)
				}
				return nil
			},
		}},
	}
}
