package vmlab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Machine is a QEMU process that comes and goes with its power. It is safe for
// concurrent use.
type Machine struct {
	Spec
	lab *Lab
	dir string

	asks sync.Mutex // its monitor serves one at a time

	mu      sync.Mutex
	console *Console
	cmd     *exec.Cmd
	gone    chan struct{} // closed when the process has ended
	said    *lastWords    // on standard error
	boots   int
	peak    int64 // of its process' memory, in MiB, in all its power cycles

	plugged int               // disks that came while it ran
	backs   map[string]string // by the device, the back end of one that came and is there

	announced time.Duration // from power on to the first announce
}

// newMachine makes a machine's folder, with firmware variables of its own.
func (l *Lab) newMachine(s Spec) (*Machine, error) {
	m := &Machine{Spec: s, lab: l, dir: filepath.Join(l.Dir, s.Name), backs: map[string]string{}}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return nil, err
	}
	vars := map[Boot]string{PXE: l.Firmware.Vars, HTTP: l.Firmware.Vars, Secure: l.Firmware.SecureVars}[s.Boot]
	if vars == "" {
		return m, nil
	}
	raw, err := os.ReadFile(vars)
	if err != nil {
		return nil, &Missing{"the firmware " + vars, "apt-get install ovmf"}
	}
	return m, os.WriteFile(filepath.Join(m.dir, "vars.fd"), raw, 0o600)
}

// On turns the power on. A machine that has it is left alone.
func (m *Machine) On() error { return m.Start(Start{}) }

// Start is On with what holds for this power cycle alone.
func (m *Machine) Start(now Start) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone != nil {
		select {
		case <-m.gone:
		default:
			return nil
		}
	}
	m.boots++
	clear(m.backs)
	log, err := os.Create(m.consoleFile(m.boots))
	if err != nil {
		return err
	}
	m.console = NewConsole(log, m.lab.Now)
	stopTPM, err := m.startTPM()
	if err != nil {
		return errors.Join(err, log.Close())
	}
	cmd := exec.Command("qemu-system-x86_64", m.args(m.lab.Firmware, m.dir, now)...)
	cmd.SysProcAttr = dying()
	cmd.Stdout = m.console
	said := &lastWords{}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		stopTPM()
		return errors.Join(&Missing{"QEMU", "apt-get install qemu-system-x86"}, log.Close())
	}
	m.cmd, m.said, m.gone = cmd, said, make(chan struct{})
	m.lab.say(m.Name, "power", "on, "+string(m.Boot)+now.words())
	gone := m.gone
	m.lab.all.Go(func() {
		err := cmd.Wait()
		stopTPM()
		m.mu.Lock()
		m.peak = max(m.peak, peakOf(cmd.ProcessState))
		m.mu.Unlock()
		_ = log.Close()
		if text := said.String(); text != "" {
			m.lab.say(m.Name, "qemu", text)
		} else if _, killed := errors.AsType[*exec.ExitError](err); err != nil && !killed {
			m.lab.say(m.Name, "qemu", err.Error())
		}
		close(gone)
	})
	return nil
}

// consoleFile is where the console of a power cycle is kept.
func (m *Machine) consoleFile(n int) string {
	return filepath.Join(m.dir, fmt.Sprintf("console-%02d.log", n))
}

// lastWords keeps the end of what a process said.
type lastWords struct {
	mu sync.Mutex
	b  []byte
}

func (w *lastWords) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b = append(w.b, b...)
	w.b = w.b[max(0, len(w.b)-1000):]
	return len(b), nil
}

func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.TrimSpace(string(w.b))
}

// Off cuts the power, as a hand at the plug does, and returns when it is off.
func (m *Machine) Off() {
	m.mu.Lock()
	cmd, gone := m.cmd, m.gone
	m.mu.Unlock()
	if gone == nil {
		return
	}
	_ = cmd.Process.Kill() // it may have ended
	<-gone
	m.lab.say(m.Name, "power", "off")
}

// Running reports whether it has power.
func (m *Machine) Running() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone == nil {
		return false
	}
	select {
	case <-m.gone:
		return false
	default:
		return true
	}
}

// Console is that of this power cycle; nil before the first.
func (m *Machine) Console() *Console {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.console
}

// Await waits until the console shows a text, and returns the line.
func (m *Machine) Await(ctx context.Context, texts ...string) (Line, error) {
	return m.await(ctx, 0, texts...)
}

// await looks at the lines since a number that the console gave.
func (m *Machine) await(ctx context.Context, since int, texts ...string) (Line, error) {
	c := m.Console()
	for {
		lines, next, changed := c.Lines(since)
		since = next
		for _, l := range lines {
			for _, t := range texts {
				if strings.Contains(l.Text, t) {
					return l, nil
				}
			}
		}
		m.mu.Lock()
		gone := m.gone
		m.mu.Unlock()
		select {
		case <-changed:
		case <-gone:
			return Line{}, m.failed("waiting for "+strings.Join(texts, " or "), errors.New("the machine lost its power"))
		case <-ctx.Done():
			return Line{}, m.failed("waiting for "+strings.Join(texts, " or "), context.Cause(ctx))
		}
	}
}

// scarce is what of a disk's room is none, in bytes.
const scarce = 8 << 20

// failed is the error of a step, with what the machine said and shows.
func (m *Machine) failed(step string, err error) error {
	if _, ok := errors.AsType[*Failed](err); ok {
		return err
	}
	f := &Failed{Machine: m.Name, Step: step, Err: err, Next: "the whole console is in " + m.dir}
	if c := m.Console(); c != nil {
		f.Console = c.Tail(12)
		if l := c.Last("Kernel panic"); l != "" && !slices.Contains(f.Console, l) { // it has restarted since
			f.Console = append([]string{l, "..."}, f.Console...)
		}
	}
	if room(m.dir) < scarce {
		f.Err = fmt.Errorf("%w; the disk under %s is full, which the site and the machine both suffer from", err, m.dir)
	}
	if !m.Running() {
		m.mu.Lock()
		said := m.said
		m.mu.Unlock()
		if said != nil && said.String() != "" {
			f.Err = fmt.Errorf("%w; QEMU said: %s", f.Err, said)
		}
		return f
	}
	ctx, done := context.WithTimeout(context.Background(), qmpWait) // the step's own time may be over
	defer done()
	if why := m.stopped(ctx); why != "" {
		f.Err = fmt.Errorf("%w; %s", f.Err, why)
	}
	if m.keepScreen(ctx) == nil {
		f.Next += ", its screen is " + m.screenFile()
	}
	return f
}

// blank makes a sparse file for a disk.
func blank(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}
