package cli_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ingotmetal/ingot/cmd/internal/cli"
	"github.com/ingotmetal/ingot/identity/bundle"
)

// A script has a site of its own: $SERVER is its address, $TLS the same with a
// certificate that nobody vouches for, $OTHERNAME by a name that the
// certificate does not have, $HOST as the host itself sees it. Its machine
// is $UUID with $MAC, and its agent's key $AGENT.
func TestScripts(t *testing.T) {
	agent, err := bundle.NewPrivateKey([bundle.KeySize]byte{7})
	must(t, err)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			s := newSite(t)
			env.Defer(s.close)
			env.Setenv("SERVER", s.remote)
			env.Setenv("TLS", s.tls)
			env.Setenv("OTHERNAME", strings.Replace(s.tls, "127.0.0.1", "localhost", 1))
			env.Setenv("HOST", s.host)
			env.Setenv("UUID", "6b1f2c3d-0001-4000-8000-000000000001")
			env.Setenv("MAC", "02:00:00:00:00:01")
			env.Setenv("AGENT", agent.Public().String())
			env.Setenv("HOME", env.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ingot":   ingot,
			"ends":    ends,
			"let":     let,
			"json":    pickJSON,
			"cut":     cut,
			"flip":    flip,
			"cut-pin": cutPin,
			"unseal":  func(ts *testscript.TestScript, _ bool, args []string) { unseal(ts, agent, args) },
		},
	})
}

// ingot ARGUMENTS... [< FILE] runs a command in this process, which must succeed.
func ingot(ts *testscript.TestScript, neg bool, args []string) {
	if code := runScript(ts, args); (code != 0) != neg {
		ts.Fatalf("it ended with %d", code)
	}
}

// ends CODE ingot ARGUMENTS... [< FILE] runs a command that must end with a code.
func ends(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if code := runScript(ts, args[2:]); code != want {
		ts.Fatalf("it ended with %d, want %d", code, want)
	}
}

func runScript(ts *testscript.TestScript, args []string) int {
	stdin := ""
	if n := len(args); n > 1 && args[n-2] == "<" {
		stdin, args = ts.ReadFile(args[n-1]), args[:n-2]
	}
	return cli.Run(context.Background(), cli.World{
		In: strings.NewReader(stdin), Out: ts.Stdout(), Err: ts.Stderr(), Dir: ts.Getenv("WORK"), Env: ts.Getenv,
		Now: time.Now, Entropy: rand.Reader, Dial: (&net.Dialer{}).DialContext,
	}, args)
}

// let NAME FILE sets a variable to what a file has.
func let(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

// json FILE .A.B prints the text that a JSON file has there.
func pickJSON(ts *testscript.TestScript, _ bool, args []string) {
	var x any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &x))
	for name := range strings.SplitSeq(strings.TrimPrefix(args[1], "."), ".") {
		x = x.(map[string]any)[name]
	}
	_, err := ts.Stdout().Write([]byte(x.(string) + "\n"))
	ts.Check(err)
}

// cut FILE N TO writes a file without its last bytes.
func cut(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(text[:len(text)-n]), 0o600))
}

// flip FILE N TO writes a file with one bit changed.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	text := []byte(ts.ReadFile(args[0]))
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text[n] ^= 1
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), text, 0o600))
}

// cutPin FILE prints the pin that an error told of.
func cutPin(ts *testscript.TestScript, _ bool, args []string) {
	_, rest, ok := strings.Cut(ts.ReadFile(args[0]), "sha256/")
	if !ok || len(rest) < 44 {
		ts.Fatalf("no pin")
	}
	_, err := ts.Stdout().Write([]byte("sha256/" + rest[:44] + "\n"))
	ts.Check(err)
}

// unseal FILE SERVER is what an agent does: it opens the bundle that `setup drain`
// printed, and prints its key.
func unseal(ts *testscript.TestScript, agent bundle.PrivateKey, args []string) {
	var b struct {
		Epoch  uint64 `json:"epoch"`
		Bundle string `json:"bundle"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &b))
	keys, err := agent.Open(args[1], b.Epoch, b.Bundle)
	ts.Check(err)
	_, err = ts.Stdout().Write([]byte(keys.Key.Show() + "\n"))
	ts.Check(err)
}
