package vmlab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// tpmWait is how long swtpm may take to listen.
const tpmWait = 10 * time.Second

// startTPM runs the machine's TPM 2.0, whose state lasts in the machine's folder. It
// ends when QEMU lets go of it.
func (m *Machine) startTPM() (*exec.Cmd, error) {
	state, socket := filepath.Join(m.dir, "tpm"), filepath.Join(m.dir, "tpm.sock")
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	_ = os.Remove(socket) // of the last power cycle
	said := &lastWords{}
	cmd := exec.Command("swtpm", "socket", "--tpm2", "--terminate", "--tpmstate", "dir="+state, "--ctrl", "type=unixio,path="+socket)
	cmd.SysProcAttr = dying()
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		return nil, &Missing{"swtpm", "apt-get install swtpm"}
	}
	for end := m.lab.Now().Add(tpmWait); m.lab.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			return cmd, nil
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return nil, &Failed{Machine: m.Name, Step: "its TPM starts", Err: errors.New("swtpm does not listen"), Next: fmt.Sprintf("it said: %q", said)}
}
