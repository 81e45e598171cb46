package secrets

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The kinds of references that this package resolves. Others are added as
// further [Resolvers].
const (
	KindFile  = "file"  // secret://file/PATH: a file below a configured root
	KindEnv   = "env"   // secret://env/NAME: variables of the process
	KindStore = "store" // secret://store/NAME: a [Store]
)

// maxRef bounds a reference, in bytes.
const maxRef = 512

// refForm is a reference: a kind, then a name of 1 or more parts. Percent signs,
// queries, fragments, users and ports are no part of one.
var refForm = regexp.MustCompile(`^secret://([a-z][a-z0-9-]{0,31})/([A-Za-z0-9._:-]{1,128}(?:/[A-Za-z0-9._:-]{1,128})*)$`)

// A Ref names a secret without holding it (PROV-9); anybody may see it. The zero
// Ref names none.
type Ref struct {
	Kind, Name string
}

// ParseRef reads secret://KIND/NAME of at most 512 bytes. KIND is 1-32 of a-z,
// 0-9 and the hyphen, first a letter. NAME has parts with a slash between, each
// 1-128 of letters, digits and . _ : -, none of them "." or "..". What a kind
// takes of these is checked when it resolves. The error is [*BadRef].
func ParseRef(text string) (Ref, error) {
	if len(text) > maxRef {
		return Ref{}, &BadRef{fmt.Sprintf("has %d bytes, at most %d", len(text), maxRef)}
	}
	if !strings.HasPrefix(text, "secret://") {
		return Ref{}, &BadRef{"does not begin with secret://"}
	}
	m := refForm.FindStringSubmatch(text)
	if m == nil {
		return Ref{}, &BadRef{"has not the form of one"}
	}
	if slices.ContainsFunc(strings.Split(m[2], "/"), func(part string) bool { return part == "." || part == ".." }) {
		return Ref{}, &BadRef{"has a part that is . or .."}
	}
	return Ref{m[1], m[2]}, nil
}

// String is the text that ParseRef reads, "" for the zero Ref.
func (r Ref) String() string {
	if r == (Ref{}) {
		return ""
	}
	return "secret://" + r.Kind + "/" + r.Name
}

// A BadRef reports a text that is no reference. It never carries the text:
// people paste the secret itself.
type BadRef struct{ Why string }

// Error says what is wrong and what is legal.
func (e *BadRef) Error() string {
	return "secrets: the reference " + e.Why + "; legal: secret://KIND/NAME such as secret://file/PATH, secret://env/NAME or secret://store/NAME, with letters, digits and . _ : - in each part"
}

// Code is the error's wire name (API-3).
func (e *BadRef) Code() string { return "INVALID_INPUT" }
