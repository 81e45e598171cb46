package kmod

import "strings"

// A Set is what a kernel has: modules, and what is built in.
type Set struct {
	modules map[string]Module
	builtin map[string]bool
}

// NewSet makes a set. builtin is the kernel's file modules.builtin. Of modules with one
// name the last holds.
func NewSet(modules []Module, builtin string) Set {
	s := Set{map[string]Module{}, map[string]bool{}}
	for _, m := range modules {
		s.modules[m.Name] = m
	}
	for line := range strings.FieldsSeq(builtin) {
		s.builtin[Name(line)] = true
	}
	return s
}

// Len is how many modules there are.
func (s Set) Len() int { return len(s.modules) }

// Has reports whether the kernel has a module, as a file or built in.
func (s Set) Has(name string) bool {
	_, file := s.modules[Name(name)]
	return file || s.builtin[Name(name)]
}

// Order returns the modules of these names and all that they need, each after what it
// needs. What is built in needs no file. The order depends on names and set alone. The
// error is a *Missing or a *Cyclic.
func (s Set) Order(names []string) ([]Module, error) {
	o := order{set: s, seen: map[string]int{}}
	for _, name := range names {
		if err := o.add(Name(name), ""); err != nil {
			return nil, err
		}
	}
	return o.out, nil
}

// order is a walk through what modules need.
type order struct {
	set  Set
	seen map[string]int
	out  []Module
}

// How far a module is.
const (
	begun = iota + 1
	done
)

func (o *order) add(name, by string) error {
	m, ok := o.set.modules[name]
	switch {
	case o.seen[name] == done:
		return nil
	case o.seen[name] == begun:
		return &Cyclic{name}
	case !ok && o.set.builtin[name]:
		return nil
	case !ok:
		return &Missing{name, by}
	}
	o.seen[name] = begun
	for _, soft := range m.Before {
		if o.set.Has(soft) && o.seen[soft] != begun { // a wish of both is none
			if err := o.add(soft, name); err != nil {
				return err
			}
		}
	}
	for _, need := range m.Needs {
		if err := o.add(need, name); err != nil {
			return err
		}
	}
	o.seen[name] = done
	o.out = append(o.out, m)
	return nil
}
