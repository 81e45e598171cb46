package postgres_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/postgres"
	"github.com/ingotmetal/ingot/cmd/internal/store/storetest"
)

// site is a database as a subject of the kit.
type site struct {
	opt  postgres.Options
	wire *wire
}

// subjects returns sites, each with a schema of its own in one database.
func subjects(o postgres.Options) func(*testing.T) storetest.Subject {
	n := 0
	return func(*testing.T) storetest.Subject {
		n++
		s := &site{opt: o, wire: &wire{}}
		s.opt.Schema, s.opt.Dial = fmt.Sprintf("s%d", n), s.wire.dial
		return storetest.Subject{Open: s.open, Crash: s.crash, Arm: s.arm}
	}
}

func (s *site) open(ctx context.Context) (store.Store, error) {
	s.wire.arm(nil)
	opened, err := postgres.Open(ctx, s.opt)
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// crash cuts all connections: the server sees what it sees of a process that was
// killed.
func (s *site) crash(ctx context.Context) (store.Store, error) {
	s.wire.cut()
	o := s.opt
	o.Wait = true
	opened, err := postgres.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return opened, nil
}

func (s *site) arm(n int, f storetest.Fault) {
	switch f {
	case storetest.Refused:
		s.wire.arm(&fault{after: n})
	case storetest.Lost:
		s.wire.arm(&fault{after: n, commit: true})
	case storetest.Replyless:
		s.wire.arm(&fault{after: n, commit: true, forward: true})
	}
}

func TestConformance(t *testing.T) { storetest.Run(t, subjects(options(t))) }

// TestConformanceWithoutMemory has closures end at each read, and run again.
func TestConformanceWithoutMemory(t *testing.T) {
	o := options(t)
	o.Cache = 1
	storetest.Run(t, subjects(o))
}
