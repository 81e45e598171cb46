package demo

import (
	"context"
	"os"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// takeState has the booter's state folder take nothing: it is elsewhere.
func takeState(_ context.Context, l *lab) error {
	l.say("site", "fault", "the booter's state folder takes nothing any more")
	dir := l.booters[0].config.State
	return os.Rename(dir, dir+".away")
}

// giveState is an operator who asks why a setup does not begin, and mends that.
func giveState(ctx context.Context, l *lab, m *machine) error {
	if err := l.moment(ctx, m, "setup", "state folder"); err != nil {
		return err
	}
	row, err := l.show(ctx, m)
	if err != nil {
		return err
	}
	if row.State != "setting_up" {
		return &Broken{m.name() + " is " + row.State + ", and its bundle could not be kept"}
	}
	l.say("ada", "mends", "the state folder has room again")
	dir := l.booters[0].config.State
	return os.Rename(dir+".away", dir)
}

// secondBooter starts another booter, and has one of the machines lose its power.
func secondBooter(ctx context.Context, l *lab) error {
	if err := l.startBooter(ctx); err != nil {
		return err
	}
	return plantCut(ctx, l)
}

// moveOne has the first machine that waits come to the other booter before it is
// approved.
func moveOne(ctx context.Context, l *lab, m *machine) error {
	if l.mended {
		return nil
	}
	l.mended = true
	l.say(m.name(), "fault", "loses its power, and comes to the other booter")
	m.cut()
	m.at = l.booters[1]
	m.on(ctx)
	return m.says(ctx, "awaiting_setup")
}

// moveBack has it lose its power while its disk is written, and come to the first
// booter again, which does not have its bundle.
func moveBack(ctx context.Context, l *lab, m *machine) error {
	m.at = l.booters[0]
	return powerAgain(ctx, l, m)
}

// cutAt is the write at which a machine loses its power: amid its image.
const cutAt = 3

// plantCut has the first machine that writes its disk lose its power.
func plantCut(_ context.Context, l *lab) error {
	for _, m := range l.machines {
		n := 0
		m.wrote = func() error {
			if n++; n != cutAt || !l.cut.CompareAndSwap(nil, m) {
				return nil
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			m.off()
			return errPower
		}
	}
	return nil
}

// powerAgain gives it its power again. Its bundle went with the agent that had it, so
// that nothing but the deadline ends its setup: 45 minutes pass.
func powerAgain(ctx context.Context, l *lab, m *machine) error {
	for l.cut.Load() != m {
		if !pause.For(ctx, 10*time.Millisecond) {
			return context.Cause(ctx)
		}
	}
	<-m.gone
	l.say(m.name(), "fault", "loses its power amid the image, and comes again")
	m.on(ctx)
	if err := m.says(ctx, "setting_up"); err != nil {
		return err
	}
	l.say("site", "waits", "the bundle is handed out once (SET-6): 45 minutes pass")
	l.ahead.Add(int64(46 * time.Minute))
	in := api.SetPolicy{Body: l.rules()}
	in.Body.MaxDiscovered = 9999 // any commit: the site looks at its clock anew
	if _, err := api.PolicySet.Call(ctx, l.operator, &in); err != nil {
		return err
	}
	row, err := l.awaits(ctx, m)
	if err != nil {
		return err
	}
	if row.LastSetupError == "" || row.KeyID != "" {
		return &Broken{m.name() + " waits again without a reason, or with a key"}
	}
	l.say(m.name(), "failed", row.LastSetupError)
	m.cut() // it would announce itself anew within half a minute, with the key that it has now
	m.on(ctx)
	return nil
}
