package vmlab

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const greeting = `{"QMP": {"version": {"qemu": {"micro": 22, "minor": 2, "major": 7}, "package": "Debian"}, "capabilities": ["oob"]}}`

// fakeQEMU is the other side of a monitor: it greets, agrees on capabilities, and gives
// each command its lines, %d being the command's id.
func fakeQEMU(conn net.Conn, answers map[string][]string) {
	defer conn.Close()
	fmt.Fprintln(conn, greeting)
	agreed := false
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		var asked struct {
			Execute   string
			Arguments struct{ Filename, Format string }
			ID        int
		}
		if json.Unmarshal(lines.Bytes(), &asked) != nil {
			return
		}
		if asked.Execute == "qmp_capabilities" {
			agreed = true
			fmt.Fprintf(conn, "{\"return\": {}, \"id\": %d}\r\n", asked.ID)
			continue
		}
		if asked.Execute == "screendump" && asked.Arguments.Format == "png" {
			_ = os.WriteFile(asked.Arguments.Filename, []byte("\x89PNG"), 0o600)
		}
		for _, l := range answers[asked.Execute] {
			if !agreed {
				l = `{"id": %d, "error": {"class": "CommandNotFound", "desc": "negotiate first"}}`
			}
			if strings.Contains(l, "%d") {
				l = fmt.Sprintf(l, asked.ID)
			}
			fmt.Fprint(conn, l+"\r\n")
		}
	}
}

// What QEMU answers becomes a value or an error of a type; events are skipped.
func TestMonitor(t *testing.T) {
	const event = `{"timestamp": {"seconds": 1, "microseconds": 2}, "event": "RESET", "data": {}}`
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"plain", []string{`{"return": {"status": "running", "running": true}, "id": %d}`}, "running"},
		{"among events", []string{event, event, `{"return": {"status": "paused"}, "id": %d}`}, "paused"},
		{"refused", []string{event, `{"id": %d, "error": {"class": "GenericError", "desc": "no screen"}}`}, "INVALID_STATE QEMU refuses query-status: no screen (GenericError)"},
		{"another's answer", []string{`{"return": {}, "id": 99}`}, "UNAVAILABLE QEMU's monitor: it answers what was not asked"},
		{"no id", []string{`{"return": {}}`}, "UNAVAILABLE QEMU's monitor: it answers what was not asked"},
		{"two in one", []string{`{"return": {}, "event": "STOP", "id": %d}`}, "UNAVAILABLE QEMU's monitor: no message"},
		{"another form", []string{`{"return": {"status": 7}, "id": %d}`}, "UNAVAILABLE QEMU's monitor: what query-status returns"},
		{"no JSON", []string{"login:"}, "UNAVAILABLE QEMU's monitor: invalid character"},
		{"too long", []string{`{"return": "` + strings.Repeat("x", maxQMPLine) + `", "id": %d}`}, "UNAVAILABLE QEMU's monitor: a line of more than 1048576 bytes"},
		{"events alone", slicesOf(event, maxQMPLines), "UNAVAILABLE QEMU's monitor: no answer among 1000 messages"},
		{"silence", nil, "UNAVAILABLE QEMU's monitor: it says nothing: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				go fakeQEMU(theirs, map[string][]string{"query-status": c.lines})
				defer ours.Close()
				_ = ours.SetDeadline(time.Now().Add(qmpWait))
				q, err := newMonitor(ours)
				if err != nil {
					t.Fatal(err)
				}
				var out struct{ Status string }
				err = q.do("query-status", nil, &out)
				got := out.Status
				if coded, ok := err.(interface{ Code() string }); ok {
					got = coded.Code() + " " + err.Error()
				}
				if !strings.HasPrefix(got, c.want) {
					t.Errorf("%q, want %q", got, c.want)
				}
			})
		})
	}
}

func slicesOf(s string, n int) (out []string) {
	for range n {
		out = append(out, s)
	}
	return out
}

// What is no monitor is found out at its first word.
func TestMonitorGreets(t *testing.T) {
	for said, want := range map[string]string{"": "it hung up", "SSH-2.0\n": "invalid character", "{}\n": "no message", `{"event": "RESET"}` + "\n": "it does not greet", greeting + "\n": "it hung up"} {
		_, err := newMonitor(struct {
			io.Reader
			io.Writer
		}{strings.NewReader(said), io.Discard})
		if g, ok := errors.AsType[*Garbled](err); !ok || !strings.Contains(g.What, want) {
			t.Errorf("%q: %v", said, err)
		}
	}
}

