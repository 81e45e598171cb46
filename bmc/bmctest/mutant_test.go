package bmctest_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmctest"
	"github.com/ingotmetal/ingot/bmc/redfish"
	"github.com/ingotmetal/ingot/bmc/wire"
)

// A bent is a driver that is good but for what is set.
type bent struct {
	redfish.Driver
	info     func(bmc.Info) bmc.Info
	validate func(json.RawMessage) error
	open     func(context.Context, bmc.Driver, bmc.Endpoint, bmc.Access) (bmc.Session, error)
	session  func(*session)
}

func (b *bent) Info() bmc.Info {
	i := b.Driver.Info()
	if b.info != nil {
		i = b.info(i)
	}
	return i
}

func (b *bent) ValidateOptions(o json.RawMessage) error {
	if b.validate != nil {
		return b.validate(o)
	}
	return b.Driver.ValidateOptions(o)
}

func (b *bent) Open(ctx context.Context, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
	open := b.open
	if open == nil {
		open = func(ctx context.Context, d bmc.Driver, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
			return d.Open(ctx, e, a)
		}
	}
	s, err := open(ctx, b.Driver, e, a)
	if err != nil || b.session == nil {
		return s, err
	}
	out := straight(s)
	b.session(out)
	return out, nil
}

// A session is a good one whose calls can be replaced.
type session struct {
	bmc.Session
	probe   func(context.Context) (bmc.Probed, error)
	close   func(context.Context) error
	read    func(context.Context) (bmc.PowerObservation, error)
	send    func(context.Context, bmc.Action) (bmc.Receipt, error)
	targets func(context.Context) ([]bmc.BootTarget, error)
	boot    func(context.Context) (bmc.BootState, error)
	set     func(context.Context, bmc.BootSpec) (bmc.BootState, error)
	insert  func(context.Context, bmc.MediaSpec) (bmc.MediaSlot, error)
	nics    func(context.Context) (bmc.Inspection, error)
	rotate  func(context.Context, bmc.Secret) error
	clear   func(context.Context) (bmc.BootState, error)
}

// everything is what a session of a full driver has.
type everything interface {
	bmc.Session
	bmc.Power
	bmc.Boot
	bmc.Media
	bmc.Inventory
	bmc.Health
	bmc.Firmware
	bmc.Accounts
	bmc.Events
}

func straight(s bmc.Session) *session {
	all := s.(everything)
	return &session{
		Session: s, probe: all.Probe, close: all.Close, read: all.ReadPower, send: all.SendPower, targets: all.BootTargets,
		boot: all.ReadBoot, set: all.SetBoot, insert: all.InsertMedia, nics: all.Inventory, rotate: all.RotatePassword, clear: all.ClearBoot,
	}
}

func (s *session) all() everything                                     { return s.Session.(everything) }
func (s *session) Probe(ctx context.Context) (bmc.Probed, error)       { return s.probe(ctx) }
func (s *session) Close(ctx context.Context) error                     { return s.close(ctx) }
func (s *session) ReadBoot(ctx context.Context) (bmc.BootState, error) { return s.boot(ctx) }
func (s *session) ReadPower(ctx context.Context) (bmc.PowerObservation, error) {
	return s.read(ctx)
}
func (s *session) SendPower(ctx context.Context, a bmc.Action) (bmc.Receipt, error) {
	return s.send(ctx, a)
}
func (s *session) BootTargets(ctx context.Context) ([]bmc.BootTarget, error) { return s.targets(ctx) }
func (s *session) SetBoot(ctx context.Context, b bmc.BootSpec) (bmc.BootState, error) {
	return s.set(ctx, b)
}
func (s *session) ClearBoot(ctx context.Context) (bmc.BootState, error) {
	return s.clear(ctx)
}
func (s *session) MediaSlots(ctx context.Context) ([]bmc.MediaSlot, error) {
	return s.all().MediaSlots(ctx)
}
func (s *session) InsertMedia(ctx context.Context, m bmc.MediaSpec) (bmc.MediaSlot, error) {
	return s.insert(ctx, m)
}
func (s *session) EjectMedia(ctx context.Context, slot string, running bool) error {
	return s.all().EjectMedia(ctx, slot, running)
}
func (s *session) Inventory(ctx context.Context) (bmc.Inspection, error) { return s.nics(ctx) }
func (s *session) Health(ctx context.Context) (bmc.HealthReport, error)  { return s.all().Health(ctx) }
func (s *session) Firmware(ctx context.Context) ([]bmc.Component, error) {
	return s.all().Firmware(ctx)
}
func (s *session) RotatePassword(ctx context.Context, next bmc.Secret) error {
	return s.rotate(ctx, next)
}
func (s *session) Events(ctx context.Context, after string) ([]bmc.Event, string, error) {
	return s.all().Events(ctx, after)
}

