package cli_test

import (
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/internal/cli"
)

// split reads a command line as a shell does, as far as examples need it.
func split(line string) (words []string) {
	var word strings.Builder
	quoted, any := false, false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, any = !quoted, true
		case r == ' ' && !quoted:
			if any {
				words = append(words, word.String())
			}
			any = false
			word.Reset()
		default:
			any = true
			word.WriteRune(r)
		}
	}
	if any {
		words = append(words, word.String())
	}
	return words
}

// Every example of help is a command that can be meant.
func TestExamplesCanBeMeant(t *testing.T) {
	f := newFake(t)
	f.answer = func(w http.ResponseWriter, _ *http.Request) { refuse(w, 404, "NOT_FOUND") }
	for name, text := range map[string]string{
		"sysinfo.json": "{}", "poll-token": "t", "agent-key": "k", "shadow.txt": "$6$salt$hash", "password": "correct horse battery", "new-password": "another horse battery", "bmc.txt": "hunter2-of-the-bmc",
		"announce.json":  `{"routing_id":"` + uuid + `","server_id":"` + uuid + `","sysinfo":{}}`,
		"sightings.json": `{"booter":"b1","sightings":[]}`,
		"plan.json":      `{"schema":"ingot.registration.plan/1","server_id":"` + uuid + `","digest":"` + digest + `","request":{"layout":{"layout":"gpt"},"hostname":"n1"}}`,
	} {
		f.write(name, text)
	}
	f.write("discover.pcap", "\xd4\xc3\xb2\xa1\x02\x00\x04\x00"+strings.Repeat("\x00", 8)+"\x00\x00\x04\x00\x01\x00\x00\x00")
	n := 0
	cli.Commands(func(c *cobra.Command) {
		if c.Example == "" {
			return
		}
		n++
		words := split(c.Example)
		if i := slices.Index(words, ">"); i >= 0 {
			words = words[:i]
		}
		env := map[string]string{"INGOT_SERVER": f.server.URL}
		if slices.Contains(words, "--server") {
			env = nil
		}
		if !slices.Contains(words, "-") {
			f.prompt = func(q string) ([]byte, error) {
				return []byte(map[string]string{"password: ": "correct horse battery"}[q]), nil
			}
		}
		got := f.runIn(env, "correct horse battery\n", append(words[1:], "--timeout", "1m")...)
		if f.prompt = nil; got.code == 2 && !strings.Contains(c.CommandPath(), "context") && !strings.Contains(c.CommandPath(), "audit verify") {
			t.Errorf("%s: %s", c.Example, got.err)
		}
	})
	if n < 60 {
		t.Errorf("%d examples", n)
	}
}

// A word that is quoted is the same word to a shell.
func TestQuotedWordsAreTheSameToAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal("quoted words are read by a shell here: apt-get install dash")
	}
	f := newFake(t)
	for _, reason := range []string{"plain", "it's over", `a"b`, "$(touch x)", "a;b", "`x`", "~", "a\\b", "*", "", "-x", "é ü"} {
		got := f.run("boot", "purge", mac, "--reason", reason)
		_, rest, _ := strings.Cut(got.err, "see what it would do: ingot boot purge "+mac+" --reason ")
		word, _, _ := strings.Cut(rest, " --dry-run")
		out, err := exec.Command(sh, "-c", "printf %s "+word).Output()
		if reason == "-x" {
			out, err = exec.Command(sh, "-c", "printf %s -- "+word).Output()
			out = []byte(strings.TrimPrefix(string(out), "--"))
		}
		if err != nil || string(out) != reason {
			t.Errorf("%q is quoted as %q, a shell reads %q (%v)", reason, word, out, err)
		}
	}
}

// On a terminal a secret is asked for without echo, and nothing else ever is.
func TestSecretsAreAskedFor(t *testing.T) {
	f := newFake(t)
	var body string
	f.answer = func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body = string(raw)
		reply(w, `{"session":{"id":"s","operator":"ada"},"token":"t"}`)
	}
	var asked []string
	answers := map[string]string{"password: ": "correct horse battery", "totp code: ": "123456"}
	f.prompt = func(q string) ([]byte, error) { asked = append(asked, q); return []byte(answers[q]), nil }
	got := f.run("login", "ada")
	if got.code != 0 || body != `{"operator":"ada","password":"correct horse battery","totp_code":"123456"}` || len(asked) != 2 {
		t.Errorf("%d %s %s %q", got.code, got.err, body, asked)
	}
	answers["totp code: "] = ""
	if got := f.run("login", "ada"); got.code != 0 || body != `{"operator":"ada","password":"correct horse battery"}` {
		t.Errorf("without a second factor: %d %s %s", got.code, got.err, body)
	}
	f.prompt = func(q string) ([]byte, error) { t.Errorf("asked %q", q); return nil, io.EOF }
	f.run("boot", "purge", mac)
	f.run("auto-approve", "open")
	f.run("login", "ada", "--password-file", f.write("p", "correct horse battery"), "--totp-code-file", f.write("c", "123456"))
	f.count()
	f.prompt = func(string) ([]byte, error) { return nil, io.EOF }
	if got := f.run("login", "ada"); got.code != 2 || f.count() != 0 {
		t.Errorf("a prompt that ends: %d %s", got.code, got.err)
	}
}

// Secrets never come out in errors.
func TestSecretsStayInside(t *testing.T) {
	f := newFake(t)
	f.answer = func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }
	word, key := f.write("word", "hunter2-hunter2\n"), f.write("key", "hunter2-key\n")
	short, many := f.write("short", "hunter2"), f.write("many", "hunter2 hunter2\nhunter2")
	for _, args := range [][]string{
		{"login", "ada", "--password-file", word}, {"operator", "add", "ada", "--password-file", short}, {"node", "list", "--key-file", key},
		{"node", "list", "--key-file", many}, {"approve", "--code-file", many, "--key-file", key}, {"registration", "root-password", uuid, "--hash-file", many},
		{"login", "ada", "--totp-code-file", word, "--password-file", word},
	} {
		for _, more := range []string{"-o=text", "--json"} {
			got := f.run(append(args, more, "--timeout", "300ms")...)
			if got.code == 0 || strings.Contains(got.out+got.err, "hunter2") {
				t.Errorf("%q: %d %s%s", args, got.code, got.out, got.err)
			}
		}
	}
}
