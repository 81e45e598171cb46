package demo

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/booting/account"
	"github.com/ingotmetal/ingot/cmd/internal/operate"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// patience is how long an operator waits for what must come.
const patience = time.Minute

// wait looks again and again until it is so, and reports what was waited for if it
// never is.
func wait(ctx context.Context, what string, so func() (bool, error)) error {
	for range patience / (50 * time.Millisecond) {
		if ok, err := so(); ok || err != nil {
			return err
		}
		if !pause.For(ctx, 50*time.Millisecond) {
			return context.Cause(ctx)
		}
	}
	return &Broken{"it did not come that " + what}
}

// show reads a machine's row.
func (l *lab) show(ctx context.Context, m *machine) (api.Registration, error) {
	return api.RegistrationShow.Call(ctx, l.operator, &api.RegistrationRef{Server: m.uuid})
}

// awaits waits until a machine waits for approval.
func (l *lab) awaits(ctx context.Context, m *machine) (row api.Registration, err error) {
	err = wait(ctx, m.name()+" waits for approval again", func() (bool, error) {
		row, err = l.show(ctx, m)
		return row.State == "awaiting_setup", err
	})
	return row, err
}

// says waits until the agent of a machine hears of a state.
func (m *machine) says(ctx context.Context, state string) error {
	return wait(ctx, m.name()+" is "+state, func() (bool, error) { return m.row() == state, nil })
}

// why asks the machine's booter for its account of it, as ingot why-silent does.
func (l *lab) why(ctx context.Context, m *machine) (account.Account, error) {
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		return l.world.Dial("unix", m.at.config.Listen.Unix)
	}}}
	return operate.Why(ctx, c, m.mac.String())
}

// silent waits until the booter gives a reason for its silence.
func (l *lab) silent(ctx context.Context, m *machine, reason booter.Silence) error {
	return wait(ctx, m.name()+" is not answered: "+string(reason), func() (bool, error) {
		a, err := l.why(ctx, m)
		i := slices.IndexFunc(a.Silences, func(s account.Silence) bool { return s.Silence == string(reason) })
		if i >= 0 {
			l.say(m.name(), "silence", fmt.Sprintf("%s: %s %s", reason, a.Silences[i].Means, a.Silences[i].Change))
		}
		return i >= 0, err
	})
}

// moment waits until the booter tells of what came of a machine.
func (l *lab) moment(ctx context.Context, m *machine, stage, detail string) error {
	return wait(ctx, "the booter tells of "+m.name()+": "+detail, func() (bool, error) {
		a, err := l.why(ctx, m)
		for _, x := range a.Moments {
			if x.Stage == stage && strings.Contains(x.Detail, detail) {
				l.say(m.name(), "silence", x.Detail)
				return true, nil
			}
		}
		return false, err
	})
}