// A mutant breaks one law, and is caught by it.
type mutant struct {
	law  int
	name string
	make func(*bmctest.Simulator) bmc.Driver
}

// good is the driver that mutants are made of.
func good(sim *bmctest.Simulator) redfish.Driver {
	return redfish.Driver{Wire: wire.Options{Dial: sim.Dial}}
}

// bends a driver.
func bend(b bent) func(*bmctest.Simulator) bmc.Driver {
	return func(sim *bmctest.Simulator) bmc.Driver {
		b.Driver = good(sim)
		return &b
	}
}

// bends its sessions.
func sessions(f func(*session)) func(*bmctest.Simulator) bmc.Driver { return bend(bent{session: f}) }

func TestMutantsBreakTheLaws(t *testing.T) {
	caught := map[int]bool{}
	for _, m := range slices.Concat(pureMutants(), wireMutants(), accessMutants(), readMutants(), answerMutants(), bootMutants(), treeMutants()) {
		caught[m.law] = true
		t.Run(fmt.Sprintf("%02d %s", m.law, m.name), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim := &bmctest.Simulator{}
				s := bmctest.Subject{Driver: m.make(sim), Stage: sim.Stage, Recordings: bmctest.Recordings, Bubble: true, Only: m.law,
					Levels: []bmctest.Level{bmctest.Pure, bmctest.Simulated, bmctest.Recorded, bmctest.Live, bmctest.Destructive}}
				report := bmctest.Judge(t.Context(), s, nil)
				if report.Count(bmctest.Broken) == 0 {
					t.Errorf("not caught: %+v", report.Results)
				}
				time.Sleep(10 * time.Second) // both ends of a connection in memory close
			})
		})
	}
	for _, l := range bmctest.Laws() {
		if !caught[l.Number] {
			t.Errorf("no mutant breaks law %d, %s", l.Number, l.Name)
		}
	}
}

func pureMutants() []mutant {
	anything := bend(bent{validate: func(json.RawMessage) error { return nil }})
	return []mutant{
		{1, "takes large options", anything},
		{2, "takes unknown options", anything},
		{3, "takes passwords as options", anything},
		{4, "looks whether the BMC is there when options are checked", func(sim *bmctest.Simulator) bmc.Driver {
			return &bent{Driver: good(sim), validate: func(o json.RawMessage) error {
				var in struct{ URL string }
				_ = json.Unmarshal(o, &in)
				c := &http.Client{Transport: careless(sim)}
				defer c.CloseIdleConnections()
				if r, err := c.Get(in.URL); err == nil {
					_ = r.Body.Close()
				}
				return nil
			}}
		}},
		{5, "declares more than it has", bend(bent{open: func(ctx context.Context, d bmc.Driver, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
			s, err := d.Open(ctx, e, a)
			return bare{s}, err
		}})},
		{5, "is another each time", func(sim *bmctest.Simulator) bmc.Driver {
			var n atomic.Int32
			return &bent{Driver: good(sim), info: func(i bmc.Info) bmc.Info { i.Name += fmt.Sprint(n.Add(1)); return i }}
		}},
		{6, "tells the password in an error", bend(bent{open: func(ctx context.Context, d bmc.Driver, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
			s, err := d.Open(ctx, e, a)
			if err != nil {
				c, _ := a.Credentials.Credentials(ctx)
				err = fmt.Errorf("open %s with %s: %w", e.URL, c.Password.Show(), err)
			}
			return s, err
		}})},
		{6, "logs what it authenticates with", logs(func(basic string) { slog.Debug("login", "header", basic) })},
		{6, "prints what it authenticates with to the log", logs(func(basic string) { log.Print(basic) })},
	}
}

