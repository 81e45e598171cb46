package vmlab

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// The lab's admin network: a bridge that is the booter's interface, and a tap for each
// machine.
const (
	bridge = "br0"
	booth  = "10.77.0.1"
)

// local is the segment of the booter itself, which is its router too.
func local() segment { return segment{"10.77.0.0/24", booth, bridge} }

// network makes the bridge.
func (l *Lab) network(ctx context.Context) error {
	for _, words := range [][]string{
		{"link", "set", "lo", "up"},
		{"link", "add", bridge, "type", "bridge", "forward_delay", "0", "stp_state", "0"},
		{"addr", "add", booth + "/24", "dev", bridge},
		{"link", "set", bridge, "up"},
	} {
		if err := ip(ctx, words...); err != nil {
			return err
		}
	}
	return nil
}

// tap makes a machine's end of its cable.
func (l *Lab) tap(ctx context.Context, name string) error {
	for _, words := range [][]string{
		{"tuntap", "add", "dev", name, "mode", "tap"},
		{"link", "set", name, "master", l.at.bridge, "up"},
	} {
		if err := ip(ctx, words...); err != nil {
			return err
		}
	}
	return nil
}

func ip(ctx context.Context, words ...string) error {
	out, err := exec.CommandContext(ctx, "ip", words...).CombinedOutput()
	if err != nil {
		return &Failed{Step: "ip " + strings.Join(words, " "), Err: fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out))), Next: "the lab needs root, or user namespaces, and /dev/net/tun"}
	}
	return nil
}
