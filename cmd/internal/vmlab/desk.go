package vmlab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/vmlab/panel"
)

// A desk takes what a lab that is up is asked over its socket. Whoever may open the
// socket may do all.
type desk struct {
	lab    *Lab
	ends   time.Time
	server *http.Server
	served sync.WaitGroup
	once   sync.Once
	told   chan struct{} // closed when somebody wants it down
	gone   chan struct{} // closed when all but this process is gone

	mu      sync.Mutex
	closing bool // no machine gets power any more
	last    panel.Down
	waiting sync.WaitGroup
	held    []net.Conn // of those who wait for the end, which the process's own end closes
}

// open listens.
func (d *desk) open() error {
	path := filepath.Join(d.lab.Dir, panel.Socket)
	ln, err := d.lab.Listen("unix", path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(err, ln.Close())
	}
	d.server = &http.Server{Handler: d.routes(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	d.served.Go(func() { _ = d.server.Serve(ln) }) // it ends with close
	return nil
}

func (d *desk) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/lab", func(w http.ResponseWriter, r *http.Request) {
		lines, err := strconv.Atoi(r.FormValue("lines"))
		if err != nil || lines < 0 {
			lines = 0
		}
		answer(w, d.state(min(lines, 1000)))
	})
	mux.HandleFunc("POST /v1/machines/{name}/power", func(w http.ResponseWriter, r *http.Request) {
		m, err := d.machine(r)
		if err == nil {
			err = d.power(r, m)
		}
		if err != nil {
			refuse(w, err)
			return
		}
		answer(w, m.state(0))
	})
	mux.HandleFunc("GET /v1/machines/{name}/screen", func(w http.ResponseWriter, r *http.Request) {
		m, err := d.machine(r)
		var png []byte
		if err == nil {
			png, err = m.Screen(r.Context())
		}
		if err != nil {
			refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(png) // whoever asked is gone, or has it
	})
	mux.HandleFunc("POST /v1/down", d.down)
	return mux
}

// An Unknown reports a machine that the lab has not.
type Unknown struct{ Name string }

// Error says where to look.
func (e *Unknown) Error() string {
	return fmt.Sprintf("the lab has no machine %.60q; ingot lab list names them", e.Name)
}

// Code is the error's wire name (API-3).
func (*Unknown) Code() string { return "NOT_FOUND" }

// machine is the one that a request names.
func (d *desk) machine(r *http.Request) (*Machine, error) {
	name := r.PathValue("name")
	for _, m := range d.lab.machines {
		if m.Name == name {
			return m, nil
		}
	}
	return nil, &Unknown{name}
}

// A Closing reports an order to a lab that goes down.
type Closing struct{}

// Error says so.
func (*Closing) Error() string { return "the lab is going down" }

// Code is the error's wire name (API-3).
func (*Closing) Code() string { return "INVALID_STATE" }

// power carries out an order; one at a time, so that they mean what they say.
func (d *desk) power(r *http.Request, m *Machine) error {
	var o panel.Order
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<12)).Decode(&o); err != nil {
		return &Invalid{"the order: " + err.Error(), `JSON such as {"power": "on"}`}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		return &Closing{}
	}
	switch o.Power {
	case panel.On:
		return m.On()
	case panel.Off:
		m.Off()
		return nil
	case panel.Cycle:
		return m.cycle()
	case panel.Reset:
		return m.Reset(r.Context())
	case panel.Press:
		return m.Press(r.Context())
	}
	return &Invalid{fmt.Sprintf("power %.20q", o.Power), fmt.Sprintf("one of %v", panel.Powers())}
}

// down has the lab go down. The connection is answered when all is gone, and kept open:
// it ends with this process, and so says that it has ended as well.
func (d *desk) down(w http.ResponseWriter, r *http.Request) {
	if !d.waits() {
		refuse(w, &Closing{})
		return
	}
	defer d.waiting.Done()
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		refuse(w, err)
		return
	}
	d.once.Do(func() { close(d.told) })
	<-d.gone
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held = append(d.held, conn)
	raw, err := json.Marshal(d.last)
	if err == nil {
		_ = conn.SetDeadline(d.lab.Now().Add(time.Second)) // it may be gone
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n%s\n", raw)
	}
}

// waits counts one who waits for the end, unless it has come.
func (d *desk) waits() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.gone:
		return false
	default:
		d.waiting.Add(1)
		return true
	}
}

// close ends the lab, writes its report, and answers those who wait for it.
func (d *desk) close() error {
	d.mu.Lock()
	d.closing = true
	d.mu.Unlock()
	l := d.lab
	l.Close()
	err := l.report(nil)
	d.mu.Lock()
	d.last = panel.Down{Seconds: l.Now().Sub(l.began).Seconds()}
	if err != nil {
		d.last.Flaw = "the report: " + err.Error()
	} else {
		d.last.Report = absolute(filepath.Join(l.Dir, "report.html"))
	}
	close(d.gone)
	d.mu.Unlock()
	d.waiting.Wait()
	ctx, done := context.WithTimeout(context.Background(), time.Second)
	defer done()
	if d.server.Shutdown(ctx) != nil {
		_ = d.server.Close()
	}
	d.served.Wait()
	return err
}

// answer writes JSON.
func answer(w http.ResponseWriter, x any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(x) // whoever asked is gone, or has it
}

// refuse writes a problem.
func refuse(w http.ResponseWriter, err error) {
	code := "UNAVAILABLE"
	if coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err); ok {
		code = coded.Code()
	}
	p := api.NewProblem(code, err.Error())
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}
