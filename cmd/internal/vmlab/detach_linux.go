package vmlab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/vmlab/panel"
)

// readyFile is the descriptor at which the process of a lab that stays up finds the
// pipe to whoever started it.
const readyFile = 3

// downWait is how long a lab may take to go down.
const downWait = 40 * time.Second

// Detach runs this program again with the same arguments, in a network namespace and a
// session of its own, so that it outlives this process and its terminal. It makes the
// lab's folder, where the other's log is, and returns when the other is
// Ready. It calls started as soon as the other runs.
func Detach(ctx context.Context, o Options, s Stay, started func()) (panel.Lab, error) {
	o = o.rooted()
	if err := errors.Join(s.Check(), o.check(thisHost())); err != nil {
		return panel.Lab{}, err
	}
	if err := Folder(o.Dir); err != nil {
		return panel.Lab{}, err
	}
	cmd, ready, err := detached(filepath.Join(o.Dir, panel.Log))
	if err != nil {
		return panel.Lab{}, errors.Join(err, os.RemoveAll(o.Dir))
	}
	defer ready.Close()
	started()
	said := make(chan panel.Started, 1)
	go func() { // it ends with the other, at the latest
		var s panel.Started
		line, _ := bufio.NewReader(ready).ReadBytes('\n')
		if json.Unmarshal(line, &s) != nil {
			s = panel.Started{}
		}
		said <- s
	}()
	select {
	case s := <-said:
		return begun(o, s, cmd)
	case <-ctx.Done():
		_ = cmd.Process.Signal(syscall.SIGTERM)
		end := time.AfterFunc(downWait, func() { _ = cmd.Process.Kill() })
		defer end.Stop()
		_ = cmd.Wait()
		return panel.Lab{}, context.Cause(ctx)
	}
}

// begun is what the other said, or did not.
func begun(o Options, s panel.Started, cmd *exec.Cmd) (panel.Lab, error) {
	if s.Lab != nil {
		return *s.Lab, cmd.Process.Release()
	}
	_ = cmd.Wait() // it has ended, or is about to
	if s.Error != "" {
		return panel.Lab{}, api.NewProblem(s.Code, s.Error)
	}
	return panel.Lab{}, &Failed{Step: "starting the lab's process", Err: errors.New("it ended without a word"), Console: tailOf(filepath.Join(o.Dir, panel.Log), 12)}
}

// detached starts the other process. The file is the end of a pipe from it.
func detached(logFile string) (*exec.Cmd, *os.File, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, opening("making the lab's log", err)
	}
	defer log.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer w.Close()
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = log, log, []*os.File{w}
	cmd.Env = append(os.Environ(), outsideEnv+"="+namespace())
	cmd.SysProcAttr = inside(&syscall.SysProcAttr{Setsid: true})
	if err := cmd.Start(); err != nil {
		return nil, nil, errors.Join(noNamespace(err), r.Close())
	}
	return cmd, r, nil
}

// Ready tells whoever started this process, once, that the lab is up, or why it is not.
func Ready() (func(panel.Started), error) {
	syscall.CloseOnExec(readyFile) // it is no business of the lab's programs
	f := os.NewFile(readyFile, "ready")
	if f == nil {
		return nil, &Invalid{"this process", "to be started by `ingot lab up`"}
	}
	return func(s panel.Started) {
		_ = json.NewEncoder(f).Encode(s) // who does not listen any more has been told by a signal
		_ = f.Close()
	}, nil
}
