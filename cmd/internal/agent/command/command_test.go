package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/cmd/internal/agent/command"
	"github.com/ingotmetal/ingot/cmd/internal/pin"
	"github.com/ingotmetal/ingot/cmd/internal/program"
	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
)

const uuid = "6b1f2c3d-0000-4000-8000-000000000001"

type machine struct{ uuid string }

func (m machine) UUID() (string, error) {
	if m.uuid == "" {
		return "", errors.New("no SMBIOS")
	}
	return m.uuid, nil
}
func (machine) NICs() ([]agent.NIC, error) {
	return []agent.NIC{{Name: "eth0", MAC: "02:00:00:00:00:01"}}, nil
}
func (machine) Disks() ([]apply.Source, error) { return []apply.Source{gone{}}, nil }
func (machine) Facts() map[string]any          { return nil }
func (machine) SetClock(time.Time) error       { return nil }
func (machine) Restart() error                 { return nil }

// gone is a disk that cannot be looked at.
type gone struct{}

func (gone) Identity() (disklayout.Disk, error) {
	return disklayout.Disk{Name: "sda", Serial: "S1"}, nil
}
func (gone) Look() (apply.Reader, error)  { return nil, errors.New("it clicks") }
func (gone) Claim() (apply.Device, error) { return nil, errors.New("it clicks") }

// A rig is a process's surroundings and what it printed.
type rig struct {
	out, err bytes.Buffer
	dir      string
	cmdline  string
	machine  machine
	dials    int
}

func (r *rig) world() command.World {
	return command.World{Out: &r.out, Err: &r.err, Now: time.Now, Entropy: rand.NewChaCha8([32]byte{}),
		Dial: func(context.Context, string, string) (net.Conn, error) {
			r.dials++
			return nil, errors.New("no network")
		},
		Proc: fstest.MapFS{"cmdline": &fstest.MapFile{Data: []byte(r.cmdline)}}, Machine: func(*slog.Logger) agent.Machine { return r.machine }}
}

func (r *rig) run(ctx context.Context, args ...string) error {
	cmd := command.Command(r.world())
	cmd.SetArgs(append(args, "--state", r.dir))
	return cmd.ExecuteContext(ctx)
}

func newRig(t *testing.T) *rig {
	return &rig{dir: filepath.Join(t.TempDir(), "s"), machine: machine{uuid}}
}

