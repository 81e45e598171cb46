// Package kmod finds what Linux kernel modules need, and an order to load them in.
//
// It reads the modules themselves (section .modinfo, as modinfo(8) shows it), not
// modules.dep, which a package does not bring: depmod(8) makes it when the package is
// installed.
package kmod

import (
	"fmt"
	"strings"
)

// MaxModule bounds a module, unpacked, in bytes.
const MaxModule = 64 << 20

// A Module is one that a kernel can load.
type Module struct {
	Name    string   // with _ for -
	Path    string   // below the folder of the kernel's modules, without an end of compression
	Needs   []string // modules whose symbols it uses
	Before  []string // modules that it wants loaded first, if they are there (softdep pre)
	Release string   // of the kernel that it was made for; "" where it does not say
	Body    []byte   // unpacked, with its signature
}

// Invalid reports a file that is no module.
type Invalid struct{ Path, Why string }

// Error names the file.
func (e *Invalid) Error() string { return fmt.Sprintf("kmod: %.200s %s", e.Path, e.Why) }

// Code is the error's wire name (API-3).
func (*Invalid) Code() string { return "INVALID_INPUT" }

// Missing reports a module that is asked for, or that another needs, and that the
// kernel has neither as a file nor built in.
type Missing struct{ Name, For string }

// Error says what to do.
func (e *Missing) Error() string {
	if e.For == "" {
		return fmt.Sprintf("kmod: the kernel has no module %.80s: name another, or take a kernel that has it", e.Name)
	}
	return fmt.Sprintf("kmod: the module %.80s needs %.80s, which is not there: the folder of modules is not whole", e.For, e.Name)
}

// Code is the error's wire name (API-3).
func (*Missing) Code() string { return "NOT_FOUND" }

// Cyclic reports modules that need each other.
type Cyclic struct{ Name string }

// Error names one of them.
func (e *Cyclic) Error() string {
	return fmt.Sprintf("kmod: the module %.80s needs itself by others", e.Name)
}

// Code is the error's wire name (API-3).
func (*Cyclic) Code() string { return "INVALID_INPUT" }

// Name is the name that the kernel gives a module, by its file or as a person types it.
func Name(s string) string {
	s = s[strings.LastIndexByte(s, '/')+1:]
	s, _, _ = strings.Cut(s, ".ko")
	return strings.ReplaceAll(s, "-", "_")
}