// powered is a machine with power whose monitor is a fake.
func powered(t *testing.T, answers map[string][]string) (*Machine, *sync.WaitGroup) {
	var all sync.WaitGroup
	l := &Lab{Options: Options{Dir: t.TempDir(), Out: io.Discard, Now: time.Now}}
	l.Dial = func(_, address string) (net.Conn, error) {
		if filepath.Base(address) != "qmp.sock" {
			return nil, errors.New("no such address: " + address)
		}
		ours, theirs := net.Pipe()
		all.Go(func() { fakeQEMU(theirs, answers) })
		return ours, nil
	}
	m := &Machine{Spec: Spec{Name: "m1"}, lab: l, dir: l.Dir, console: NewConsole(&bytes.Buffer{}, time.Now), gone: make(chan struct{})}
	l.machines = []*Machine{m}
	return m, &all
}

// A machine is reset, its button pressed, its screen taken; one without power says so.
func TestButtons(t *testing.T) {
	done := []string{`{"return": {}, "id": %d}`}
	m, all := powered(t, map[string][]string{"system_reset": done, "system_powerdown": done, "screendump": done})
	png, err := m.Screen(t.Context())
	if err := errors.Join(err, m.Reset(t.Context()), m.Press(t.Context())); err != nil || string(png) != "\x89PNG" {
		t.Errorf("%q %v", png, err)
	}
	all.Wait()
	if left, _ := filepath.Glob(m.dir + "/*"); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	close(m.gone)
	for _, err := range []error{m.Reset(t.Context()), m.Press(t.Context()), m.keepScreen(t.Context())} {
		if n, ok := errors.AsType[*NoPower](err); !ok || n.Code() != "INVALID_STATE" {
			t.Errorf("%v", err)
		}
	}
}

// A step that fails keeps the screen, and says that QEMU stopped the machine.
func TestFailedKeepsTheScreen(t *testing.T) {
	m, all := powered(t, map[string][]string{"query-status": {`{"return": {"running": false, "status": "io-error"}, "id": %d}`}, "screendump": {`{"return": {}, "id": %d}`}})
	err := m.failed("its setup", errors.New("it takes too long"))
	all.Wait()
	if png, _ := os.ReadFile(filepath.Join(m.dir, "screen.png")); string(png) != "\x89PNG" {
		t.Errorf("the screen is %q", png)
	}
	for _, want := range []string{"m1: its setup: it takes too long; QEMU stopped it, since its disk could not be written", "full?", "its screen is " + m.dir} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// A machine that QEMU did not even start says what QEMU said.
func TestFailedHasTheLastWords(t *testing.T) {
	m, _ := powered(t, nil)
	close(m.gone)
	m.said = &lastWords{}
	_, _ = m.said.Write([]byte("qemu-system-x86_64: could not open 'tap0'\n"))
	err := m.failed("power on", &NoPower{"m1"})
	if n, ok := errors.AsType[*NoPower](err); !ok || n.Machine != "m1" || !strings.Contains(err.Error(), "turn it on first; QEMU said: qemu-system-x86_64: could not open 'tap0'") {
		t.Errorf("%v", err)
	}
}

// Whatever QEMU says, a conversation ends, and with an answer only where there was one.
func FuzzMonitor(f *testing.F) {
	for _, s := range []string{"", greeting + "\n", greeting + "\n{\"return\": {}, \"id\": 1}\n{\"event\": \"STOP\"}\r\n{\"return\": {\"status\": \"running\"}, \"id\": 2}\n", greeting + "\n{\"id\": 1, \"error\": {\"class\": \"c\", \"desc\": \"d\"}}\n", "{\"QMP\": 1, \"return\": 1}\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		q, err := newMonitor(struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(said), io.Discard})
		var out struct{ Status string }
		if err == nil {
			err = q.do("query-status", nil, &out)
		}
		if err == nil {
			if bytes.Count(said, []byte("\n")) < 2 {
				t.Errorf("an answer out of %q", said)
			}
			return
		}
		_, garbled := errors.AsType[*Garbled](err)
		_, declined := errors.AsType[*Declined](err)
		if !garbled && !declined {
			t.Errorf("%T %v", err, err)
		}
	})
}
