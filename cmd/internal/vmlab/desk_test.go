package vmlab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/vmlab/panel"
)

// desked is a desk over a machine with a fake monitor.
func desked(t *testing.T) (*desk, *Machine) {
	done := []string{`{"return": {}, "id": %d}`}
	m, all := powered(t, map[string][]string{"system_reset": done, "system_powerdown": done, "screendump": done})
	t.Cleanup(all.Wait)
	m.lab.plane, m.lab.booter, m.lab.Listen = &program{socket: "ingotd.sock"}, &program{socket: "booterd.sock"}, net.Listen
	m.lab.began = time.Now()
	return &desk{lab: m.lab, told: make(chan struct{}), gone: make(chan struct{})}, m
}

// Each order does what it says, and what is none is refused with a code.
func TestDesk(t *testing.T) {
	d, m := desked(t)
	_, _ = m.console.Write([]byte("login:\n"))
	routes := d.routes()
	ask := func(method, path, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		routes.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
		return w
	}
	var l panel.Lab
	if err := json.Unmarshal(ask("GET", "/v1/lab?lines=3", "").Body.Bytes(), &l); err != nil || len(l.Machines) != 1 || !l.Machines[0].On || len(l.Machines[0].Console) != 1 || !filepath.IsAbs(strings.TrimPrefix(l.Server, "unix:")) || l.Process != os.Getpid() {
		t.Errorf("%+v %v", l, err)
	}
	if w := ask("GET", "/v1/machines/m1/screen", ""); w.Body.String() != "\x89PNG" || w.Header().Get("Content-Type") != "image/png" {
		t.Errorf("%q", w.Body)
	}
	for _, order := range []string{"on", "reset", "press"} {
		if w := ask("POST", "/v1/machines/m1/power", `{"power":"`+order+`"}`); w.Code != 200 || !strings.Contains(w.Body.String(), `"on":true`) {
			t.Errorf("%s: %s", order, w.Body)
		}
	}
	for _, c := range []struct{ method, path, body, code string }{
		{"POST", "/v1/machines/m2/power", `{"power":"on"}`, "NOT_FOUND"},
		{"GET", "/v1/machines/m2/screen", "", "NOT_FOUND"},
		{"POST", "/v1/machines/m1/power", `{"power":"fry"}`, "INVALID_INPUT"},
		{"POST", "/v1/machines/m1/power", "on", "INVALID_INPUT"},
		{"POST", "/v1/machines/m1/power", `{"power":"` + strings.Repeat("x", 1<<13), "INVALID_INPUT"},
	} {
		var p api.Problem
		if w := ask(c.method, c.path, c.body); json.Unmarshal(w.Body.Bytes(), &p) != nil || p.Name != c.code || w.Code != p.Status || p.Status < 400 {
			t.Errorf("%s %s: %d %s", c.path, c.body, w.Code, w.Body)
		}
	}
	close(m.gone)
	for _, order := range []string{"reset", "press"} {
		if w := ask("POST", "/v1/machines/m1/power", `{"power":"`+order+`"}`); !strings.Contains(w.Body.String(), "m1 has no power") {
			t.Errorf("%s: %s", order, w.Body)
		}
	}
	d.closing = true
	if w := ask("POST", "/v1/machines/m1/power", `{"power":"on"}`); !strings.Contains(w.Body.String(), "going down") {
		t.Errorf("%s", w.Body)
	}
}

// Who has the lab go down is answered when all is gone, with the report, and the socket
// goes with it.
func TestDown(t *testing.T) {
	d, m := desked(t)
	close(m.gone)
	m.gone = nil
	must(t, d.open())
	path := filepath.Join(d.lab.Dir, panel.Socket)
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", fi, err)
	}
	c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return net.Dial("unix", path) }}}
	type said struct {
		panel.Down
		err error
	}
	answer := make(chan said, 1)
	go func() {
		var s said
		res, err := c.Post("http://lab/v1/down", "", nil)
		if s.err = err; err == nil {
			s.err = json.NewDecoder(res.Body).Decode(&s.Down)
			_ = res.Body.Close()
		}
		answer <- s
	}()
	<-d.told
	select {
	case s := <-answer:
		t.Errorf("answered too early: %+v", s)
	default:
	}
	must(t, d.close())
	if s := <-answer; s.err != nil || s.Report != filepath.Join(d.lab.Dir, "report.html") || s.Flaw != "" {
		t.Errorf("%+v", s)
	}
	if len(d.held) != 1 {
		t.Fatalf("%d connections wait for the end of the process", len(d.held))
	}
	_ = d.held[0].Close()
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket is left")
	}
	if _, err := os.Stat(filepath.Join(d.lab.Dir, "report.html")); err != nil {
		t.Error(err)
	}
	if d.waits() {
		t.Error("who comes too late waits for ever")
	}
}

// What a lab that stays up cannot be is refused before anything is made.
func TestStay(t *testing.T) {
	good := Stay{Machines: 1, Way: PXE, For: time.Hour}
	must(t, good.Check())
	for name, change := range map[string]func(*Stay){
		"0 machines": func(s *Stay) { s.Machines = 0 }, "17 machines": func(s *Stay) { s.Machines = 17 },
		"way floppy": func(s *Stay) { s.Way = "floppy" }, "up for -1s": func(s *Stay) { s.For = -time.Second },
	} {
		s := good
		change(&s)
		dir := filepath.Join(t.TempDir(), "lab")
		err := Up(t.Context(), Options{Dir: dir, Out: io.Discard, Now: time.Now}, s, nil)
		if e, ok := errors.AsType[*Invalid](err); !ok || !strings.HasPrefix(e.Error(), name+": want ") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: the folder is there", name)
		}
	}
}

// A lab that is abandoned has a report that says why.
func TestAbandon(t *testing.T) {
	var out bytes.Buffer
	l := &Lab{Options: Options{Dir: t.TempDir(), Out: &out, Now: time.Now}, began: time.Now()}
	err := l.abandon("starting the booter", io.ErrUnexpectedEOF)
	if f, ok := errors.AsType[*Failed](err); !ok || f.Step != "starting the booter" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
	raw, _ := os.ReadFile(filepath.Join(l.Dir, "report.html"))
	if !strings.Contains(string(raw), "starting the booter: unexpected EOF") || !strings.Contains(out.String(), "starting the booter: unexpected EOF") {
		t.Errorf("%s", out.String())
	}
}
