package command

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// again is how long a machine's first process waits after a failure.
const again = 10 * time.Second

// First is noded as a machine's first process: it is the agent for as long as the
// machine runs, and never returns before ctx ends, since the kernel would panic.
// Failures are printed and tried again. What the kernel gave as arguments is not
// looked at.
func First(ctx context.Context, w World) {
	for ctx.Err() == nil {
		cmd := Command(w)
		cmd.SetArgs([]string{"run"})
		err := cmd.ExecuteContext(ctx)
		if err == nil {
			err = errors.New("the machine restarts")
		}
		fmt.Fprintf(w.Err, "noded: %v\nnoded: next try in %s\n", err, again)
		t := time.NewTimer(again)
		select {
		case <-t.C:
		case <-ctx.Done():
		}
		t.Stop()
	}
}
