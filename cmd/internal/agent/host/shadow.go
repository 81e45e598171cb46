package host

import (
	"bytes"
	"strconv"
	"time"
)

// Bounds of a shadow file, in bytes.
const (
	maxShadow = 4 << 20
	maxEntry  = 16 << 10
)

// locked is a password field that no password matches (shadow(5)); other ways in, such
// as a key of SSH, are left.
const locked = "*"

// entry is where the line of root is in a shadow file, and its password field. There must
// be exactly one, since readers differ in which of several they take.
func entry(file []byte) (from, to int, password string, err error) {
	if len(file) > maxShadow {
		return 0, 0, "", &NoShadow{"has more than 4 MiB"}
	}
	from = -1
	at := 0
	for line := range bytes.Lines(file) {
		if bytes.HasPrefix(line, []byte("root:")) {
			if from >= 0 {
				return 0, 0, "", &NoShadow{"has two entries of root; remove one"}
			}
			from, to = at, at+len(bytes.TrimSuffix(line, []byte("\n")))
		}
		at += len(line)
	}
	if from < 0 {
		return 0, 0, "", &NoShadow{"has no entry of root; add one with pwconv"}
	}
	fields := bytes.Split(file[from:to], []byte(":"))
	if len(fields) != 9 || to-from > maxEntry {
		return 0, 0, "", &NoShadow{"has an entry of root that is none of shadow(5): " + strconv.Itoa(len(fields)) + " fields, want 9"}
	}
	return from, to, string(fields[1]), nil
}

// replaced is a shadow file in which root's password is another, changed on the day of
// now, so that no aging calls it old. Every other byte stays. It is nil where nothing
// differs.
func replaced(file []byte, password string, now time.Time) ([]byte, error) {
	from, to, was, err := entry(file)
	if err != nil || was == password {
		return nil, err
	}
	fields := bytes.Split(file[from:to], []byte(":"))
	fields[1] = []byte(password)
	fields[2] = strconv.AppendInt(nil, now.Unix()/(24*60*60), 10)
	out := append(bytes.Clone(file[:from]), bytes.Join(fields, []byte(":"))...)
	return append(out, file[to:]...), nil
}
