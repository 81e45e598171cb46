package admin

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/program"
)

// A host is where ingotd's own commands run, without a network or a terminal.
type host struct {
	dir string
	all bytes.Buffer // whatever was ever said
}

func newHost(t *testing.T, secrets string) *host {
	t.Helper()
	h := &host{dir: t.TempDir()}
	conf := fmt.Sprintf("state: %s\nsecrets: %s\n", h.dir, strings.ReplaceAll(secrets, "DIR", h.dir))
	if err := os.WriteFile(filepath.Join(h.dir, "ingotd.yaml"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// run runs a command with something on its standard input.
func (h *host) run(t *testing.T, in string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := Command(World{Outside: daemon.Outside{Now: time.Now, Entropy: rand.Reader}, In: strings.NewReader(in), Out: &out, Err: &out})
	cmd.SetArgs(append(args, "--config", filepath.Join(h.dir, "ingotd.yaml")))
	err := cmd.ExecuteContext(t.Context())
	fmt.Fprintln(&h.all, out.String(), err)
	return out.String(), err
}

func TestSecretCommands(t *testing.T) {
	h := newHost(t, "{roots: [DIR/bmc]}")
	if err := os.Mkdir(filepath.Join(h.dir, "bmc"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{"good": 0o600, "wide": 0o644} {
		if err := os.WriteFile(filepath.Join(h.dir, "bmc", path), []byte("root\nhunter2\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct {
		in, args string
		exit     int
		says     string
	}{
		{"", "list", 0, "0 names"},
		{"", "rotate-key", 3, "is not there"},
		{"hunter2\n", "put node-1 --username root --password-file -", 0, "secret://store/node-1 is kept\n"},
		{"hunter2", "put node-1 --username root --password-file -", 0, "kept so already"},
		{"hunter2\n", "put node-1 --password-file -", 2, "--username is needed"},
		{"", "put node-1 --username root", 2, "no terminal"},
		{"\n", "put node-1 --username root --password-file -", 6, "password is empty"},
		{"hunter2\n", "put node/1 --username root --password-file -", 6, "letters, digits"},
		{"hunter2\n", "put node-1 hunter2 --username root", 1, "accepts 1 arg"},
		{"hunter3\n", "put node-1 --username root --password-file - --pending", 0, "next: set them on the BMC, then ingotd secret confirm node-1"},
		{"", "list", 0, "pending"},
		{"hunter4\n", "put node-1 --username root --password-file -", 5, "confirm it or roll it back"},
		{"", "delete node-1 --yes", 5, "confirm it or roll it back"},
		{"", "rollback node-1", 0, "rolled back"},
		{"", "confirm node-1", 5, "no pending credentials"},
		{"hunter3\n", "put node-1 --username root --password-file - --pending", 0, "pending"},
		{"", "confirm node-1", 0, "confirmed"},
		{"", "confirm node-2", 3, "no name of the store"},
		{"", "rotate-key", 0, "next: keep a copy of"},
		{"", "check secret://store/node-1", 0, "is good"},
		{"", "check secret://store/node-2", 3, "no such name"},
		{"", "check secret://file/good", 0, "is good"},
		{"", "check secret://file/wide", 6, "mode 0644"},
		{"", "check secret://env/PATH", 6, "must begin with INGOT_SECRET_"},
		{"", "check secret://vault/a", 6, "known: env, file, store"},
		{"", "check hunter2", 6, "legal: secret://KIND/NAME"},
		{"", "delete node-1", 2, "--yes"},
		{"", "delete node-1 --yes", 0, "deleted"},
		{"", "delete node-1 --yes", 3, "no name of the store"},
	} {
		said, err := h.run(t, c.in, append([]string{"secret"}, strings.Fields(c.args)...)...)
		exit := 0
		if err != nil {
			exit, said = program.ExitCode(err), said+err.Error()
		}
		if exit != c.exit || !strings.Contains(said, c.says) {
			t.Errorf("%d: %s: exit %d, want %d:\n%s\nwant %q", i, c.args, exit, c.exit, said, c.says)
		}
	}
	if strings.Contains(h.all.String(), "hunter") {
		t.Errorf("a password was shown:\n%s", &h.all)
	}
}

func TestSecretCommandsAnswerInJSON(t *testing.T) {
	h := newHost(t, "{}")
	var kept struct {
		Ref, Version string
		Changed      bool
	}
	var list struct {
		Names []struct{ Name, Version, Pending string }
	}
	for _, c := range []struct {
		args string
		into any
	}{
		{"put a --username root --password-file -", &kept},
		{"list", &list},
		{"check secret://store/a", &map[string]string{}},
		{"rotate-key", &map[string]string{}},
		{"rollback a", &map[string]string{}},
		{"delete a --yes", &map[string]string{}},
	} {
		out, err := h.run(t, "hunter2\n", append([]string{"secret", "--json"}, strings.Fields(c.args)...)...)
		if err != nil || json.Unmarshal([]byte(out), c.into) != nil {
			t.Errorf("%s: %s, %v", c.args, out, err)
		}
	}
	if kept.Ref != "secret://store/a" || !kept.Changed || len(list.Names) != 1 || list.Names[0].Version != kept.Version {
		t.Errorf("%+v, %+v", kept, list)
	}
}

func TestNoStoreOfSecrets(t *testing.T) {
	h := newHost(t, "{store: none}")
	_, err := h.run(t, "hunter2\n", "secret", "put", "a", "--username", "root", "--password-file", "-")
	if program.ExitCode(err) != 6 || !strings.Contains(err.Error(), "secrets.store") {
		t.Error(err)
	}
	if _, err := h.run(t, "", "secret", "check", "secret://store/a"); program.ExitCode(err) != 6 || !strings.Contains(err.Error(), "known: env") {
		t.Error(err)
	}
}
