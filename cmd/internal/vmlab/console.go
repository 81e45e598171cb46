package vmlab

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Bounds of what a console keeps in memory; its file has all of it.
const (
	maxLine  = 4096
	maxLines = 5000
)

// escapes are what firmware sends to move the cursor and to paint (ECMA-48).
var escapes = regexp.MustCompile("\x1b\\[[0-9;?=]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>78]")

// A Line is one of a console, with when its first byte came since power on.
type Line struct {
	At   time.Duration
	Text string
}

// A Console takes what a machine writes to its serial port: into a file, each line with
// its time, and the last lines in memory for whoever waits for one. It is safe for
// concurrent use.
type Console struct {
	file io.Writer
	now  func() time.Time

	mu      sync.Mutex
	began   time.Time
	part    []byte
	partAt  time.Duration
	lines   []Line
	dropped int
	changed chan struct{}
	err     error // of the file
}

// NewConsole writes to file; the times count from now on.
func NewConsole(file io.Writer, now func() time.Time) *Console {
	return &Console{file: file, now: now, began: now(), changed: make(chan struct{})}
}

// Write takes bytes as they come. It never fails: a machine does not stop because its
// console is full.
func (c *Console) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range b {
		if len(c.part) == 0 {
			c.partAt = c.now().Sub(c.began)
		}
		if ch == '\n' || len(c.part) >= maxLine {
			c.line()
			continue
		}
		c.part = append(c.part, ch)
	}
	return len(b), nil
}

// line takes a line that is whole; the lock is held.
func (c *Console) line() {
	text := tidy(c.part)
	c.part = c.part[:0]
	if text == "" {
		return
	}
	if len(c.lines) >= maxLines {
		c.lines, c.dropped = c.lines[1:], c.dropped+1
	}
	c.lines = append(c.lines, Line{c.partAt, text})
	if c.err == nil {
		_, c.err = fmt.Fprintf(c.file, "%9.3f  %s\n", c.partAt.Seconds(), text)
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// tidy makes a console's line one that any reader takes.
func tidy(raw []byte) string {
	raw = escapes.ReplaceAll(raw, nil)
	if i := bytes.LastIndexByte(bytes.TrimRight(raw, "\r"), '\r'); i >= 0 {
		raw = raw[i+1:] // what was written over
	}
	text := strings.ToValidUTF8(string(raw), "?")
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, text)
	return strings.TrimRight(text, " \t")
}

// Lines are those in memory since a number that Lines returned before, and the number
// to go on with.
func (c *Console) Lines(since int) (lines []Line, next int, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	from := min(max(since-c.dropped, 0), len(c.lines))
	return append([]Line(nil), c.lines[from:]...), c.dropped + len(c.lines), c.changed
}

// Tail is the last lines, with one that is not whole yet.
func (c *Console) Tail(n int) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, l := range c.lines[max(0, len(c.lines)-n):] {
		out = append(out, fmt.Sprintf("%8.2f %s", l.At.Seconds(), l.Text))
	}
	if t := tidy(c.part); t != "" {
		out = append(out, fmt.Sprintf("%8.2f %s", c.partAt.Seconds(), t))
	}
	return out
}

// Last is the last line in memory with a text, as Tail shows one; "" if there is none.
func (c *Console) Last(text string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.lines) - 1; i >= 0; i-- {
		if l := c.lines[i]; strings.Contains(l.Text, text) {
			return fmt.Sprintf("%8.2f %s", l.At.Seconds(), l.Text)
		}
	}
	return ""
}