// logs makes a driver that logs what it authenticates with.
func logs(say func(basic string)) func(*bmctest.Simulator) bmc.Driver {
	return bend(bent{open: func(ctx context.Context, d bmc.Driver, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
		c, _ := a.Credentials.Credentials(ctx)
		say("Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(c.Username+":"+c.Password.Show())))
		return d.Open(ctx, e, a)
	}})
}

// bare hides what a session can do.
type bare struct{ bmc.Session }

func accessMutants() []mutant {
	reopen := func(times int) func(*bmctest.Simulator) bmc.Driver {
		return bend(bent{open: func(ctx context.Context, d bmc.Driver, e bmc.Endpoint, a bmc.Access) (s bmc.Session, err error) {
			for range times {
				if s, err = d.Open(ctx, e, a); err == nil {
					return s, nil
				}
			}
			return s, err
		}})
	}
	kind := func(from, to bmc.Kind) func(*bmctest.Simulator) bmc.Driver {
		return bend(bent{open: func(ctx context.Context, d bmc.Driver, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
			s, err := d.Open(ctx, e, a)
			if e, ok := errors.AsType[*bmc.Error](err); ok && e.Kind == from {
				e.Kind = to
			}
			return s, err
		}})
	}
	ungated := bend(bent{open: func(ctx context.Context, d bmc.Driver, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
		a.Gate = nil
		return &spread{open: func(ctx context.Context) (bmc.Session, error) { return d.Open(ctx, e, a) }}, nil
	}})
	return []mutant{
		{16, "never logs out", sessions(func(s *session) { s.close = func(context.Context) error { return nil } })},
		{17, "logs in for each operation", ungated},
		{18, "logs in until it is let in", reopen(5)},
		{19, "tries a wrong password again", reopen(3)},
		{20, "never tries again", func(sim *bmctest.Simulator) bmc.Driver {
			var last error
			return &bent{Driver: good(sim), open: func(ctx context.Context, d bmc.Driver, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
				if last != nil {
					return nil, last
				}
				s, err := d.Open(ctx, e, a)
				last = err
				return s, err
			}}
		}},
		{21, "takes a full BMC for a wrong password", kind(bmc.Busy, bmc.Auth)},
		{22, "passes the gate by", ungated},
		{23, "passes the gate by", ungated},
		{24, "keeps to itself how long to wait", bend(bent{open: func(ctx context.Context, d bmc.Driver, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
			s, err := d.Open(ctx, e, a)
			if e, ok := errors.AsType[*bmc.Error](err); ok {
				e.After = 0
			}
			return s, err
		}})},
		{25, "takes a BMC that starts for a broken one", kind(bmc.Busy, bmc.Protocol)},
	}
}

// A spread opens a session for each operation.
type spread struct {
	open func(context.Context) (bmc.Session, error)
}

func (s *spread) Probe(ctx context.Context) (bmc.Probed, error) {
	one, err := s.open(ctx)
	if err != nil {
		return bmc.Probed{}, err
	}
	defer one.Close(ctx)
	return one.Probe(ctx)
}
func (*spread) Close(context.Context) error { return nil }
func (s *spread) ReadPower(ctx context.Context) (bmc.PowerObservation, error) {
	one, err := s.open(ctx)
	if err != nil {
		return bmc.PowerObservation{}, err
	}
	defer one.Close(ctx)
	return one.(bmc.Power).ReadPower(ctx)
}
func (*spread) SendPower(context.Context, bmc.Action) (bmc.Receipt, error) {
	return bmc.Receipt{}, &bmc.Error{Kind: bmc.Unsupports}
}
