package metal

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// How a command ended is said so that an operator knows what the machine is now and
// what to do.
func TestInWords(t *testing.T) {
	on, unseen := bmc.PowerObservation{State: bmc.On}, bmc.PowerObservation{}
	for _, c := range []struct {
		r    bmc.Result
		err  error
		want string
	}{
		{bmc.Result{Changed: true, Last: on}, nil, "done: the machine is on"},
		{bmc.Result{Changed: true, Last: unseen}, nil, "done"},
		{bmc.Result{Last: on}, nil, "unchanged: the machine is on"},
		{bmc.Result{Last: on}, errors.New("broken"), "failed: broken"},
		{bmc.Result{}, &bmc.Error{Kind: bmc.Auth, Op: "log in", Sent: bmc.SentYes}, "other credentials"},
		{bmc.Result{}, &bmc.Error{Kind: bmc.Auth, Op: "log in", Sent: bmc.SentYes, Do: "unlock the account"}, "unlock the account"},
	} {
		if got := inWords(c.r, c.err); !strings.Contains(got, c.want) {
			t.Errorf("%+v, %v: %q, want %q", c.r, c.err, got, c.want)
		}
	}
}

// Only what starts a machine counts as a start, from when it was accepted.
func TestStarted(t *testing.T) {
	at := time.Unix(7, 0)
	off, on := bmc.Receipt{Action: bmc.SendOff, At: at}, bmc.Receipt{Action: bmc.SendOn, At: at.Add(time.Minute)}
	for _, c := range []struct {
		sent []bmc.Receipt
		want time.Time
	}{{nil, time.Time{}}, {[]bmc.Receipt{off}, time.Time{}}, {[]bmc.Receipt{off, on}, on.At}, {[]bmc.Receipt{{Action: bmc.SendReset, At: at}}, at}} {
		if got := started(bmc.Result{Changed: true, Sent: c.sent}); !got.Equal(c.want) {
			t.Errorf("%+v: %s", c.sent, got)
		}
	}
}

// A command that waits is told from one that has ended, and from none.
func TestWaiting(t *testing.T) {
	n := &lifecycle.Node{Commands: []lifecycle.Command{{ID: "a", Done: true}, {ID: "b"}}}
	for id, want := range map[string]bool{"a": false, "b": true, "c": false} {
		if c, waits := waiting(n, id); waits != want || waits && c.ID != id {
			t.Errorf("%s: %+v, %t", id, c, waits)
		}
	}
}
