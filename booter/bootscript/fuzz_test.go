package bootscript

import (
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/booter"
)

// Whatever arguments and names are given, a script that is made has its own lines, its
// own commands and a command line that Linux takes.
func FuzzScript(f *testing.F) {
	f.Add("console=ttyS0,115200 quiet", "enroll-1", "vmlinuz", "initrd", "name", "value")
	f.Add("a || b", "x", "", "", "a", "${ip}")
	f.Add("a ; b && c #d", "..", "../k", `i\`, "", "\n")
	f.Add(strings.Repeat("a ", MaxArgs), "e", "k", "", "n", "#")
	f.Fuzz(func(t *testing.T, args, image, kernel, initrd, name, value string) {
		words, err := Args(args)
		if err != nil && !invalid(err) {
			t.Fatal(err)
		}
		if w, err := Arg(name, value); err == nil {
			words = append(words, w)
		} else if !invalid(err) {
			t.Fatal(err)
		}
		p := Program{Kernel: kernel, Initrds: []string{initrd}}
		if initrd == "" {
			p.Initrds = nil
		}
		out, err := IPXE("http://10.0.0.1:8080/b/tok/", image, p, words)
		if err != nil {
			if !invalid(err) || out != nil {
				t.Fatal(err)
			}
			return
		}
		lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		if n := 17 + len(p.Initrds); len(lines) != n || strings.Count(string(out), "${") != 3 || booter.Gate(image) != nil {
			t.Fatalf("%d lines, want %d:\n%s", len(lines), n, out)
		}
		if got := strings.Count(lines[5], "||"); !strings.HasPrefix(lines[5], "kernel --name kernel http://10.0.0.1:8080/b/tok/i/"+image+"/") || !strings.HasSuffix(lines[5], " || goto again") || got < 1 {
			t.Fatalf("the kernel is %q", lines[5])
		}
		for _, w := range strings.Fields(strings.TrimSuffix(lines[5], " || goto again")) {
			if w == "||" || w == "&&" || w == ";" || w[0] == '#' {
				t.Fatalf("an operator in %q", lines[5])
			}
		}
		if line := commandLine(p, words); len(strings.Join(line, " ")) > MaxArgs {
			t.Fatalf("a command line of %d bytes", len(strings.Join(line, " ")))
		}
	})
}

// No token opens but those that the key made, each for its own machine.
func FuzzToken(f *testing.F) {
	key := NewKey([32]byte{1})
	f.Add(key.Token(mac))
	f.Add(strings.ToUpper(key.Token(mac)))
	f.Add(NewKey([32]byte{2}).Token(mac))
	f.Add("")
	f.Fuzz(func(t *testing.T, token string) {
		got, ok := key.Open(token)
		if ok != (token == key.Token(got)) && token != "" || !ok && got != (booter.MAC{}) {
			t.Fatalf("%q opens for %s: %t", token, got, ok)
		}
		if _, ok := (Key{}).Open(token); ok {
			t.Fatalf("%q opens without a key", token)
		}
	})
}
