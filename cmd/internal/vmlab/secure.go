package vmlab

import (
	"context"
	"errors"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/config"
	"github.com/ingotmetal/ingot/cmd/internal/operate"
)

// unsignedLoader is the image with an iPXE that nobody signed.
const unsignedLoader = "ipxe-unsigned"

// secure is the scenario of Secure Boot: a loader that nobody signed does not run, and
// then a life with signed ones.
func secure(l *Lab, ctx context.Context) ([]Result, error) {
	m, err := l.plain(ctx, Secure)
	if err != nil {
		return nil, err
	}
	r, err := l.one(ctx, string(Secure), m, func(ctx context.Context, m *Machine) error {
		if err := l.steps(ctx, m, []step{{"a loader that nobody signed", announceWait, func(ctx context.Context) error { return l.unsigned(ctx, m) }}}); err != nil {
			return err
		}
		return l.Life(ctx, m)
	})
	return []Result{r}, err
}

// unsigned offers the machine a loader that nobody signed, and sees its firmware load
// it, refuse it, and ask for nothing that only a loader asks for.
func (l *Lab) unsigned(ctx context.Context, m *Machine) (err error) {
	if err := l.restartBooter(ctx, func(c *config.Booter) { c.Loader = unsignedLoader }); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.restartBooter(ctx, func(*config.Booter) {})) }()
	if err := m.On(); err != nil {
		return err
	}
	defer m.Off()
	line, err := m.Await(ctx, "Access Denied", "Security Violation")
	if err != nil {
		return err
	}
	said, err := operate.Why(ctx, l.unix(l.booter.socket), m.MAC)
	if err != nil {
		return err
	}
	loaded := false
	for _, h := range said.Moments {
		switch h.Stage {
		case "tftp":
			loaded = true
		case "http":
			return errors.New("the loader that nobody signed ran: it asked for " + h.What)
		}
	}
	if !loaded {
		return errors.New("the firmware never loaded it")
	}
	l.say(m.Name, "refused", "the firmware loaded a loader that nobody signed, and did not run it: "+line.Text+" ("+line.At.Round(time.Second/10).String()+" after power on)")
	return nil
}
