package admin

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/guidetest"
)

// The pages whose commands are run.
const (
	guide  = "../../../docs/ingotd.md"
	readme = "../../../README.md"
)

// TestTheGuideRuns runs every command of the guide, in its order, with the real
// programs in a folder of its own.
func TestTheGuideRuns(t *testing.T) {
	runs(t, "", guide, "good", "ada", "site.restored", "policy.changed")
}

// TestTheReadmeRuns runs the README's, with the guide's file.
func TestTheReadmeRuns(t *testing.T) {
	runs(t, "printf 'correct horse battery\\n' >password; chmod 600 password\n", readme, "would:", "CONFLICT")
}

// ready waits for what a page leaves in the background, as a person would.
const ready = "for i in $(seq 200); do [ -S ingotd.sock ] && ingotd operator list -c ingotd.yaml >/dev/null 2>&1 && break; sleep 0.1; done"

// runs runs the commands of a page, after some of its own, and looks for words in
// what they say.
func runs(t *testing.T, before, page string, words ...string) {
	t.Helper()
	dir := t.TempDir()
	build(t, dir)
	replace := strings.NewReplacer("8443", guidetest.FreePort(t), "/srv/ingot", dir)
	guidetest.Read(t, guide, replace, ready).Write(t, dir) // its files
	p := guidetest.Read(t, page, replace, ready)
	p.Write(t, dir)
	out := guidetest.Run(t, dir, dir, guidetest.Start+before+p.Commands)
	for _, want := range words {
		if !strings.Contains(out, want) {
			t.Errorf("the commands never say %q:\n%s", want, out)
		}
	}
}

// build makes the two programs.
func build(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "bin")+"/", "../../ingotd", "../../ingot")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
