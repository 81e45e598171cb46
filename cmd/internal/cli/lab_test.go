package cli_test

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/cli"
	"github.com/ingotmetal/ingot/cmd/internal/vmlab/panel"
)

// labbed is a fake lab that is up in the folder lab of a fake's home. It answers what it
// is told, by method and path.
func labbed(t *testing.T, answers map[string]string) *fake {
	f := newFake(t)
	must(t, os.Mkdir(filepath.Join(f.home, "lab"), 0o700))
	ln, err := net.Listen("unix", filepath.Join(f.home, "lab", panel.Socket))
	must(t, err)
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := answers[r.Method+" "+r.URL.RequestURI()]
		if !ok {
			refuse(w, 404, "NOT_FOUND")
			return
		}
		reply(w, text)
	})}
	go func() { _ = s.Serve(ln) }()
	t.Cleanup(func() { _ = s.Close() })
	return f
}

// A lab is started, looked at and ended, in words and as JSON.
func TestLab(t *testing.T) {
	const m1 = `{"name":"m1","way":"bios-ipxe","mac":"` + mac + `","on":true,"cycles":2,"console":["  1.00 \u001b[31mlogin:"]}`
	f := labbed(t, map[string]string{
		"GET /v1/lab?lines=1":            `{"machines":[` + m1 + `],"ends":"2026-01-01T00:00:00Z"}`,
		"GET /v1/lab?lines=0":            `{"machines":[` + m1 + `]}`,
		"POST /v1/machines/m1/power":     m1,
		"GET /v1/machines/m1/screen":     "\x89PNG",
		"GET /v1/machines/a%2Fb/screen":  "\x89PNG2",
		"POST /v1/down":                  `{"report":"/x/report.html","seconds":12}`,
		"POST /v1/machines/broken/power": `[`,
	})
	for line, want := range map[string]string{
		"lab list --out lab":                                  "m1        on     2       bios-ipxe    " + mac + "\nit stays until `ingot lab down`\n",
		"lab list --out lab --lines 1":                        "it goes down by itself at 2026-01-01T00:00:00Z, in 0s\n\nm1\n    |   1.00 \\x1b[31mlogin:\n",
		"lab list --out lab -q .machines[0].cycles":           "2\n",
		"lab power cycle m1 --out lab":                        "m1: cycle done, its power is on\n",
		"lab power press m1 --out lab --json -q .schema":      "ingot.lab.power/1\n",
		"lab screen m1 --out lab --file -":                    "\x89PNG",
		"lab screen a/b --out lab --file -":                   "\x89PNG2",
		"lab screen m1 --out lab --file m1.png -q .size":      "4\n",
		"lab down --out lab":                                  "the lab is down, after 12 s; its report is /x/report.html\n",
		"lab down --out lab --json -q .seconds":               "12\n",
		"lab up --kernel k --out l2 -q .server --for 0":       "unix:" + f.home + "/l2/ingotd.sock\n",
		"lab up --kernel k --out l2 --way bios-ipxe --for 1h": "ingot lab down --out " + f.home + "/l2\n",
	} {
		if got := f.runIn(nil, "", strings.Fields(line)...); got.code != 0 || !strings.HasSuffix(got.out, want) {
			t.Errorf("%s: %d %q %s", line, got.code, got.out, got.err)
		}
	}
	if raw, _ := os.ReadFile(filepath.Join(f.home, "m1.png")); string(raw) != "\x89PNG" {
		t.Errorf("%q", raw)
	}
	for line, code := range map[string]cli.Exit{
		"lab power fry m1 --out lab": cli.BadUsage, "lab power on --out lab": cli.BadUsage, "lab list": cli.BadUsage, "lab list --out lab --lines -1": cli.BadUsage,
		"lab screen m1 --out lab": cli.BadUsage, "lab up --out l2": cli.BadUsage, "lab list --out lab -o name": cli.BadUsage,
		"lab power on m2 --out lab": cli.Absent, "lab power on broken --out lab": cli.Unavailable, "lab screen m1 --out lab --file no/such/folder.png": cli.Unavailable,
	} {
		if got := f.runIn(nil, "", strings.Fields(line)...); got.code != int(code) || got.out != "" {
			t.Errorf("%s: %d %q %s", line, got.code, got.out, got.err)
		}
	}
}

// Whoever asks a lab that is not up is told why it is not, and what to do.
func TestLabThatIsNotUp(t *testing.T) {
	f := newFake(t)
	f.write("gone/"+panel.Report, "")
	f.write("killed/"+panel.Socket, "")
	f.write("other/file", "")
	for dir, want := range map[string]string{"nowhere": "there is no such folder", "gone": "it has gone down", "killed": "it was killed", "other": "start one with `ingot lab up`"} {
		for _, verb := range []string{"list", "down", "power on m1", "screen m1 --file x.png"} {
			got := f.runIn(nil, "", append(strings.Fields("lab "+verb), "--out", dir, "--json")...)
			var said struct {
				Error struct{ Code, Detail, Next string }
			}
			if err := json.Unmarshal([]byte(got.err), &said); err != nil || got.code != int(cli.Absent) || said.Error.Code != "NOT_FOUND" || !strings.Contains(said.Error.Detail+said.Error.Next, want) || !strings.Contains(said.Error.Detail, "no lab is up in") {
				t.Errorf("%s in %s: %d %s %v", verb, dir, got.code, got.err, err)
			}
		}
	}
}

// The lines of a console that an error has stay lines, and move no cursor; as JSON it is
// the same problem.
func TestLabErrorsAreLong(t *testing.T) {
	f := newFake(t)
	f.labFails = &cli.Long{Err: &cli.Usage{What: "m1: its setup: too long\n    | \x1b[2Jpanic"}}
	got := f.runIn(nil, "", strings.Fields("lab run --kernel k --out l")...)
	if want := "error: m1: its setup: too long\n      | \\x1b[2Jpanic\n"; got.err != want || got.code != int(cli.BadUsage) {
		t.Errorf("%d %q, want %q", got.code, got.err, want)
	}
	got = f.runIn(nil, "", strings.Fields("lab run --kernel k --out l --json")...)
	if !strings.Contains(got.err, `"code":"INVALID_INPUT"`) || strings.Count(got.err, "\n") != 1 {
		t.Errorf("%q", got.err)
	}
}
