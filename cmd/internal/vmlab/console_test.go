package vmlab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What firmware paints becomes lines, each with the time of its first byte.
func TestConsole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var file bytes.Buffer
		c := NewConsole(&file, time.Now)
		time.Sleep(time.Second)
		for _, part := range []string{"\x1b[2J\x1b[01;01H\x1b[=3h", ">>Start PXE ", "over IPv4.\r\n", "\r\n", "10%\r50%\r100%\r\n", "bad \xff \x07byte\n", "unfinished"} {
			_, _ = c.Write([]byte(part))
			time.Sleep(time.Second)
		}
		lines, next, _ := c.Lines(0)
		want := "[{1s >>Start PXE over IPv4.} {5s 100%} {6s bad ? byte}]"
		if fmt.Sprint(lines) != want || next != 3 {
			t.Errorf("%v", lines)
		}
		if got := strings.Join(c.Tail(1), "|"); got != "    6.00 bad ? byte|    7.00 unfinished" {
			t.Errorf("%q", got)
		}
		if !strings.HasPrefix(file.String(), "    1.000  >>Start PXE over IPv4.\n    5.000  100%\n") {
			t.Errorf("%q", file.String())
		}
	})
}

// What is kept in memory is bounded, and who reads on misses what went.
func TestConsoleIsBounded(t *testing.T) {
	c := NewConsole(&bytes.Buffer{}, time.Now)
	for range maxLines + 10 {
		_, _ = c.Write([]byte("x\n"))
	}
	_, _ = c.Write(bytes.Repeat([]byte("y"), 3*maxLine))
	lines, next, _ := c.Lines(0)
	if len(lines) != maxLines || next <= maxLines || len(lines[len(lines)-1].Text) > maxLine {
		t.Errorf("%d lines, next %d", len(lines), next)
	}
	if late, _, _ := c.Lines(next - 1); len(late) != 1 {
		t.Errorf("%d lines", len(late))
	}
}

// A failure shows what the machine said last and where the rest is.
func TestFailedSaysWhatToDo(t *testing.T) {
	m := &Machine{Spec: Spec{Name: "m1"}, dir: "lab/m1", console: NewConsole(&bytes.Buffer{}, time.Now)}
	_, _ = m.console.Write([]byte("Kernel panic - not syncing\n"))
	err := m.failed("its first announce", context.DeadlineExceeded)
	f, ok := errors.AsType[*Failed](err)
	if !ok || f.Code() != "UNAVAILABLE" || !errors.Is(err, context.DeadlineExceeded) || m.failed("another step", err) != err {
		t.Errorf("%v", err)
	}
	for _, want := range []string{"m1: its first announce", "Kernel panic", "lab/m1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %s", want, err)
		}
	}
}

// A kernel that panicked and began again has said why before the last lines.
func TestFailedHasThePanic(t *testing.T) {
	m := &Machine{Spec: Spec{Name: "m1"}, dir: "lab/m1", console: NewConsole(&bytes.Buffer{}, time.Now)}
	_, _ = m.console.Write([]byte("Kernel panic - not syncing: no init\n" + strings.Repeat("SeaBIOS\n", 20)))
	f, _ := errors.AsType[*Failed](m.failed("its first announce", context.DeadlineExceeded))
	if len(f.Console) != 14 || !strings.HasSuffix(f.Console[0], "no init") || f.Console[1] != "..." {
		t.Errorf("%q", f.Console)
	}
}
