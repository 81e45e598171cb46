package schedule

import (
	"fmt"
	"slices"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// Limits of TAINT-1, but for MaxTaints, which is ours: without it a node's record
// could grow call by call.
const (
	MaxTaintCall = 32   // keys to add, and keys to remove, in one call
	MaxTaintKey  = 128  // bytes of a key
	MaxTaints    = 1024 // operator taints of one node
)

// BadTaint reports a call that TAINT-1 does not allow. Nothing changed.
type BadTaint struct{ Key, Why string }

// Error names the key, if one is at fault, and what is wanted.
func (e *BadTaint) Error() string {
	if e.Key == "" {
		return "taint: " + e.Why
	}
	return fmt.Sprintf("taint %q: %s", e.Key, e.Why)
}

// Code is INVALID_INPUT.
func (*BadTaint) Code() string { return string(sm.InvalidInput) }

// Taint adds and removes operator taints. Keys that are there already, or not
// there, are no error; changed is false where the result is the same, and then
// nothing is published (TAINT-1).
func Taint(r Record, add, remove []string) (next Record, changed bool, err error) {
	if err := checkTaints(add, remove); err != nil {
		return r, false, err
	}
	keys := slices.DeleteFunc(slices.Clone(r.Taints), func(k string) bool { return slices.Contains(remove, k) })
	keys = append(keys, add...)
	slices.Sort(keys)
	keys = slices.Compact(keys)
	if len(keys) > MaxTaints {
		return r, false, &BadTaint{Why: fmt.Sprintf("a node has at most %d", MaxTaints)}
	}
	if slices.Equal(keys, r.Taints) {
		return r, false, nil
	}
	if r.Taints = keys; len(keys) == 0 {
		r.Taints = nil // as New has it, so that equal records are the same
	}
	return r, true, nil
}

// checkTaints checks the whole call before anything of it counts, so that a bad
// key leaves the good ones unset too.
func checkTaints(add, remove []string) error {
	if len(add)+len(remove) == 0 {
		return &BadTaint{Why: "name a key to add or remove"}
	}
	if len(add) > MaxTaintCall || len(remove) > MaxTaintCall {
		return &BadTaint{Why: fmt.Sprintf("at most %d keys to add and %d to remove", MaxTaintCall, MaxTaintCall)}
	}
	keys := slices.Concat(add, remove)
	for i, k := range keys {
		if err := CheckTaintKey(k); err != nil {
			return err
		}
		if slices.Contains(keys[:i], k) {
			return &BadTaint{Key: k, Why: "is named twice"}
		}
	}
	return nil
}

// CheckTaintKey checks one key: 1 to 128 of letters, digits and . _ / = : -,
// the first and last a letter or digit (TAINT-1).
func CheckTaintKey(k string) error {
	if k == "" || len(k) > MaxTaintKey {
		return &BadTaint{k[:min(len(k), MaxTaintKey)], "want 1 to 128 characters"}
	}
	if !alphanumeric(k[0]) || !alphanumeric(k[len(k)-1]) {
		return &BadTaint{k, "want a letter or digit first and last"}
	}
	for _, c := range []byte(k) {
		if !alphanumeric(c) && !slices.Contains([]byte("._/=:-"), c) {
			return &BadTaint{k, "want only letters, digits and . _ / = : -"}
		}
	}
	return nil
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
