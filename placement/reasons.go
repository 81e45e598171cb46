package placement

import (
	"iter"
	"slices"
)

// MaxReasons bounds the reasons of one node: eight of the largest taint calls
// (32 keys, TAINT-1), so that a node's row stays within some tens of KiB.
const MaxReasons = 256

// Reasons is the set of NoSchedule reasons of one node. The zero value is the
// empty set. It is a value: With and Without return a new set and leave the
// old one as it was.
type Reasons struct {
	sorted []Reason // strictly ascending, never written to once shared
}

// ParseReasons reads a set as a store or a peer wrote it, in any order. A
// repeat counts once. On an error the caller must not place on the node.
func ParseReasons(keys ...string) (Reasons, error) {
	list := make([]Reason, 0, min(len(keys), MaxReasons))
	for _, k := range keys {
		r, err := ParseReason(k)
		if err != nil {
			return Reasons{}, err
		}
		list = append(list, r)
	}
	return Reasons{}.union(list)
}

// With returns s and the reasons given, all of which by must own. Adding what
// is there changes nothing. It fails as a whole, with an *[Invalid].
func (s Reasons) With(by Owner, add ...Reason) (Reasons, error) {
	if err := owned(by, add); err != nil {
		return Reasons{}, err
	}
	return s.union(add)
}

// Without returns s less the reasons given, all of which by must own. Removing
// what is not there changes nothing. It fails as a whole, with an *[Invalid].
func (s Reasons) Without(by Owner, remove ...Reason) (Reasons, error) {
	if err := owned(by, remove); err != nil {
		return Reasons{}, err
	}
	left := slices.DeleteFunc(slices.Clone(s.sorted), func(r Reason) bool {
		return slices.Contains(remove, r)
	})
	return Reasons{left}, nil
}

// All yields the reasons in ascending order.
func (s Reasons) All() iter.Seq[Reason] { return slices.Values(s.sorted) }

// Len is the number of reasons.
func (s Reasons) Len() int { return len(s.sorted) }

// Has reports whether r is in the set.
func (s Reasons) Has(r Reason) bool {
	_, ok := slices.BinarySearch(s.sorted, r)
	return ok
}

// Equal reports whether both sets hold the same reasons. A change that leaves
// them equal publishes nothing (TAINT-1).
func (s Reasons) Equal(o Reasons) bool { return slices.Equal(s.sorted, o.sorted) }

// union returns s and more, or an error when that is over the bound.
func (s Reasons) union(more []Reason) (Reasons, error) {
	list := slices.Concat(s.sorted, more)
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) > MaxReasons {
		return Reasons{}, &Invalid{"reason", string(list[MaxReasons]), "at most 256 reasons on a node", "TAINT-1"}
	}
	return Reasons{list}, nil
}

// owned checks that every reason is well formed and belongs to by, since a
// controller never moves an operator's reason, nor the operator a controller's.
func owned(by Owner, list []Reason) error {
	for _, r := range list {
		if _, err := ParseReason(string(r)); err != nil {
			return err
		}
		if by == Nobody || r.Owner() != by {
			return &Invalid{"reason", string(r), "a reason whose owner is the caller; this one's is " + r.Owner().String(), "TAINT-1"}
		}
	}
	return nil
}
