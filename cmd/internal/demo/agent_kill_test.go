package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/firmware"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// The steps at which an agent is killed. Before the key is whole on the disk, its setup
// waits for its deadline, since a bundle is handed out once (SET-6); from then on the
// machine ends approved by the same approval (SET-13), with nothing written twice.
var (
	beforeTheKey = []string{"bundle", "write-1", "write-3", "write-6", "keep-1"}
	withTheKey   = []string{"keep-2", "kept", "sentinel", "keep-3", "keep-4", "rebooting"}
)

// plannedWrites is how many writes a setup of these tests has.
const plannedWrites = 13

// Agents that are processes are killed at each step of their lives, and at two that a
// seed decides, beside a control plane and two booters that are processes too. Which
// booter a machine comes to, life by life, the seed decides as well.
func TestAgentsAreKilled(t *testing.T) {
	seed := killSeed(t)
	k := &killed{t: t, dir: folder(t), bin: daemons(t), chance: rand.New(rand.NewPCG(seed, 0))}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := k.open(ctx); err != nil {
		t.Fatal(err)
	}
	defer k.kill()
	steps := slices.Concat([]string{"", "state:awaiting_setup"}, beforeTheKey, withTheKey)
	for range 2 {
		steps = append(steps, fmt.Sprintf("write-%d", 1+k.chance.IntN(plannedWrites)))
	}
	t.Logf("steps %q", steps)
	var all []*dying
	for n, step := range steps {
		d, err := k.dying(n+1, step)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
		d.on(ctx)
	}
	defer func() { _ = k.l.close() }()
	k.rest(ctx, all)
	for _, d := range all {
		d.cut() // nothing is written meanwhile
	}
	for _, d := range all {
		d.judge(ctx)
	}
}

// A dying is a machine whose agent is killed at a step, once.
type dying struct {
	*machine
	k       *killed
	step    string
	journal string
	lives   int
	row     string
	asked   map[uint64]bool // epochs that were approved
}

func (k *killed) dying(n int, step string) (*dying, error) {
	m, err := newMachine(k.l, n)
	if err != nil {
		return nil, err
	}
	k.l.machines = append(k.l.machines, m)
	d := &dying{machine: m, k: k, step: step, journal: filepath.Join(k.dir, m.name()+".journal"), asked: map[uint64]bool{}}
	chance := rand.New(rand.NewPCG(k.chance.Uint64(), 0)) // its own: lives of machines run beside each other
	m.power = func() { m.at = k.l.booters[chance.IntN(len(k.l.booters))] }
	m.process = func(ctx context.Context, b firmware.Booted) error {
		l := lifeOf{UUID: m.uuid, MAC: m.mac.String(), Disk: m.disk, Address: b.Address, Cmdline: b.Cmdline, Journal: d.journal}
		if d.lives++; !slices.Contains(d.steps(), step) {
			l.Die = step // until it is there: a life may end before
		}
		return l.process(ctx)
	}
	return d, nil
}

// steps are those of all lives, in order.
func (d *dying) steps() []string {
	raw, _ := os.ReadFile(d.journal)
	return strings.Fields(string(raw))
}

// rests reports whether a machine is where it stays: its last life heard that it is
// approved, and one restarted it or kept that it is about to; or a setup is under way
// which no life of it can end.
func (d *dying) rests() bool {
	steps := d.steps()
	if d.step != "" && !slices.Contains(steps, d.step) {
		return false
	}
	last := steps
	for i := slices.Index(last, "life"); i >= 0; i = slices.Index(last, "life") {
		last = last[i+1:]
	}
	return d.row == "approved" && slices.Contains(last, "state:approved") && (slices.Contains(steps, "rebooting") || d.step == "keep-4") ||
		d.row == "setting_up" && slices.Contains(last, "state:setting_up") && !slices.Contains(last, "bundle")
}

// rest approves machines until all rest.
func (k *killed) rest(ctx context.Context, all []*dying) {
	for end := time.Now().Add(75 * time.Second); time.Now().Before(end); pause.For(ctx, 200*time.Millisecond) {
		left := 0
		for _, d := range all {
			got, err := k.l.show(ctx, d.machine)
			if err != nil {
				left++
				continue
			}
			d.row = got.State
			if d.row == "awaiting_setup" {
				_ = k.l.approve(ctx, d.machine) // refused where it announced itself anew meanwhile
			}
			if len(d.steps()) == 0 || !d.rests() {
				left++
			}
		}
		if left == 0 {
			return
		}
	}
	for _, d := range all {
		if !d.rests() {
			k.t.Errorf("%s, to be killed at %q, does not rest: %s, %v", d.name(), d.step, d.row, d.steps())
		}
	}
}

// judge looks at where a machine is.
func (d *dying) judge(ctx context.Context) {
	t, steps := d.k.t, d.steps()
	fault := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s, killed at %q: %s\n%v", d.name(), d.step, fmt.Sprintf(format, args...), steps)
	}
	row, err := d.k.l.show(ctx, d.machine)
	if err != nil {
		fault("%v", err)
		return
	}
	found, err := d.look()
	if err != nil {
		fault("%v", err)
		return
	}
	if n := count(steps, "write-1"); n > 1 {
		fault("%d lives wrote its disk", n)
	}
	switch row.State {
	case "approved":
		if slices.Contains(beforeTheKey, d.step) || strings.HasPrefix(d.step, "write-") {
			fault("it is approved without its key")
		}
		if err := d.asPlanned(); err != nil {
			fault("%v", err)
		}
		if found.Mark == nil || found.Mark.Stamp.Epoch != row.SetupEpoch && row.SetupEpoch != 0 {
			fault("its disk is of another epoch than %d: %+v", row.SetupEpoch, found.Mark)
		}
	case "setting_up":
		if d.step == "" || slices.Contains(withTheKey, d.step) || d.step == "state:awaiting_setup" || row.SetupDeadline.IsZero() {
			fault("it waits for the deadline %s", row.SetupDeadline)
		}
	default:
		fault("it rests in %s: %s", row.State, row.LastSetupError)
	}
	d.wroteOnce(steps, fault)
}

// wroteOnce: once the key is kept, nothing of the plan is written again.
func (d *dying) wroteOnce(steps []string, fault func(string, ...any)) {
	kept := slices.Index(steps, "keep-2")
	if kept < 0 {
		return
	}
	for _, s := range steps[kept:] {
		if strings.HasPrefix(s, "write-") {
			fault("%s comes after the key was on the disk", s)
		}
	}
}

func count(all []string, what string) (n int) {
	for _, s := range all {
		if s == what {
			n++
		}
	}
	return n
}
