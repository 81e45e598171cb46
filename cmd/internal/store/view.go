package store

import (
	"context"
	"iter"
	"time"

	"github.com/ingotmetal/ingot/statemachine/journal"
)

// RunView is Store.View on a snapshot: fn reads from r until it returns, ctx ends or
// MaxView is over by now, whichever comes first. Where a read came too late, what fn
// made of it does not count, and the answer is *TooLong or ctx's error, whatever fn
// returns.
func RunView(ctx context.Context, now func() time.Time, r Reader, fn func(Reader) error) error {
	b := &bounded{ctx: ctx, now: now, end: now().Add(MaxView), r: r}
	defer func() { b.r = nil }()
	err := fn(b)
	if b.late != nil {
		return b.late
	}
	return err
}

// bounded is a reader whose time is limited.
type bounded struct {
	ctx  context.Context
	now  func() time.Time
	end  time.Time
	r    Reader // nil once the view has ended
	late error  // of the first read that came too late
}

// open reports whether there may be another read.
func (b *bounded) open() bool {
	switch {
	case b.r == nil || b.late != nil:
		return false
	case b.ctx.Err() != nil:
		b.late = b.ctx.Err()
	case !b.now().Before(b.end):
		b.late = &TooLong{}
	}
	return b.late == nil
}

func (b *bounded) Get(key string) ([]byte, bool) {
	if !b.open() {
		return nil, false
	}
	return b.r.Get(key)
}

func (b *bounded) Range(lo, hi string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if !b.open() {
			return
		}
		for k, v := range b.r.Range(lo, hi) {
			if !b.open() || !yield(k, v) {
				return
			}
		}
	}
}

func (b *bounded) Head() journal.Head {
	if !b.open() {
		return journal.Head{}
	}
	return b.r.Head()
}

func (b *bounded) Base() journal.Head {
	if !b.open() {
		return journal.Head{}
	}
	return b.r.Base()
}
