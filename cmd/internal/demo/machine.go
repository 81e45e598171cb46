package demo

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/cmd/internal/firmware"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
)

// diskSize is that of a machine's disk, a sparse file.
const diskSize = 2 << 30

// A machine is one of the demo's: a firmware, an agent and a disk.
type machine struct {
	n     int
	lab   *lab
	uuid  string
	mac   booter.MAC
	disk  apply.File
	mu    sync.Mutex
	off   context.CancelFunc // of the power
	gone  chan struct{}      // closed when it is off
	state string             // of its row, as the agent heard it
	root  chan api.Secret    // room for one: the root password as its agent was told
	plan  disklayout.Plan    // that was approved last

	failed  bool // a setup of it was given up
	retired bool
	at      *house                                       // the booter that it comes to
	wrote   func() error                                 // before each write of its disk; nil takes all
	process func(context.Context, firmware.Booted) error // runs its agent; nil runs it in this process
	power   func()                                       // before each life; may be nil
	began   map[uint64]int
}

func newMachine(l *lab, n int) (*machine, error) {
	m := &machine{n: n, lab: l, root: make(chan api.Secret, 1), at: l.booters[0], began: map[uint64]int{}, mac: booter.MAC{0x52, 0x54, 0, byte(n >> 16), byte(n >> 8), byte(n)}, uuid: fmt.Sprintf("1d0e0000-0000-4000-8000-%012x", n)}
	path := filepath.Join(l.dir, "disks", m.name())
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(diskSize); err != nil {
		return nil, err
	}
	rotational := false
	m.disk = apply.File{Path: path, Disk: disklayout.Disk{Name: "nvme0n1", Serial: fmt.Sprintf("DEMO%06d", n), Model: "ingot demo disk", LogicalSector: 512, PhysicalSector: 4096, Rotational: &rotational, Transport: "nvme"}}
	return m, f.Close()
}

// planned notes what was approved for it.
func (m *machine) planned(p disklayout.Plan) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.plan = p
}

// gaveUp reports whether a setup of it was given up.
func (m *machine) gaveUp() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed
}

func (m *machine) name() string { return fmt.Sprintf("m%03d", m.n) }

// relay is the machine's own address as a relay.
func (m *machine) relay() netip.Addr {
	a := relays.Addr().As4()
	a[2], a[3] = byte(m.n>>8), byte(m.n)
	return netip.AddrFrom4(a)
}

// on turns the power on: the machine boots, runs its agent, and boots again whenever
// the agent restarts it, until off.
func (m *machine) on(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.off, m.gone, m.state = cancel, make(chan struct{}), ""
	m.lab.say(m.name(), "power", "on: the first DISCOVER makes it known, the next ones are answered")
	m.lab.all.Go(func() {
		defer close(m.gone)
		for ctx.Err() == nil {
			if err := m.life(ctx); err != nil && ctx.Err() == nil {
				m.lab.say(m.name(), "trouble", err.Error())
				pause.For(ctx, time.Second)
			}
		}
	})
}

// cut cuts the power, and returns when nothing runs any more.
func (m *machine) cut() {
	m.mu.Lock()
	off, gone := m.off, m.gone
	m.mu.Unlock()
	off()
	<-gone
}

// life is from power on to a restart.
func (m *machine) life(ctx context.Context) error {
	if m.power != nil {
		m.power()
	}
	f := &firmware.Firmware{MAC: m.mac, UUID: firmware.UUID(m.uuid), Relay: m.relay(), Link: admin.Addr(), DHCP: m.at.dhcp, TFTP: m.at.tftp, Now: m.lab.world.Now, Packet: m.lab.world.Packet, Dial: m.lab.world.DialFrom,
		Told: func(what, detail string) { m.lab.say(m.name(), what, detail) }}
	b, err := f.Boot(ctx)
	if err != nil {
		return err
	}
	if m.process != nil {
		return m.process(ctx, b)
	}
	c, _, err := agent.ParseCmdline(b.Cmdline)
	if err != nil {
		return err
	}
	life := &alive{machine: m, last: map[string]bool{}}
	keep, err := agent.OnDisk(life)
	if err != nil {
		return err
	}
	a := &agent.Agent{Machine: life, Config: c, Keep: keep, Now: m.lab.world.Now, Entropy: m.lab.world.Entropy,
		Log: m.lab.log, Tell: life.told, Version: "demo", SetRoot: m.setRoot, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			return m.lab.world.DialFrom(ctx, b.Address, network, address)
		}}
	return a.Run(ctx)
}

// alive is a machine as its agent sees it.
type alive struct {
	*machine
	last  map[string]bool // steps that were shown
	epoch uint64          // of the setup that is shown
	waits bool            // it has announced itself; approved is what it is after its restart
}

func (a *alive) UUID() (string, error) { return a.uuid, nil }

func (a *alive) NICs() ([]agent.NIC, error) {
	return []agent.NIC{{Name: "eth0", MAC: a.mac.String()}}, nil
}

func (a *alive) Disks() ([]apply.Source, error) { return []apply.Source{watched{a.disk, a.wrote}}, nil }

func (a *alive) Facts() map[string]any { return map[string]any{"product": "ingot demo machine"} }

func (a *alive) SetClock(time.Time) error { return nil } // its clock is the demo's

func (a *alive) Restart() error {
	a.lab.say(a.name(), "reboot", "the booter has taken the outcome in")
	return nil
}

// told shows what the agent says.
func (a *alive) told(t agent.Told) {
	switch t.What {
	case "progress":
		a.begins(t.Epoch)
		if !a.last[t.Step] {
			a.last[t.Step] = true
			a.lab.say(a.name(), "install", t.Step)
		}
	case "state":
		a.waits = a.waits || t.State != "approved"
		if !a.waits || t.State != "approved" {
			a.lab.heard(a.machine, t.State)
		}
	case "approved":
		a.lab.say(a.name(), "sentinel", "the disk is written and read back")
	case "failed":
		a.lab.say(a.name(), "failed", t.Why)
		a.mu.Lock()
		a.state, a.failed = "", true // what it hears next is news
		a.mu.Unlock()
	}
}

// begins counts the setups that begin, by epoch.
func (a *alive) begins(epoch uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.epoch != epoch {
		a.epoch = epoch
		a.began[epoch]++
	}
}
