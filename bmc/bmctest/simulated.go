package bmctest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
)

// simulated is a stage of a [Simulator].
type simulated struct {
	play   play
	net    *Simulator
	bmc    *bmcsim.BMC
	server *http.Server
	ends   sync.WaitGroup

	url, address, pin, system string
	away                      string       // the host elsewhere
	elsewhere                 net.Listener // who listens there; nil in memory
	caught                    atomic.Int32 // how often it was called

	mu       sync.Mutex
	machines map[string]*machine
	password string
	version  int
	strays   int
}

func (st *simulated) backend(system string, on bool) bmcsim.Backend {
	m := &machine{habits: st.play.machine, was: on, to: on}
	st.machines[system] = m
	return m
}

// Endpoint is how the BMC should be trusted in the scene.
func (st *simulated) Endpoint() bmc.Endpoint {
	e := bmc.Endpoint{URL: st.url, Trust: bmc.Trust{Pin: st.pin}}
	switch st.play.scene {
	case Impostor:
		e.Trust.Pin = bmc.PinPrefix + strings.Repeat("A", 43) + "="
	case SelfSigned:
		e.Trust = bmc.Trust{}
	}
	return e
}

// Credentials are the right ones.
func (st *simulated) Credentials() bmc.Credentials {
	st.mu.Lock()
	defer st.mu.Unlock()
	return bmc.Credentials{Username: bmcsim.DefaultUser, Password: bmc.Keep(st.password), Version: fmt.Sprint("v", st.version)}
}

// Close ends the BMC.
func (st *simulated) Close() error {
	err := errors.Join(st.server.Close(), st.closeElsewhere())
	st.ends.Wait()
	if st.address != "" {
		st.net.wires.forget(st.address)
	}
	return errors.Join(err, st.bmc.Close())
}

// SetPower is a hand at the machine.
func (st *simulated) SetPower(s bmc.State) {
	if err := st.bmc.Switch(context.Background(), st.system, s == bmc.On); err != nil {
		panic(err) // the machine is in memory
	}
}

// Power is what is so.
func (st *simulated) Power() bmc.State {
	if st.machines[st.system].really() {
		return bmc.On
	}
	return bmc.Off
}

// Boots are what the machine was told at each start.
func (st *simulated) Boots() []bmc.BootState {
	var out []bmc.BootState
	starts, _ := st.machines[st.system].seen()
	for _, s := range starts {
		b := bmc.BootState{Target: bmc.BootNone}
		if s.Target != "" {
			b.Target, b.Life = bmc.BootTarget(strings.ToLower(s.Target)), bmc.Persistent
			if s.Once {
				b.Life = bmc.Once
			}
		}
		out = append(out, b)
	}
	return out
}

// Image is a URL that the BMC can fetch.
func (st *simulated) Image() string { return "http://images.example/ingot.iso" }

// resets are the actions behind ResetTypes.
func resets() map[string]bmc.Action {
	return map[string]bmc.Action{
		"On": bmc.SendOn, "ForceOn": bmc.SendOn, "ForceOff": bmc.SendOff, "GracefulShutdown": bmc.SendGraceful,
		"ForceRestart": bmc.SendReset, "Nmi": bmc.SendNMI,
	}
}

// Tally is what the BMC counted.
func (st *simulated) Tally() Tally {
	s := st.bmc.Stats()
	_, lost := st.machines[st.system].seen()
	t := Tally{
		Requests: s.Total, Logins: s.Logins, Failed: s.FailedLogins, Sessions: s.Sessions, Peak: s.MostConcurrent, Gap: s.ShortestSpacing,
		Sent: map[bmc.Action]int{}, Losses: lost, Elsewhere: st.net.wires.strays() - st.strays + int(st.caught.Load()), Fetched: s.Fetched,
	}
	for kind, n := range s.Resets {
		t.Sent[resets()[kind]] += n
	}
	for request, n := range s.Requests {
		method, path, _ := strings.Cut(request, " ")
		if method != http.MethodGet && method != http.MethodHead && !strings.Contains(path, "/Sessions") {
			t.Writes += n
		}
	}
	return t
}

// Do makes something happen.
func (st *simulated) Do(e Event) error {
	switch e {
	case ExpireSessions:
		st.bmc.ExpireSessions()
	case RestartBMC:
		st.bmc.Reboot()
	default:
		return ErrNoScene
	}
	return nil
}

// ask sends a request to the BMC beside its door, for what was there before the
// scene began.
func (st *simulated) ask(method, path string, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r := httptest.NewRequest(method, path, bytes.NewReader(raw))
	w := httptest.NewRecorder()
	st.bmc.ServeHTTP(w, r)
	if w.Code >= 300 {
		return fmt.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	return nil
}
