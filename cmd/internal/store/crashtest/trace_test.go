package crashtest

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A call is one system call of a worker, as strace shows it.
type call struct {
	tid   string
	name  string
	path  string // of its descriptor, or the first that it names
	path2 string // the second that it names
	flags string // of openat
	data  []byte // of a write
	at    int64  // offset of a write, size of a truncation
}

// A step is the beginning or the end of a call.
type step struct {
	call
	begins bool
	ends   bool   // both, where nothing came between
	result string // of one that ends: "?" where the worker died in it
}

// failed reports whether a call ended without an effect.
func (s step) failed() bool { return s.ends && strings.HasPrefix(s.result, "-1") }

var (
	lineForm    = regexp.MustCompile(`^(\d+) +(.*)$`)
	wholeForm   = regexp.MustCompile(`^(\w+)\((.*)\) += (.*)$`)
	cutForm     = regexp.MustCompile(`^(\w+)\((.*) <unfinished \.\.\.>$`)
	resumedForm = regexp.MustCompile(`^<\.\.\. (\w+) resumed>.*\) += (.*)$`)
	fileForm    = regexp.MustCompile(`^\d+<([^>]*)>`)
	stringForm  = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
)

// readTrace yields the steps of a trace, in their order, of the calls that are about
// a folder.
func readTrace(path, dir string, yield func(step) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	open := map[string]call{} // by thread
	for in.Scan() {
		m := lineForm.FindStringSubmatch(in.Text())
		if m == nil {
			return fmt.Errorf("strace says %.80q", in.Text())
		}
		s, ok, err := readStep(m[1], m[2], open)
		if err != nil {
			return fmt.Errorf("%w in %.200q", err, in.Text())
		}
		if ok && (strings.HasPrefix(s.path, dir) || strings.HasPrefix(s.path2, dir)) {
			if err := yield(s); err != nil {
				return err
			}
		}
	}
	return in.Err()
}

// readStep reads what a thread did, which may be nothing of interest.
func readStep(tid, text string, open map[string]call) (s step, ok bool, err error) {
	if m := wholeForm.FindStringSubmatch(text); m != nil {
		c, err := readCall(tid, m[1], m[2])
		return step{call: c, begins: true, ends: true, result: m[3]}, true, err
	}
	if m := cutForm.FindStringSubmatch(text); m != nil {
		c, err := readCall(tid, m[1], m[2])
		open[tid] = c
		return step{call: c, begins: true}, true, err
	}
	if m := resumedForm.FindStringSubmatch(text); m != nil {
		c, was := open[tid]
		delete(open, tid)
		if !was || c.name != m[1] {
			return s, false, fmt.Errorf("%s ends, which did not begin", m[1])
		}
		return step{call: c, ends: true, result: m[2]}, true, nil
	}
	if strings.HasPrefix(text, "+++ ") || strings.HasPrefix(text, "--- ") || strings.HasPrefix(text, "<... ") || strings.HasPrefix(text, "???") {
		return s, false, nil // an end of a thread, a signal, a call that was cut off by one
	}
	return s, false, fmt.Errorf("unknown form")
}

func readCall(tid, name, args string) (c call, err error) {
	c = call{tid: tid, name: name}
	if m := fileForm.FindStringSubmatch(args); m != nil {
		if c.path, err = unhex(m[1]); err != nil {
			return c, err
		}
		args = args[len(m[0]):]
	}
	var texts []string
	for _, m := range stringForm.FindAllStringSubmatch(args, 2) {
		text, err := unhex(m[1])
		if err != nil {
			return c, err
		}
		texts = append(texts, text)
	}
	rest := strings.TrimSuffix(stringForm.ReplaceAllString(args, ""), " <unfinished ...>") // the worker died in it
	fields := strings.Split(rest, ", ")
	last := fields[len(fields)-1]
	switch name {
	case "pwrite64":
		c.data = []byte(texts[0])
		c.at, err = strconv.ParseInt(last, 10, 64)
	case "write":
		if len(texts) > 0 {
			c.data = []byte(texts[0])
		}
	case "ftruncate":
		c.at, err = strconv.ParseInt(last, 10, 64)
	case "openat":
		c.path, c.flags = texts[0], rest
	case "fsync", "fdatasync":
	case "linkat", "rename", "renameat", "renameat2":
		c.path, c.path2 = texts[0], texts[1]
	case "unlink", "unlinkat":
		c.path = texts[0]
	default:
		if len(texts) > 0 && c.path == "" {
			c.path = texts[0]
		}
	}
	return c, err
}

// unhex reads \x41\x42; what is not written so stands for itself.
func unhex(s string) (string, error) {
	if !strings.HasPrefix(s, `\x`) {
		return s, nil
	}
	raw, err := hex.DecodeString(strings.ReplaceAll(s, `\x`, ""))
	return string(raw), err
}

// base is a path's name in its folder; the folder itself is ".".
func base(path, dir string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return path
	}
	return rel
}
