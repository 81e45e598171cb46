// Package vendordriver is a vendor's own BMC driver: power alone, over HTTPS. It
// keeps every law of package bmctest that applies to it.
package vendordriver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/wire"
)

// Driver opens sessions. Wire says how; its zero value works.
type Driver struct{ Wire wire.Options }

// Info says what the driver is.
func (Driver) Info() bmc.Info {
	return bmc.Info{
		Name: "acme", Protocols: []string{"redfish"}, Declares: []bmc.Feature{bmc.PowerState, bmc.PowerOn, bmc.PowerOff},
		Limits: bmc.Limits{Concurrent: 1},
	}
}

// ValidateOptions takes none.
func (Driver) ValidateOptions(o json.RawMessage) error { return bmc.CheckOptions(o, &struct{}{}) }

// Open finds the machine.
func (d Driver) Open(ctx context.Context, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
	c, err := wire.New(e, a.Gate, d.Wire)
	if err != nil {
		return nil, err
	}
	s := &session{wire: c, source: a.Credentials}
	if err := s.find(ctx, e.System); err != nil {
		c.Close()
		return nil, err
	}
	return s, nil
}

type session struct {
	wire   *wire.Client
	source bmc.CredentialSource
	latch  bmc.Latch
	all    []string
	system string
}

// Close ends the connections.
func (s *session) Close(context.Context) error { s.wire.Close(); return nil }

// ask sends one request. Credentials are resolved for each, and a wrong password
// is not tried twice.
func (s *session) ask(ctx context.Context, op, method, path string, body, into any) error {
	c, err := s.latch.Resolve(ctx, s.source)
	if err != nil {
		return err
	}
	r := wire.Request{Op: op, Method: method, Path: path, Header: http.Header{}}
	basic := &http.Request{Header: r.Header}
	basic.SetBasicAuth(c.Username, c.Password.Show())
	if body != nil {
		if r.Body, err = json.Marshal(body); err != nil {
			return err
		}
	}
	resp, err := s.wire.Do(ctx, r)
	if err != nil {
		return err
	}
	if err := s.judge(c, resp); err != nil || into == nil {
		return err
	}
	return resp.JSON(into)
}

// judge reads the status, and the two messages that change what it means.
func (s *session) judge(c bmc.Credentials, resp *wire.Response) error {
	err := resp.Err("")
	e, ok := err.(*bmc.Error)
	switch {
	case !ok:
	case strings.Contains(string(resp.Body), "PasswordChangeRequired"):
		e.Kind = bmc.PasswordChange
	case e.Status == http.StatusBadRequest && strings.Contains(string(resp.Body), "InvalidOperationForSystemState"):
		e.Kind = bmc.Conflict
	}
	if ok && (e.Kind == bmc.Auth || e.Kind == bmc.PasswordChange) {
		s.latch.Refuse(c, e)
	}
	return err
}

type link struct {
	ID string `json:"@odata.id"`
}

// system is what the driver reads of one.
type system struct {
	UUID, SerialNumber, Manufacturer, Model, PowerState string

	Links   struct{ Chassis []link }
	Actions struct {
		Reset *struct{} `json:"#ComputerSystem.Reset"`
	}
}

// find selects the machine among those that can be reset.
func (s *session) find(ctx context.Context, want string) error {
	var list struct{ Members []link }
	if err := s.ask(ctx, "open", "GET", "/redfish/v1/Systems", nil, &list); err != nil {
		return err
	}
	var hosts []string
	for _, m := range list.Members {
		var one system
		if err := s.ask(ctx, "open", "GET", m.ID, nil, &one); err != nil {
			return err
		}
		s.all = append(s.all, m.ID)
		if one.Actions.Reset != nil {
			hosts = append(hosts, m.ID)
		}
	}
	slices.Sort(s.all)
	slices.Sort(hosts)
	picked := slices.IndexFunc(hosts, func(h string) bool { return want == "" || h == want || strings.HasSuffix(h, "/"+want) })
	switch {
	case picked < 0:
		return &bmc.Error{Kind: bmc.NotFound, Op: "open", Why: "no system " + want, Do: "want one of " + strings.Join(hosts, ", ")}
	case want == "" && len(hosts) > 1:
		return &bmc.Error{Kind: bmc.InvalidOption, Op: "open", Why: "the BMC has several systems", Do: "select one of " + strings.Join(hosts, ", ")}
	}
	s.system = hosts[picked]
	return nil
}

// Probe says which machine it is.
func (s *session) Probe(ctx context.Context) (bmc.Probed, error) {
	var one system
	power, err := s.read(ctx, &one)
	native := bmc.Support{Level: bmc.Native}
	return bmc.Probed{
		System: s.system, Systems: s.all, Vendor: one.Manufacturer, Model: one.Model, Serial: one.SerialNumber,
		UUID: bmc.ClaimUUID(one.UUID), Power: power, Peer: s.wire.Peer(),
		Supports: map[bmc.Feature]bmc.Support{bmc.PowerState: native, bmc.PowerOn: native, bmc.PowerOff: native},
	}, err
}

// ReadPower reads the system, and the chassis where it is this machine's alone.
func (s *session) ReadPower(ctx context.Context) (bmc.PowerObservation, error) {
	return s.read(ctx, &system{})
}

func (s *session) read(ctx context.Context, one *system) (bmc.PowerObservation, error) {
	o := bmc.PowerObservation{Began: time.Now(), Source: s.system}
	if err := s.ask(ctx, "read power", "GET", s.system, nil, one); err != nil {
		return o, err
	}
	o.State, o.Raw = state(one.PowerState), one.PowerState
	if len(one.Links.Chassis) == 1 {
		var c struct {
			PowerState string
			Links      struct{ ComputerSystems []link }
		}
		// A BMC may name a chassis that it does not show.
		err := s.ask(ctx, "read power", "GET", one.Links.Chassis[0].ID, nil, &c)
		if e, ok := err.(*bmc.Error); err != nil && (!ok || e.Kind != bmc.NotFound) {
			return o, err
		}
		if err == nil && c.PowerState != "" && len(c.Links.ComputerSystems) < 2 {
			o.Chassis = state(c.PowerState)
		}
	}
	o.Ended = time.Now()
	return o, nil
}

func state(raw string) bmc.State {
	known := map[string]bmc.State{"On": bmc.On, "Off": bmc.Off, "PoweringOn": bmc.PoweringOn, "PoweringOff": bmc.PoweringOff}
	return cmp.Or(known[raw], bmc.Unknown)
}

// SendPower sends a ResetType.
func (s *session) SendPower(ctx context.Context, a bmc.Action) (bmc.Receipt, error) {
	as, ok := map[bmc.Action]string{bmc.SendOn: "On", bmc.SendOff: "ForceOff"}[a]
	if !ok {
		return bmc.Receipt{}, &bmc.Error{Kind: bmc.Unsupports, Op: fmt.Sprint("power ", a), Sent: bmc.SentNo, Why: "not of this driver", Do: "it does on and off"}
	}
	err := s.ask(ctx, "power "+string(a), "POST", s.system+"/Actions/ComputerSystem.Reset", map[string]string{"ResetType": as}, nil)
	return bmc.Receipt{Action: a, As: as, At: time.Now()}, err
}
