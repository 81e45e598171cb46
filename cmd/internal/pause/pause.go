// Package pause waits no longer than its caller lives.
package pause

import (
	"context"
	"time"
)

// For waits for d, and reports false where ctx ended first.
func For(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
