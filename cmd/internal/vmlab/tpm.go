package vmlab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// tpmWait is how long swtpm may take to listen.
const tpmWait = 10 * time.Second

// startTPM runs the machine's TPM 2.0, if it has one, whose state lasts in the machine's
// folder. It ends when QEMU lets go of it, as a rule before stop is called.
func (m *Machine) startTPM() (stop func(), err error) {
	if m.TPM == "" {
		return func() {}, nil
	}
	state := filepath.Join(m.dir, "tpm")
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	_ = os.Remove(m.TPM) // of the last power cycle
	said := &lastWords{}
	cmd := exec.Command("swtpm", "socket", "--tpm2", "--terminate", "--tpmstate", "dir="+state, "--ctrl", "type=unixio,path="+m.TPM)
	cmd.SysProcAttr = dying()
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		return nil, &Missing{"swtpm", "apt-get install swtpm"}
	}
	stop = func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	}
	for end := m.lab.Now().Add(tpmWait); m.lab.Now().Before(end); pause.For(context.Background(), 10*time.Millisecond) {
		if _, err := os.Stat(m.TPM); err == nil {
			return stop, nil
		}
	}
	stop()
	return nil, &Failed{Machine: m.Name, Step: "its TPM starts", Err: errors.New("swtpm does not listen"), Next: fmt.Sprintf("it said: %q", said)}
}
