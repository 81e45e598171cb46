package placement

import (
	"iter"
	"maps"
	"slices"
	"strings"
)

// The bounds of LABEL-1, in bytes and in labels a call.
const (
	MaxLabelKey   = 128
	MaxLabelValue = 256
	MaxLabelSet   = 64
	MaxLabelDrop  = 64
)

// MaxLabels bounds the labels of one node, so that many legal calls cannot grow
// its row without end.
const MaxLabels = 512

// ReservedLabel begins the keys that no call may set or remove (LABEL-1).
const ReservedLabel = "ingot.dev/"

const (
	labelKeyMarks   = "._/-"
	labelValueMarks = "._:/@+=-"
)

// Label is one label of a node. Its owner is [Inventory], [System] or
// [Operator].
type Label struct {
	Key, Value string
	Owner      Owner
}

// Labels are the labels of one node, by key. The zero value is empty. It is a
// value: Apply returns new labels and leaves the old ones as they were.
type Labels struct {
	sorted []Label // strictly ascending by key, never written to once shared
}

// ParseLabels checks labels of any owner, in any order, and no key twice.
// System and inventory labels may have reserved keys, an operator's may not.
func ParseLabels(list ...Label) (Labels, error) {
	if len(list) > MaxLabels {
		return Labels{}, &Invalid{"labels", list[MaxLabels].Key, "at most 512 labels on a node", "LABEL-1"}
	}
	at := make(map[string]Label, len(list))
	for _, l := range list {
		if _, twice := at[l.Key]; twice {
			return Labels{}, &Invalid{"label key", l.Key, "each key once", "LABEL-1"}
		}
		if err := l.check(); err != nil {
			return Labels{}, err
		}
		at[l.Key] = l
	}
	return byKey(at), nil
}

// LabelCall is an operator's call: what to set and what to remove.
type LabelCall struct {
	Set    map[string]string
	Remove []string
}

// Apply returns the labels after an operator's call. Removing a key that is
// absent or that another owner holds changes nothing. A call is refused as a
// whole, with an *[Invalid], when it names nothing or too much, breaks a
// grammar, names a key in both lists or a reserved one, or sets a key that
// another owner holds (LABEL-1).
func (s Labels) Apply(c LabelCall) (Labels, error) {
	if err := c.check(); err != nil {
		return Labels{}, err
	}
	at := make(map[string]Label, len(s.sorted)+len(c.Set))
	for l := range s.All() {
		if l.Owner != Operator || !slices.Contains(c.Remove, l.Key) {
			at[l.Key] = l
		}
	}
	for _, k := range slices.Sorted(maps.Keys(c.Set)) {
		if old, ok := at[k]; ok && old.Owner != Operator {
			return Labels{}, &Invalid{"label key", k, "a key that " + old.Owner.String() + " does not hold", "LABEL-1"}
		}
		at[k] = Label{k, c.Set[k], Operator}
	}
	if len(at) > MaxLabels {
		return Labels{}, &Invalid{"label call", "", "at most 512 labels on a node", "LABEL-1"}
	}
	return byKey(at), nil
}

// All yields the labels in ascending order of their keys.
func (s Labels) All() iter.Seq[Label] { return slices.Values(s.sorted) }

// Len is the number of labels.
func (s Labels) Len() int { return len(s.sorted) }

// Equal reports whether both hold the same labels of the same owners. A call
// that leaves them equal publishes nothing (LABEL-1).
func (s Labels) Equal(o Labels) bool { return slices.Equal(s.sorted, o.sorted) }

// byKey returns the labels of at in order.
func byKey(at map[string]Label) Labels {
	return Labels{slices.SortedFunc(maps.Values(at), func(a, b Label) int {
		return strings.Compare(a.Key, b.Key)
	})}
}

// check holds c against the rules that need no labels.
func (c LabelCall) check() error {
	switch {
	case len(c.Set)+len(c.Remove) == 0:
		return &Invalid{"label call", "", "something to set or remove", "LABEL-1"}
	case len(c.Set) > MaxLabelSet || len(c.Remove) > MaxLabelDrop:
		return &Invalid{"label call", "", "at most 64 labels to set and 64 to remove", "LABEL-1"}
	}
	for _, k := range slices.Sorted(maps.Keys(c.Set)) {
		if err := (Label{k, c.Set[k], Operator}).check(); err != nil {
			return err
		}
	}
	for _, k := range c.Remove {
		if _, both := c.Set[k]; both {
			return &Invalid{"label key", k, "a key that is not both set and removed", "LABEL-1"}
		}
		if err := (Label{k, "", Operator}).check(); err != nil {
			return err
		}
	}
	return nil
}

// check holds one label against the grammar and its owner's rights.
func (l Label) check() error {
	switch {
	case !key(l.Key, labelKeyMarks, MaxLabelKey):
		return &Invalid{"label key", l.Key, "1 to 128 letters, digits or . _ / -, first and last alphanumeric", "LABEL-1"}
	case len(l.Value) > MaxLabelValue || !within(l.Value, labelValueMarks):
		return &Invalid{"label value", l.Value, "up to 256 letters, digits or . _ : / @ + = -", "LABEL-1"}
	case l.Owner != Operator && l.Owner != Inventory && l.Owner != System:
		return &Invalid{"label owner", string(l.Owner), "inventory, system or operator", "LABEL-1"}
	case l.Owner == Operator && strings.HasPrefix(l.Key, ReservedLabel):
		return &Invalid{"label key", l.Key, "a key that does not begin with ingot.dev/", "LABEL-1"}
	}
	return nil
}
