package admin

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// runs runs the commands of a page, after some of its own, and looks for words in
// what they say.
func runs(t *testing.T, before, page string, words ...string) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("the guide's commands are run by bash: apt-get install bash")
	}
	dir := t.TempDir()
	build(t, dir)
	port := freePort(t)
	commands(t, guide, dir, port) // its files
	script := "set -e -o pipefail -m\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + before + commands(t, page, dir, port)
	if err := os.WriteFile(filepath.Join(dir, "guide.sh"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bash, "-x", "guide.sh")
	cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "ingotd.log"))
		t.Fatalf("%v\n%s\ningotd.log:\n%s", err, out, log)
	}
	for _, want := range words {
		if !strings.Contains(string(out), want) {
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

// freePort is a port that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// commands writes a page's files and returns its commands as a script. What serves in
// the background is waited for, as a person would.
func commands(t *testing.T, path, dir, port string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := strings.NewReplacer("8443", port, "/srv/ingot", dir).Replace(string(raw))
	var script strings.Builder
	for i, block := range strings.Split(page, "```") {
		if i%2 == 0 {
			continue
		}
		info, body, _ := strings.Cut(block, "\n")
		kind, name, _ := strings.Cut(info, " ")
		switch {
		case kind == "yaml" && name != "":
			if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
		case kind == "console":
			script.WriteString(lines(t, body))
		case kind == "go": // compiled elsewhere
		default:
			t.Errorf("a block of %q: this test would not run it", info)
		}
	}
	return script.String()
}

func lines(t *testing.T, body string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(body) {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			t.Errorf("%q is no command", line)
		}
		out.WriteString(command)
		if strings.HasSuffix(strings.TrimSpace(command), "&") {
			fmt.Fprintln(&out, "for i in $(seq 200); do [ -S ingotd.sock ] && ingotd operator list -c ingotd.yaml >/dev/null 2>&1 && break; sleep 0.1; done")
		}
	}
	return out.String()
}
