package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/cmd/internal/firmware"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
	"github.com/ingotmetal/ingot/cmd/internal/simnet"
	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
	"github.com/ingotmetal/ingot/disklayout/probe"
)

// A box is a machine with a firmware, a disk and an agent.
type box struct {
	*whole
	n      int
	name   string
	uuid   string
	mac    booter.MAC
	disk   apply.File
	starts int
	mu     sync.Mutex
	now    *process
	told   []string
	began  map[uint64]*process // by setup
	done   uint64              // the setup whose mark says so
	broken []string
}

const boxSize = 256 << 20

func newBox(h *whole, n int, m *machine) (*box, error) {
	b := &box{whole: h, n: n, name: fmt.Sprint("m", n), uuid: m.uuid, began: map[uint64]*process{}, now: newProcess()}
	hw, err := net.ParseMAC(m.mac)
	if err != nil {
		return nil, err
	}
	b.mac = booter.MAC(hw)
	path := filepath.Join(h.dir, b.name)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	rotational := false
	b.disk = apply.File{Path: path, Disk: disklayout.Disk{Name: "nvme0n1", Serial: fmt.Sprint("S", n), LogicalSector: 512, PhysicalSector: 4096, Rotational: &rotational, Transport: "nvme"}}
	return b, errors.Join(f.Truncate(boxSize), f.Close())
}

// A process is the agent's, or the firmware's before it. It dies when it is killed, or
// when it did so many writes as were left to it.
type process struct {
	mu     sync.Mutex
	left   int // writes; negative: as many as it likes
	killed bool
	dying  chan struct{}
	epoch  uint64 // of the setup that it writes, or wrote last
	erased int    // writes since, that no mark has claimed yet
}

func newProcess() *process {
	return &process{left: -1, dying: make(chan struct{})}
}

// dead reports whether it is, and takes a write from what is left.
func (p *process) dead(writes int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left > 0 && writes > 0 {
		if p.left--; p.left == 0 {
			p.die()
		}
	}
	return p.killed
}

func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.die()
}

func (p *process) die() {
	if !p.killed {
		p.killed = true
		close(p.dying)
	}
}

// arm lets it do n more writes.
func (p *process) arm(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = n
}

// live boots the machine again and again. A process that is killed ends with its
// machine's power, or is started again by itself, as chance has it.
func (b *box) live(ctx context.Context) {
	time.Sleep(b.net.Offset(b.name))
	for ctx.Err() == nil {
		var c agent.Config
		var address netip.Addr
		up := b.process(ctx, func(ctx context.Context, host *simnet.Host) (err error) {
			c, address, err = b.boot(ctx, host)
			return err
		})
		for alone := up; alone && ctx.Err() == nil; {
			again := b.chance(b.name+" again", b.starts)%3 == 0
			ended := b.process(ctx, func(ctx context.Context, host *simnet.Host) error { return b.agent(ctx, host, c, address) })
			alone = !ended && again
		}
		pause.For(ctx, 10*time.Second+time.Duration(b.chance(b.name+" boots", b.starts)%uint64(10*time.Second)))
	}
}

// process runs one until it ends, and reports false where it was killed or failed.
func (b *box) process(ctx context.Context, run func(context.Context, *simnet.Host) error) bool {
	b.starts++
	p := newProcess()
	b.mu.Lock()
	b.now = p
	b.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	host := b.net.Host(b.name)
	defer b.over(p)
	go func() { ended <- run(ctx, host) }()
	select {
	case err := <-ended:
		if err != nil {
			b.note("ended " + err.Error())
		}
		return err == nil
	case <-p.dying:
	}
	b.note("killed")
	b.net.Kill(b.name)
	cancel()
	<-ended
	return false
}

func (b *box) note(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.told); n == 0 || b.told[n-1] != what {
		b.told = append(b.told, what)
	}
}

