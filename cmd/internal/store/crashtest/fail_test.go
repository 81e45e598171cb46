package crashtest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// errnos are the errors that calls meet, and what is then to be advised.
var errnos = []struct {
	name  string
	next  string
	calls []string
}{
	{"EIO", "replace it", []string{"pwrite64", "fdatasync", "fsync"}},
	{"ENOSPC", "free space", []string{"pwrite64", "ftruncate"}},
}

// TestFailingCalls has each call of a worker fail, by the errors that disks have. A
// commit that meets one is unknown and stops the store; Open refuses. Both say what
// to do, and what was acknowledged is there afterwards.
func TestFailingCalls(t *testing.T) {
	for _, e := range errnos {
		t.Run(e.name, func(t *testing.T) {
			began := time.Now()
			var mu sync.Mutex
			went := map[string]int{}
			n := atEach(t, 4, func(c callSite) (string, bool) {
				return fmt.Sprintf("%s:error=%s:when=%d", c.name, e.name, c.n), slices.Contains(e.calls, c.name)
			}, func(c callSite, end outcome, a *account) error {
				how, err := answered(end, a, e.next)
				mu.Lock()
				defer mu.Unlock()
				went[how]++
				return err
			})
			t.Logf("%d lives with one call that failed: %v, %.0f s; no acknowledgement was lost", n, went, time.Since(began).Seconds())
			if went[stoppedStore] == 0 {
				t.Error("no commit met the error")
			}
		})
	}
}

// How a worker takes a call that fails.
const (
	stoppedStore = "the store stopped"
	notOpened    = "not opened"
	wentOn       = "went on without it"
	markBehind   = "told by Close"
)

// answered wants a failure to be told as it is promised: by a typed error that says
// what to do.
func answered(end outcome, a *account, next string) (how string, err error) {
	switch {
	case end.code == 0 && len(a.failed) == 0:
		return wentOn, nil // the mark, or the probe: neither is needed
	case end.code == 1 && len(a.failed) == 0 && strings.Contains(end.out, markFile+": input/output error"):
		return markBehind, nil // Close tells of the mark's last sync
	case end.code == 1 && strings.Contains(end.out, "not opened: *bolt.Refused: "), end.code == 1 && strings.Contains(end.out, "not opened: *store.Damaged: "):
		if len(a.asked) > 0 || !strings.Contains(end.out, "; ") {
			return notOpened, fmt.Errorf("not opened, with %s", end.out)
		}
		return notOpened, nil
	case end.code != 1 || len(a.failed) == 0:
		return "", fmt.Errorf("it ended with %d: %s", end.code, end.out)
	}
	unknown := 0
	for _, line := range a.failed {
		switch {
		case strings.Contains(line, "*store.Unknown") && strings.Contains(line, next) && strings.Contains(line, "start again"):
			unknown++
		case strings.Contains(line, "*store.Unavailable"):
		default:
			return stoppedStore, fmt.Errorf("an operation failed so: %s", line)
		}
	}
	if unknown == 0 {
		return stoppedStore, fmt.Errorf("nobody was told that an outcome is unknown: %q", a.failed)
	}
	return stoppedStore, nil
}
