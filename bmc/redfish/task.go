package redfish

import (
	"context"
	"net/http"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/wire"
)

// How long tasks are waited for, and how often they are asked.
const (
	actionWait = 30 * time.Second
	mediaWait  = 3 * time.Minute // a BMC may fetch the start of an image first
	taskPoll   = 2 * time.Second
)

// taskOf is the monitor of an answer's task; empty where it has none.
func (c *call) taskOf(a *wire.Response) string {
	if a == nil || a.Status != http.StatusAccepted {
		return ""
	}
	if l, err := c.s.wire.Location(a); err == nil {
		return l
	}
	d := read(a.Body)
	if l := checked(d.str("TaskMonitor")); l != "" {
		return l
	}
	return checked(d.str("@odata.id"))
}

// A taskState is what one look at a task tells.
type taskState string

const (
	taskRuns   taskState = "runs"
	taskDone   taskState = "done"
	taskFailed taskState = "failed"
	taskGone   taskState = "gone" // it ended and was forgotten; its effect has to be read
)

// await asks a task until it ends. One that is gone counts as done: BMCs forget
// tasks that have ended, and the caller reads their effect. One that does not end
// in time, or cannot be asked, is [bmc.NotReached].
func (c *call) await(ctx context.Context, path string, limit time.Duration) error {
	end := time.Now().Add(limit)
	for {
		state, why, after, err := c.look(ctx, path)
		switch {
		case err != nil && !isKind(err, bmc.Busy):
			return unseen(err)
		case state == taskDone || state == taskGone:
			return nil
		case state == taskFailed:
			return why
		case !time.Now().Before(end):
			return c.fail(bmc.NotReached, bmc.SentYes, "its task "+path+" does not end", "look whether it took effect")
		}
		if err := pause(ctx, max(min(after, limit/4), taskPoll)); err != nil {
			return c.fail(bmc.Indeterminate, bmc.SentYes, "its task "+path+" was not waited for to its end", "look whether it took effect")
		}
	}
}

// look asks a task once. Failed comes with why.
func (c *call) look(ctx context.Context, path string) (state taskState, why error, after time.Duration, err error) {
	a, err := c.do(ctx, wire.Request{Path: path})
	if err != nil {
		return "", nil, 0, err
	}
	after = wire.RetryAfter(a.Header, time.Now())
	if a.Status == http.StatusNotFound || a.Status == http.StatusGone {
		return taskGone, nil, 0, nil
	}
	d := read(a.Body)
	switch state := taskStateOf(d.str("TaskState")); {
	case state == taskFailed:
		return state, c.taskError(d, a.Status), 0, nil
	case state != "":
		return state, nil, after, nil
	case a.Status == http.StatusAccepted:
		return taskRuns, nil, after, nil
	}
	if err := c.judge(a); err != nil {
		switch {
		case isKind(err, bmc.Busy):
			return taskRuns, nil, after, err
		case isKind(err, bmc.Auth), isKind(err, bmc.Forbidden), isKind(err, bmc.PasswordChange):
			return "", nil, 0, err // of who asks, not of the task
		}
		return taskFailed, err, 0, nil
	}
	return taskDone, nil, 0, nil
}

// taskStateOf knows the values of TaskState (Task schema).
func taskStateOf(raw string) taskState {
	switch raw {
	case "":
		return ""
	case "Completed":
		return taskDone
	case "Exception", "Killed", "Cancelled", "Interrupted":
		return taskFailed
	}
	return taskRuns // New, Starting, Running, Pending and what is not known
}

// taskError is why a task failed. None says that it may be sent again: who knows
// how far the task came.
func (c *call) taskError(d doc, status int) error {
	e := &bmc.Error{Kind: bmc.Protocol, Op: c.name, Sent: bmc.SentYes, Status: status, Why: "its task ended as " + d.str("TaskState"), Do: "read the BMC's log"}
	for _, m := range d.docs("Messages") {
		one := message{id: m.str("MessageId"), text: m.str("Message")}
		if one.text != "" {
			e.Why += ": " + c.quote(one.text)
		}
		if is, ok := one.meant(); ok {
			e.Kind, e.Do = is.kind, is.do
		}
		if e.Kind == bmc.Busy {
			e.Kind = bmc.Protocol
		}
		if one.text != "" {
			break
		}
	}
	return e
}

// pause waits, or returns ctx's error.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