// current is the process that runs.
func (b *box) current() *process {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

// boot loads a kernel, and returns what its agent is told.
func (b *box) boot(ctx context.Context, host *simnet.Host) (agent.Config, netip.Addr, error) {
	at := b.net.Host("booter").Addr()
	f := &firmware.Firmware{MAC: b.mac, UUID: firmware.UUID(b.uuid), Relay: netip.AddrFrom4([4]byte{172, 17, 0, byte(b.n + 1)}), Link: wholeNet.Addr(),
		DHCP: netip.AddrPortFrom(at, 67), TFTP: netip.AddrPortFrom(at, 69), Now: time.Now, Dial: host.DialFrom, Told: func(what, _ string) { b.note(what) },
		Packet: func(_ context.Context, _, address string) (net.PacketConn, error) {
			return host.ListenPacket("lan", netip.MustParseAddrPort(address))
		}}
	booted, err := f.Boot(ctx)
	if err != nil {
		return agent.Config{}, netip.Addr{}, err
	}
	c, _, err := agent.ParseCmdline(booted.Cmdline)
	return c, booted.Address, err
}

// agent runs the agent's process until it restarts the machine.
func (b *box) agent(ctx context.Context, host *simnet.Host, c agent.Config, address netip.Addr) error {
	m := boxMachine{b, b.current()}
	keep, err := agent.OnDisk(m)
	if err != nil {
		return err
	}
	life := b.starts
	if b.wrong.sameKey {
		life = 0
	}
	a := &agent.Agent{Machine: m, Config: c, Keep: keep, Now: time.Now, Entropy: &drawn{n: b.chance(b.name+" entropy", life)}, Log: slog.New(slog.DiscardHandler), Version: "test",
		Tell: func(t agent.Told) { b.hear(t) },
		Dial: func(ctx context.Context, network, to string) (net.Conn, error) {
			return host.DialFrom(ctx, address, network, to)
		}}
	return a.Run(ctx)
}

// boxMachine is a box as its agent sees it.
type boxMachine struct {
	*box
	process *process
}

func (m boxMachine) UUID() (string, error) { return m.uuid, nil }

func (m boxMachine) NICs() ([]agent.NIC, error) {
	return []agent.NIC{{Name: "eth0", MAC: m.mac.String()}}, nil
}

func (m boxMachine) Disks() ([]apply.Source, error) { return []apply.Source{boxDisk{m.disk, m}}, nil }

func (boxMachine) Facts() map[string]any { return nil }

func (boxMachine) SetClock(time.Time) error { return nil }

func (boxMachine) Restart() error { return nil }

// hear takes what the agent tells.
func (b *box) hear(t agent.Told) {
	b.note(fmt.Sprint(t.What, " ", t.State, t.Step, t.Why, t.Epoch))
}

// wrote takes a write that a process did, outside of what an agent keeps. A setup is
// one process's: it erases, sets a mark, and sets it done. What is erased without a mark
// that follows is a wipe that nobody asked for.
func (b *box) wrote(p *process, raw []byte, at int64) {
	end := at + int64(len(raw))
	if at >= agent.KeepFirst && end <= agent.KeepSecond+agent.KeepSize {
		return
	}
	var m *probe.Mark
	if at <= probe.MarkOffset && end >= probe.MarkOffset+probe.MarkSize {
		m = probe.ParseMark(raw[probe.MarkOffset-at:])
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case m == nil && (p.epoch == 0 || p.epoch == b.done):
		p.erased++
	case m == nil:
	case m.Done:
		b.done = m.Stamp.Epoch
	default:
		if by := b.began[m.Stamp.Epoch]; by != nil && by != p {
			b.broken = append(b.broken, fmt.Sprintf("setup %d is begun by two processes", m.Stamp.Epoch))
		}
		if m.Stamp.Epoch <= b.done {
			b.broken = append(b.broken, fmt.Sprintf("setup %d is begun after setup %d was done", m.Stamp.Epoch, b.done))
		}
		b.began[m.Stamp.Epoch] = p
		p.epoch, p.erased = m.Stamp.Epoch, 0
	}
}

// over takes the end of a process.
func (b *box) over(p *process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.erased > 0 && !p.killed {
		b.broken = append(b.broken, fmt.Sprintf("%d writes belong to no setup", p.erased))
	}
}

// A boxDisk is the disk of a box as one process has it.
type boxDisk struct {
	apply.File
	of boxMachine
}

// writeTime is how long a write takes, so that an install is long enough for things to
// happen in it.
const writeTime = 100 * time.Millisecond

var errKilled = errors.New("this process is killed")

func (d boxDisk) Claim() (apply.Device, error) {
	if d.of.process.dead(0) {
		return nil, errKilled
	}
	dev, err := d.File.Claim()
	return boxDevice{dev, d.of}, err
}

type boxDevice struct {
	apply.Device
	of boxMachine
}

func (d boxDevice) WriteAt(b []byte, at int64) (int, error) {
	if d.of.process.dead(1) {
		return 0, errKilled
	}
	time.Sleep(writeTime)
	d.of.wrote(d.of.process, b, at)
	return d.Device.WriteAt(b, at)
}

func (d boxDevice) Sync() error {
	if d.of.process.dead(1) {
		return errKilled
	}
	return nil // what reads it back reads it through the same kernel
}

// disksAsPlanned says of which approved machine the disk is not as it was approved.
func (h *whole) disksAsPlanned() (broken []string) {
	for _, b := range h.boxes {
		broken = append(broken, b.broken...)
		if err := b.asPlanned(); err != nil {
			broken = append(broken, fmt.Sprintf("disk: %s: %v; %q", b.name, err, b.told))
		}
	}
	return broken
}

func (b *box) asPlanned() error {
	f, err := os.Open(b.disk.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	found, err := probe.Look(f, boxSize, b.disk.Disk.LogicalSector)
	if err != nil {
		return err
	}
	if m := found.Mark; m == nil || !m.Done || m.Plan.String() != b.plans[b.uuid] {
		return fmt.Errorf("its mark is %+v, approved was %s", m, b.plans[b.uuid])
	}
	return nil
}
