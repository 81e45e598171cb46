package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/disklayout/apply"
)

// agentLife is the environment variable that makes this test's program an agent.
const agentLife = "INGOT_TEST_AGENT_LIFE"

func TestMain(m *testing.M) {
	if text := os.Getenv(agentLife); text != "" {
		if err := agentMain(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A lifeOf is what an agent that is a process is told of its machine.
type lifeOf struct {
	UUID, MAC string
	Disk      apply.File
	Address   netip.Addr // of the machine
	Cmdline   string
	Journal   string // file with the steps of all lives
	Die       string // the step at which this one ends as kill -9 ends it; "" for none
}

// process runs an agent as a process, until it ends or ctx does.
func (l lifeOf) process(ctx context.Context) error {
	raw, err := json.Marshal(l)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), agentLife+"="+string(raw))
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// agentMain is the agent's process.
func agentMain(text string) error {
	var l lifeOf
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return err
	}
	journal, err := os.OpenFile(l.Journal, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer journal.Close()
	c, _, err := agent.ParseCmdline(l.Cmdline)
	if err != nil {
		return err
	}
	s := &stepping{lifeOf: l, journal: journal, seen: map[string]bool{}}
	s.at("life")
	keep, err := agent.OnDisk(s)
	if err != nil {
		return err
	}
	w := process(os.Stderr)
	a := &agent.Agent{Machine: s, Config: c, Keep: keptStep{keep, s}, Now: w.Now, Entropy: w.Entropy, Log: discard(), Version: "test", Tell: func(t agent.Told) {
		if t.What == "state" {
			s.at("state:" + t.State)
		}
	}, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := w.DialFrom(ctx, l.Address, network, address)
		return sentStep{conn, s}, err
	}}
	return a.Run(context.Background())
}

// stepping is a machine whose agent notes each step of its life, and dies at one.
type stepping struct {
	lifeOf
	journal *os.File

	mu           sync.Mutex
	seen         map[string]bool
	writes, kept int
}

// at notes a step, once in a life.
func (s *stepping) at(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[step] {
		return
	}
	s.seen[step] = true
	fmt.Fprintln(s.journal, step)
	if step == s.Die {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// saw reports whether a step of this life is over.
func (s *stepping) saw(step string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[step]
}

func (s *stepping) UUID() (string, error) { return s.lifeOf.UUID, nil }

func (s *stepping) NICs() ([]agent.NIC, error) {
	return []agent.NIC{{Name: "eth0", MAC: s.MAC}}, nil
}

func (s *stepping) Disks() ([]apply.Source, error) {
	return []apply.Source{steppingDisk{s.Disk, s}}, nil
}

func (*stepping) Facts() map[string]any { return nil }

func (*stepping) SetClock(time.Time) error { return nil }

func (s *stepping) Restart() error {
	s.at("rebooting")
	return nil
}

type steppingDisk struct {
	apply.File
	s *stepping
}

func (d steppingDisk) Claim() (apply.Device, error) {
	d.s.at("bundle") // it was opened before
	dev, err := d.File.Claim()
	return steppingDevice{dev, d.s}, err
}

type steppingDevice struct {
	apply.Device
	s *stepping
}

func (d steppingDevice) WriteAt(b []byte, at int64) (int, error) {
	d.s.at(d.s.write(at))
	return d.Device.WriteAt(b, at)
}

// write names a write: of the plan, or of what is kept.
func (s *stepping) write(at int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at == agent.KeepFirst || at == agent.KeepSecond {
		s.kept++
		return fmt.Sprintf("keep-%d", s.kept)
	}
	s.writes++
	return fmt.Sprintf("write-%d", s.writes)
}

type keptStep struct {
	agent.DiskKeep
	s *stepping
}

func (k keptStep) Save(raw []byte) error {
	err := k.DiskKeep.Save(raw)
	if err == nil {
		k.s.at("kept")
	}
	return err
}

// sentStep notes the first frame that leaves once the key is kept: the sentinel.
type sentStep struct {
	net.Conn
	s *stepping
}

func (c sentStep) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if c.s.saw("kept") {
		c.s.at("sentinel")
	}
	return n, err
}
