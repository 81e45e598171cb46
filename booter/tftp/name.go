package tftp

import (
	"io/fs"
	"slices"
	"strings"
)

// maxName is the longest name that is looked for, in bytes.
const maxName = 255

// localName turns the name of a request into one that passes fs.ValidPath, or
// says why there is none (BOOT-25): a name with ".." is denied, since someone
// may be looking for a way out (BOOT-9); any other is no file of ours.
func localName(sent string) (string, *Refused) {
	for strings.HasSuffix(sent, "\xff") {
		sent = sent[:len(sent)-1]
	}
	slashed := strings.ReplaceAll(sent, `\`, "/")
	parts := strings.Split(slashed, "/")
	if slices.Contains(parts, "..") {
		return "", &Refused{errDenied, "the path leads out"}
	}
	name := strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "/")
	switch {
	case len(name) > maxName, name == ".", !fs.ValidPath(name), strings.ContainsFunc(name, control),
		strings.HasSuffix(slashed, "/"):
		return "", &Refused{errNotFound, "no such file"}
	}
	return name, nil
}

// control finds what no name holds, and no log should: C0, DEL and C1.
func control(r rune) bool { return r < ' ' || 0x7f <= r && r <= 0x9f }