func TestShow(t *testing.T) {
	r := newRig(t)
	p := pin.Pin{1}.String()
	r.cmdline = "quiet ingot.server=ingotd:8443 ingot.pin=" + p + " ingot.later=1\n"
	if err := r.run(t.Context(), "show"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{uuid, "eth0 02:00:00:00:00:01", `sda "S1"`, "ingotd:8443", "none is kept", "it clicks"} {
		if !strings.Contains(r.out.String(), want) {
			t.Errorf("%q is not in\n%s", want, r.out.String())
		}
	}
	if !strings.Contains(r.err.String(), "later") {
		t.Errorf("the unknown word is not logged: %s", r.err.String())
	}
	r.out.Reset()
	if err := r.run(t.Context(), "show", "--json"); err != nil {
		t.Fatal(err)
	}
	var v struct {
		Machine string
		Key     bool
		Disks   []disklayout.Disk
		Missing []string
	}
	if err := json.Unmarshal(r.out.Bytes(), &v); err != nil || v.Machine != uuid || v.Key || len(v.Disks) != 1 || len(v.Missing) != 1 {
		t.Errorf("%v %s", err, r.out.String())
	}
}

// Flags hold over the file, and the file over the kernel's command line.
func TestSettings(t *testing.T) {
	r := newRig(t)
	p := pin.Pin{1}.String()
	r.cmdline = "ingot.server=kernel:1 ingot.pin=" + p + " ingot.booter=kernel:2 ingot.booter_pin=" + p
	file := filepath.Join(t.TempDir(), "noded.yaml")
	if err := os.WriteFile(file, []byte("server: file:1\nbooter: file:2\nkeep: folder\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.run(t.Context(), "show", "-c", file, "--booter", "flag:2"); err != nil {
		t.Fatal(err)
	}
	if out := r.out.String(); !strings.Contains(out, "file:1") || !strings.Contains(out, "flag:2") {
		t.Error(out)
	}
}

func TestRefusals(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("servr: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args    []string
		cmdline string
		uuid    string
		code    int
	}{
		{[]string{"show", "--nope"}, "", uuid, 2}, {[]string{"show", "--log-level", "loud"}, "", uuid, 2}, {[]string{"show", "-c", bad}, "", uuid, 6}, {[]string{"show", "-c", "/nowhere/x"}, "", uuid, 6},
		{[]string{"show", "--server", "x"}, "", uuid, 6}, {[]string{"show", "--server", "x:1"}, "", uuid, 6}, {[]string{"show", "--keep", "cloud"}, "", uuid, 6}, {[]string{"show"}, "ingot.pin=x", uuid, 6},
		{[]string{"run"}, "", uuid, 6}, {[]string{"run"}, "", "", 7}, {[]string{"run"}, "", "00000000-0000-0000-0000-000000000000", 7}, {[]string{"register"}, "", uuid, 6},
	} {
		r := newRig(t)
		r.cmdline, r.machine.uuid = c.cmdline, c.uuid
		if err := r.run(t.Context(), c.args...); err == nil || program.ExitCode(err) != c.code || r.dials != 0 {
			t.Errorf("%q: %v, code %d, want %d", c.args, err, program.ExitCode(err), c.code)
		}
	}
}

// A signal is a good end.
func TestRunIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		p := pin.Pin{1}.String()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if err := r.run(ctx, "run", "--booter", "b:1", "--booter-pin", p); err != nil || r.dials < 9 || r.dials > 40 {
			t.Errorf("%v after %d dials", err, r.dials)
		}
	})
}

// A machine's first process prints what is wrong and tries again, for ever.
func TestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.cmdline = "ingot.booter=nonsense"
		ctx, cancel := context.WithTimeout(t.Context(), 55*time.Second)
		defer cancel()
		from := time.Now()
		command.First(ctx, r.world())
		if n := strings.Count(r.err.String(), "is not HOST:PORT"); n != 6 || time.Since(from) != 55*time.Second {
			t.Errorf("%d tries in %s\n%s", n, time.Since(from), r.err.String())
		}
	})
}

// The network is set up before anything is dialed, and by a first process alone.
func TestNetworkFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		p := pin.Pin{1}.String()
		r.cmdline = "ingot.booter=192.0.2.1:8444 ingot.booter_pin=" + p + " ingot.mac=02:00:00:00:00:01 ingot.address=192.0.2.7/24 ingot.gateway=192.0.2.1"
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
		defer cancel()
		w, tries := r.world(), 0
		w.Network = func(_ context.Context, c agent.Config, _ *slog.Logger) error {
			if tries++; tries < 3 && r.dials != 0 || c.MAC != "02:00:00:00:00:01" || c.Address.String() != "192.0.2.7/24" || c.Gateway.String() != "192.0.2.1" {
				t.Errorf("try %d, %d dials: %+v", tries, r.dials, c)
			}
			if tries < 3 {
				return errors.New("eth0 has no carrier")
			}
			return nil
		}
		command.First(ctx, w)
		if n := strings.Count(r.err.String(), "noded: eth0 has no carrier"); tries != 3 || r.dials == 0 || n != 2 {
			t.Errorf("%d tries, %d dials\n%s", tries, r.dials, r.err.String())
		}
	})
}

// What the help promises is there.
func TestHelp(t *testing.T) {
	r := newRig(t)
	cmd := command.Command(r.world())
	cmd.SetArgs([]string{"--help"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"noded show", "noded register", "noded run", "--json", command.DefaultFile, command.DefaultState} {
		if !strings.Contains(r.out.String(), want) {
			t.Errorf("%q is not in\n%s", want, r.out.String())
		}
	}
}
