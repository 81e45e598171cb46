package vmlab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/pause"
	"github.com/ingotmetal/ingot/cmd/internal/vmlab/panel"
)

// A NoPower reports what is asked of a machine that is off.
type NoPower struct{ Machine string }

// Error says what to do.
func (e *NoPower) Error() string { return e.Machine + " has no power; turn it on first" }

// Code is the error's wire name (API-3).
func (*NoPower) Code() string { return "INVALID_STATE" }

// monitorFile is the socket of a machine's monitor.
func monitorFile(dir string) string { return filepath.Join(dir, "qmp.sock") }

// ask has a conversation with the monitor of a machine that has power. QEMU serves one
// at a time; another waits its turn.
func (m *Machine) ask(ctx context.Context, talk func(*monitor) error) error {
	m.asks.Lock()
	defer m.asks.Unlock()
	var err error
	for end := m.lab.Now().Add(qmpWait); m.lab.Now().Before(end); {
		if !m.Running() {
			return &NoPower{m.Name}
		}
		conn, failed := m.lab.Dial("unix", monitorFile(m.dir))
		if err = failed; err == nil {
			defer conn.Close()
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
			if err := conn.SetDeadline(m.lab.Now().Add(talkWait)); err != nil {
				return err
			}
			q, err := newMonitor(conn)
			if err != nil {
				return err
			}
			return talk(q)
		}
		if !pause.For(ctx, 50*time.Millisecond) { // QEMU has just been started
			return context.Cause(ctx)
		}
	}
	return &Garbled{"it does not answer: " + err.Error()}
}

// Reset pushes the reset button.
func (m *Machine) Reset(ctx context.Context) error {
	err := m.ask(ctx, func(q *monitor) error { return q.do("system_reset", nil, nil) })
	if err == nil {
		m.lab.say(m.Name, "power", "reset")
	}
	return err
}

// Press pushes the power button. What becomes of that is up to what runs.
func (m *Machine) Press(ctx context.Context) error {
	err := m.ask(ctx, func(q *monitor) error { return q.do("system_powerdown", nil, nil) })
	if err == nil {
		m.lab.say(m.Name, "power", "the power button is pressed")
	}
	return err
}

// Screen is a picture of what the machine shows, as PNG.
func (m *Machine) Screen(ctx context.Context) ([]byte, error) {
	path := filepath.Join(m.dir, "dump.png")
	args := map[string]string{"filename": path, "format": "png"}
	if err := m.ask(ctx, func(q *monitor) error { return q.do("screendump", args, nil) }); err != nil {
		return nil, err
	}
	defer os.Remove(path)
	fi, err := os.Stat(path)
	if err != nil {
		return nil, &Garbled{"screendump wrote nothing: " + err.Error()}
	}
	if fi.Size() > panel.MaxScreen {
		return nil, &Garbled{fmt.Sprintf("a picture of %d bytes", fi.Size())}
	}
	return os.ReadFile(path)
}

// stopped says why QEMU does not let the machine go on; "" where it does.
func (m *Machine) stopped(ctx context.Context) string {
	var s struct {
		Running bool   `json:"running"`
		Status  string `json:"status"`
	}
	switch err := m.ask(ctx, func(q *monitor) error { return q.do("query-status", nil, &s) }); {
	case err != nil || s.Running:
		return ""
	case s.Status == "io-error":
		return "QEMU stopped it, since its disk could not be written: is the disk under " + m.dir + " full?"
	}
	return "QEMU stopped it: " + s.Status
}

// screenFile is the last picture of a machine that failed.
func (m *Machine) screenFile() string { return filepath.Join(m.dir, "screen.png") }

// keepScreen keeps what a machine that failed shows. One that does not answer has no
// picture.
func (m *Machine) keepScreen(ctx context.Context) error {
	png, err := m.Screen(ctx)
	if _, off := errors.AsType[*NoPower](err); off || err != nil {
		return err
	}
	return os.WriteFile(m.screenFile(), png, 0o600)
}
