//go:build linux

package host_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/api"
)

// TestRootPasswordBesidePasswd changes root's password while chpasswd(8) changes
// another's in the same file: neither loses what the other wrote, and pwck(8) finds
// nothing wrong after it.
func TestRootPasswordBesidePasswd(t *testing.T) {
	for _, name := range []string{"chpasswd", "pwck"} {
		if _, err := exec.LookPath(name); err != nil {
			missing(t, name+" is missing: apt-get install passwd")
		}
	}
	if os.Getuid() != 0 {
		missing(t, "chpasswd needs root: run the test as root")
	}
	root := t.TempDir()
	e := &etc{t: t, dir: filepath.Join(root, "etc")}
	if err := os.Mkdir(e.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file(t, filepath.Join(e.dir, "passwd"), "root:x:0:0:root:/:\nada:x:1:1:ada:/:\n")
	file(t, filepath.Join(e.dir, "group"), "root:x:0:\nada:x:1:\n")
	file(t, e.shadow(), "root:!:19000:0:99999:7:::\nada:!:19000:0:99999:7:::\n")
	const rounds = 20
	last, done := 0, make(chan struct{})
	go func() {
		defer close(done)
		for i := range rounds {
			cmd := exec.Command("chpasswd", "-R", root, "-e")
			cmd.Stdin = strings.NewReader(fmt.Sprintf("ada:$6$salt$ada%d\n", i))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		}
	}()
	for busy := true; busy; {
		select {
		case <-done:
			busy = false
		default:
		}
		last++
		if err := e.set(api.Secret(fmt.Sprintf("$6$salt$root%d", last))); err != nil {
			t.Error(err)
		}
	}
	raw, err := os.ReadFile(e.shadow())
	if err != nil || !strings.HasPrefix(string(raw), fmt.Sprintf("root:$6$salt$root%d:", last)) || !strings.Contains(string(raw), fmt.Sprintf("\nada:$6$salt$ada%d:", rounds-1)) {
		t.Errorf("a change is lost: %s, %v", raw, err)
	}
	if out, err := exec.Command("pwck", "-r", "-R", root).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, raw)
	}
}
