// Package guidetest runs the commands of a page of the documentation, so that none of
// them rots.
package guidetest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A Page is what the blocks of a page hold: files, each a block "yaml NAME", and
// commands, the lines of the blocks "console".
type Page struct {
	Files    map[string]string
	Commands string // for bash, one a line
}

// Parse reads a page. Each line of a console begins with "$ ". A block "go" is for a test
// of its own, which compiles it; one of another kind is an error, since nobody would run
// it. background is put behind each command
// that stays in the background, to wait for what a person would wait for.
func Parse(text, background string) (Page, error) {
	p := Page{Files: map[string]string{}}
	for i, block := range strings.Split(text, "```") {
		if i%2 == 0 {
			continue
		}
		info, body, _ := strings.Cut(block, "\n")
		kind, name, _ := strings.Cut(info, " ")
		switch {
		case kind == "yaml" && filepath.IsLocal(name):
			p.Files[name] = body
		case kind == "console":
			if err := p.console(body, background); err != nil {
				return Page{}, err
			}
		case kind == "go":
		default:
			return Page{}, fmt.Errorf("a block of %q: nothing would run it", info)
		}
	}
	return p, nil
}

func (p *Page) console(body, background string) error {
	for line := range strings.Lines(body) {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			return fmt.Errorf("%q is no command", line)
		}
		p.Commands += command
		if background != "" && strings.HasSuffix(strings.TrimSpace(command), "&") {
			p.Commands += background + "\n"
		}
	}
	return nil
}

// Read parses the page at path, of which replace changes the text before.
func Read(t testing.TB, path string, replace *strings.Replacer, background string) Page {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Parse(replace.Replace(string(raw)), background)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return p
}

// Write writes the page's files into a folder, mode 0600.
func (p Page) Write(t testing.TB, dir string) {
	t.Helper()
	for name, text := range p.Files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Patience is how long a script may take, of which some commands wait for something.
const Patience = 8 * time.Minute

// Start is the beginning of a script that ends at its first failure, and its jobs with
// it.
const Start = "set -e -o pipefail -m\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"

// Run runs a script with bash in the folder work, with the programs of home/bin first
// and home as the home folder, and returns what it said. Where it fails, the test does,
// with the ends of home's logs; so it does after [Patience].
func Run(t testing.TB, home, work, script string) string {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("a guide's commands are run by bash: apt-get install bash")
	}
	file := filepath.Join(home, "guide.sh")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, bash, "-x", file)
	cmd.Dir, cmd.WaitDelay = work, 10*time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // so that its jobs end too
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "PATH="+filepath.Join(home, "bin")+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, logs(home))
	}
	return string(out)
}

// FreePort is a port of loopback that nobody listens on.
func FreePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func logs(dir string) string {
	var out strings.Builder
	names, _ := filepath.Glob(filepath.Join(dir, "*.log"))
	for _, name := range names {
		raw, _ := os.ReadFile(name)
		fmt.Fprintf(&out, "\n%s:\n%s", filepath.Base(name), raw[max(0, len(raw)-4096):])
	}
	return out.String()
}
