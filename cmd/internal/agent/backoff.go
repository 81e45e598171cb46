package agent

import (
	"context"
	"encoding/binary"
	"io"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// How long is waited between tries.
const (
	firstWait = time.Second
	lastWait  = time.Minute
)

// A backoff waits longer after each try, by chance between half and all of it, so
// that a rack that lost its booter does not come back as one.
type backoff struct {
	entropy io.Reader
	next    time.Duration
}

func (b *backoff) reset() { b.next = 0 }

// wait waits, and reports whether to go on.
func (b *backoff) wait(ctx context.Context) bool {
	b.next = min(max(2*b.next, firstWait), lastWait)
	var r [4]byte
	_, _ = io.ReadFull(b.entropy, r[:]) // without luck, half
	d := b.next/2 + time.Duration(uint64(b.next/2)*uint64(binary.LittleEndian.Uint32(r[:]))>>32)
	return pause.For(ctx, d)
}
