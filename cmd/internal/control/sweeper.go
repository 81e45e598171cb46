package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// A Sweeper brings what time alone changes: it ends what is overdue (SET-12,
// MACH-5) and forgets what observations have had their day. One serves a site. It
// sleeps until the earliest deadline, or until a commit sets an earlier one.
type Sweeper struct {
	Door *Door
	Log  *slog.Logger
}

// sweeperName is the sweeper in the log.
const sweeperName = "sweeper"

const (
	sweepPage = 256 // nodes a commit
	// sweepIdle is the longest sleep: idempotency keys and other ledgers are swept
	// then.
	sweepIdle = time.Hour
	// The pause after a sweep that left something due, doubling.
	sweepRetry     = time.Second
	lastSweepRetry = time.Minute
)

// Run sweeps until ctx ends or the store stops.
func (s *Sweeper) Run(ctx context.Context) {
	again := sweepRetry
	var tidied time.Time
	for {
		if now := s.Door.now(); now.Sub(tidied).Abs() >= sweepIdle {
			tidied = now
			if err := s.Door.tidy(ctx); err != nil {
				s.Log.Warn("the ledgers could not be tidied", "error", err)
			}
		}
		rev, wait, err := s.pass(ctx)
		if err != nil {
			s.Log.Warn("the sweeper will try again", "error", err, "retry", again.String())
			if !s.Door.pause(ctx, again) {
				return
			}
			again = min(2*again, lastSweepRetry)
			continue
		}
		again = sweepRetry
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-s.Door.store.Failed():
			t.Stop()
			return
		case <-s.Door.store.Changed(rev):
		case <-t.C:
		}
		t.Stop()
	}
}

// pass ends what is due, a page at a time, and says how long nothing will be, as
// of which revision. A node that cannot be ended keeps none of the others waiting.
func (s *Sweeper) pass(ctx context.Context) (store.Rev, time.Duration, error) {
	var errs []error
	for after := lifecycle.RowDue; ; {
		p, err := s.due(ctx, after)
		if err != nil {
			return 0, 0, errors.Join(append(errs, err)...)
		}
		if len(p.nodes) == 0 {
			return p.rev, p.wait, errors.Join(append(errs, s.Door.forget(ctx))...)
		}
		if err := s.expire(ctx, p.nodes); err != nil {
			errs = append(errs, err)
		}
		after = p.last + "\x00"
	}
}

// duePage is the nodes that are due in a part of the index, or how long none is.
type duePage struct {
	nodes []lifecycle.NodeID
	last  string // the last one's key
	wait  time.Duration
	rev   store.Rev
}

// Overdue is how long ago the earliest deadline passed that has not been acted on;
// zero where none has.
func (d *Door) Overdue(ctx context.Context) (late time.Duration, err error) {
	err = d.store.View(ctx, func(r store.Reader) error {
		for key := range r.Range(lifecycle.RowDue, Beyond(lifecycle.RowDue)) {
			at, _, err := deadlineOf(key)
			late = max(0, d.now().Sub(at))
			return err
		}
		return nil
	})
	return late, err
}

// deadlineOf reads a key of the index of deadlines.
func deadlineOf(key string) (time.Time, lifecycle.NodeID, error) {
	at, node, _ := strings.Cut(strings.TrimPrefix(key, lifecycle.RowDue), "/")
	nanos, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return time.Time{}, "", &lifecycle.RowError{Key: key, Err: err}
	}
	return time.Unix(0, nanos), lifecycle.NodeID(node), nil
}

// due reads a page from a key of the index on.
func (s *Sweeper) due(ctx context.Context, after string) (duePage, error) {
	var p duePage
	err := s.Door.store.View(ctx, func(r store.Reader) error {
		now := s.Door.now()
		p = duePage{wait: sweepIdle, rev: store.Rev(r.Head().Revision)}
		for key := range r.Range(after, Beyond(lifecycle.RowDue)) {
			at, node, err := deadlineOf(key)
			if err != nil {
				return err
			}
			if left := at.Sub(now); left > 0 {
				p.wait = min(p.wait, left)
				return nil
			}
			p.nodes, p.last = append(p.nodes, node), key
			if len(p.nodes) == sweepPage {
				return nil
			}
		}
		return nil
	})
	return p, err
}

// expire ends what is due of nodes, in one commit. The errors are of those that are
// still due.
func (s *Sweeper) expire(ctx context.Context, nodes []lifecycle.NodeID) error {
	targets := make([]Target, len(nodes))
	for i, id := range nodes {
		targets[i].Node = id
	}
	_, errs, err := s.Door.Each(ctx, Call{Actor: sweeperName}, targets, func(int, *Look) (lifecycle.Input, error) { return lifecycle.Expire{}, nil })
	if err != nil {
		return err
	}
	for i := range errs {
		if errs[i] != nil && !settled(errs[i]) {
			err = errors.Join(err, fmt.Errorf("%s: %w", nodes[i], errs[i]))
		}
	}
	return err
}

// settled reports whether an expiry was refused because nothing is due any more:
// somebody was there first.
func settled(err error) bool {
	coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err)
	return ok && coded.Code() == "CONFLICT"
}

// forget clears what ledgers have kept for long enough.
func (d *Door) forget(ctx context.Context) error {
	var old []string
	err := d.store.View(ctx, func(r store.Reader) error {
		end := timeKey(d.now().Add(-IdempotencyLife))
		for key := range r.Range(usedByTime, usedByTime+end) {
			if old = append(old, key); len(old) == sweepPage {
				return nil
			}
		}
		return nil
	})
	if err != nil || len(old) == 0 {
		return err
	}
	_, err = d.store.Update(ctx, func(tx store.Tx) error {
		for _, key := range old {
			tx.Delete(key)
			tx.Delete(usedKeys + key[strings.LastIndexByte(key, '/')+1:])
		}
		return nil
	})
	return err
}
