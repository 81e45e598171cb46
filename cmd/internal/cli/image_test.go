package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/cli"
)

// staged stages a kernel, as a person at a terminal or a program does.
func staged(f *fake, env map[string]string, more ...string) ran {
	f.write("boot/vmlinuz", strings.Repeat("kernel", 1<<20))
	return f.runIn(env, "", append([]string{"image", "stage", "one", "--dir", "images", "--kernel", "boot/vmlinuz"}, more...)...)
}

// Only who sits at a terminal that can clear a line sees how far it has come.
func TestImageBar(t *testing.T) {
	f := newFake(t)
	for name, c := range map[string]struct {
		env  map[string]string
		want bool
	}{
		"pipe":     {map[string]string{}, false},
		"terminal": {map[string]string{"TTY": "1", "NO_COLOR": "1"}, true},
		"dumb":     {map[string]string{"TTY": "1", "TERM": "dumb"}, false},
	} {
		got := staged(f, c.env)
		if got.code != 0 || strings.Contains(got.out, "\x1b") || !strings.HasPrefix(got.out, "staged one: 6.0 MiB in 1 files\n") {
			t.Errorf("%s: %d %q", name, got.code, got.out)
		}
		drawn := strings.Contains(got.err, "\r\x1b[Kstaging vmlinuz [###.................] 16% of 6.0 MiB")
		if cleared := strings.HasSuffix(got.err, "\r\x1b[K"); drawn != c.want || cleared != c.want || !c.want && got.err != "" {
			t.Errorf("%s: %q", name, got.err)
		}
	}
	if got := f.runIn(map[string]string{"TTY": "1"}, "", "image", "verify", "--dir", "images"); !strings.Contains(got.err, "verifying vmlinuz [") {
		t.Errorf("%q", got.err)
	}
	if f.count() != 0 {
		t.Error("a server was asked")
	}
}

// What another image has of a file stays, and a harmed manifest is told of.
func TestImageListTellsOfHarm(t *testing.T) {
	f := newFake(t)
	if got := staged(f, nil, "-o", "name"); got.out != "one\n" {
		t.Errorf("%q %s", got.out, got.err)
	}
	must(t, os.WriteFile(filepath.Join(f.home, "images/images/one.json"), []byte("{}\x1b[2J"), 0o600))
	got := f.run("image", "list", "--dir", "images", "-o", "wide")
	if got.code != 0 || !strings.Contains(got.out, "no") || !strings.Contains(got.err, "one is not served") || strings.Contains(got.out+got.err, "\x1b") {
		t.Errorf("%d %q %q", got.code, got.out, got.err)
	}
	if got := f.run("image", "verify", "--dir", "images", "--json"); got.code != int(cli.Other) || !strings.Contains(got.out, `"sound": false`) {
		t.Errorf("%d %s", got.code, got.out)
	}
	if got := f.run("image", "list", "--dir", "images", "--json"); !strings.Contains(got.out, `"whole": false`) || strings.Contains(got.out, "null") {
		t.Errorf("%s", got.out)
	}
	if got := f.run("image", "remove", "one", "--dir", "images", "--yes", "--json"); got.code != 0 || !strings.Contains(got.out, `"freed": 6291456`) {
		t.Errorf("%d %s", got.code, got.out)
	}
}

// A time that is given bounds staging, and leaves nothing.
func TestImageStageEnds(t *testing.T) {
	f := newFake(t)
	got := staged(f, nil, "--timeout", "1ns")
	if got.code != int(cli.Unavailable) || !strings.Contains(got.err, "--timeout ended it") {
		t.Errorf("%d %s", got.code, got.err)
	}
	if got := f.run("image", "list", "--dir", "images", "-o", "name"); got.code != 0 || got.out != "" {
		t.Errorf("%q", got.out)
	}
}
