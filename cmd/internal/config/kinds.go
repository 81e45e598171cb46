package config

import (
	"errors"
	"io/fs"
	"strconv"
	"time"
)

// A Duration is written as Go writes durations: 90s, 15m, 2160h.
type Duration time.Duration

// String is the duration as Go prints it.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes what UnmarshalText reads.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a Go duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// A Mode is the permission bits of a file, written in octal: 0660.
type Mode fs.FileMode

// String is the mode in octal, with its leading zero.
func (m Mode) String() string { return "0" + strconv.FormatUint(uint64(m), 8) }

// MarshalText writes what UnmarshalText reads.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads one to four octal digits, at most 0777.
func (m *Mode) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 8, 32)
	if err != nil || v > 0o777 || len(text) > 4 {
		return errors.New("not a mode")
	}
	*m = Mode(v)
	return nil
}
