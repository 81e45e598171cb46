package guidetest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/guidetest"
)

const page = "# A page\n\n```yaml a.yaml\nx: 1\n```\n\nProse.\n\n```console\n$ cat a.yaml\n$ sleep 0 &\n```\n\n```console\n$ echo $HOME\n```\n"

func TestParse(t *testing.T) {
	p, err := guidetest.Parse(page, "true")
	if err != nil || len(p.Files) != 1 || p.Files["a.yaml"] != "x: 1\n" || p.Commands != "cat a.yaml\nsleep 0 &\ntrue\necho $HOME\n" {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []string{"```sh\nrm\n```", "```\nx\n```", "```yaml\nx: 1\n```", "```yaml ../a\nx: 1\n```", "```console\nls\n```"} {
		if p, err := guidetest.Parse(bad, ""); err == nil {
			t.Errorf("%q: %+v", bad, p)
		}
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "page.md")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	p := guidetest.Read(t, file, strings.NewReplacer("x: 1", "x: 2"), "")
	p.Write(t, dir)
	if out := guidetest.Run(t, dir, dir, guidetest.Start+p.Commands); !strings.Contains(out, "\nx: 2\n") || !strings.Contains(out, "\n"+dir+"\n") {
		t.Error(out)
	}
}

// A command that fails fails the test, and the program's log is shown.
func TestRunFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.log"), []byte("why it is so"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &recorder{TB: t}
	func() {
		defer func() { _ = recover() }()
		guidetest.Run(r, dir, dir, guidetest.Start+"false\necho reached\n")
	}()
	if !strings.Contains(r.said, "why it is so") || strings.Contains(r.said, "\nreached") {
		t.Errorf("%q", r.said)
	}
}

// A recorder is a test that notes its failure.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Fatalf(_ string, args ...any) {
	for _, a := range args {
		switch a := a.(type) {
		case []byte:
			r.said += string(a)
		case string:
			r.said += a
		}
	}
	panic("ended")
}
