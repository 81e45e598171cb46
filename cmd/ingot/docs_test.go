package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/guidetest"
)

// simulated waits until the simulated BMC answers.
const simulated = "for i in $(seq 300); do [ -s bmcsim.password ] && ingot bmc pin --url https://127.0.0.1:8000 >/dev/null 2>&1 && break; sleep 0.1; done"

// TestTheGuideOfBMCsRuns runs every command of the page, in its order, with the real
// program and a simulated BMC on loopback.
func TestTheGuideOfBMCsRuns(t *testing.T) {
	home := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(home, "bin", "ingot"), ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	port := "127.0.0.1:" + guidetest.FreePort(t)
	replace := strings.NewReplacer("127.0.0.1:8000", port)
	page := guidetest.Read(t, "../../docs/bmc.md", replace, replace.Replace(simulated))
	out := guidetest.Run(t, home, home, guidetest.Start+page.Commands)
	for _, want := range []string{"self signed:", "power.graceful-off", "asked: off", "accepted: off, as ForceOff", "seen: the machine is off", "turn it on, or cycle it", "0 broken"} {
		if !strings.Contains(out, want) {
			t.Errorf("the commands never say %q:\n%s", want, out)
		}
	}
}
