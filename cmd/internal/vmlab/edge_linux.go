package vmlab

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
)

// An edge is a host of its own beside the site's, in a network namespace of its own:
// another DHCP server of the segment, or the router to a segment behind it. The kernel
// takes the namespace away with its last process.
type edge struct {
	lab    *Lab
	holder *exec.Cmd // keeps the namespace
	server *exec.Cmd
	spoken *lastWords // of the server, on standard error
}

// newEdge makes the host, with eth0 on the admin network.
func (l *Lab) newEdge(ctx context.Context) (*edge, error) {
	for name, debian := range map[string]string{"nsenter": "util-linux", "sleep": "coreutils"} {
		if _, err := exec.LookPath(name); err != nil {
			return nil, &Missing{name, "apt-get install " + debian}
		}
	}
	e := &edge{lab: l, holder: exec.Command("sleep", "infinity"), spoken: &lastWords{}}
	e.holder.SysProcAttr = dying()
	e.holder.SysProcAttr.Cloneflags = syscall.CLONE_NEWNET
	if err := e.holder.Start(); err != nil {
		return nil, &Failed{Step: "a second network namespace", Err: err, Next: "run the lab as root"}
	}
	if err := e.cable(ctx, "edge0", bridge, "eth0", edgeAddress+"/24"); err != nil {
		e.close()
		return nil, err
	}
	if err := e.ip(ctx, "link", "set", "lo", "up"); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

// cable lays one from a bridge of the lab to the host.
func (e *edge) cable(ctx context.Context, here, bridge, there, address string) error {
	if err := ip(ctx, "link", "add", here, "type", "veth", "peer", "name", there, "netns", strconv.Itoa(e.holder.Process.Pid)); err != nil {
		return err
	}
	if err := ip(ctx, "link", "set", here, "master", bridge, "up"); err != nil {
		return err
	}
	if err := e.ip(ctx, "addr", "add", address, "dev", there); err != nil {
		return err
	}
	return e.ip(ctx, "link", "set", there, "up")
}

func (e *edge) inside(words ...string) []string {
	return append([]string{"-t", strconv.Itoa(e.holder.Process.Pid), "-n", "--"}, words...)
}

// do runs a program there to its end.
func (e *edge) do(ctx context.Context, words ...string) error {
	out, err := exec.CommandContext(ctx, "nsenter", e.inside(words...)...).CombinedOutput()
	if err != nil {
		return &Failed{Step: fmt.Sprint(words), Err: fmt.Errorf("%w: %s", err, out)}
	}
	return nil
}

func (e *edge) ip(ctx context.Context, words ...string) error {
	return e.do(ctx, append([]string{"ip"}, words...)...)
}

// serve runs a server there until the host is closed.
func (e *edge) serve(debian, name string, words ...string) error {
	path, err := find(name)
	if err != nil {
		return &Missing{name, "apt-get install " + debian}
	}
	e.server = exec.Command("nsenter", e.inside(append([]string{path}, words...)...)...)
	e.server.SysProcAttr = dying()
	e.server.Stderr = e.spoken
	e.lab.say("site", "started", name+" on a host of its own, "+edgeAddress)
	return e.server.Start()
}

// said is the end of what the server said.
func (e *edge) said() string { return e.spoken.String() }

// close ends what runs there, and so the namespace.
func (e *edge) close() {
	for _, cmd := range []*exec.Cmd{e.server, e.holder} {
		if cmd != nil && cmd.Process != nil {
			_ = cmd.Process.Kill() // it may have ended
			_ = cmd.Wait()
		}
	}
}
