package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/disklayout"
)

// agent puts the agent together.
func (t *tool) agent(cmd *cobra.Command) (*agent.Agent, error) {
	c, s, unknown, err := t.load(cmd)
	if err != nil {
		return nil, err
	}
	log, err := t.logger()
	if err != nil {
		return nil, err
	}
	if len(unknown) > 0 {
		log.Warn("words of the kernel's command line mean nothing to this agent", "words", strings.Join(unknown, " "))
	}
	m := t.Machine(log)
	a := &agent.Agent{Machine: m, Config: c, State: agent.Folder{Dir: s.State}, Dial: t.Dial, Now: t.Now, Entropy: t.Entropy, Log: log, Tell: t.tell, Version: Version}
	if t.SetRoot != nil {
		a.SetRoot = func(ctx context.Context, hash api.Secret) error { return t.SetRoot(ctx, s.State, hash, log) }
	}
	a.Keep = a.State
	if s.Keep == onDisk {
		a.Keep, err = agent.OnDisk(m)
	}
	return a, err
}

// tell shows a person what happens.
func (t *tool) tell(told agent.Told) {
	_ = t.say(told, "%s", words(told)) // a console that is gone changes nothing
}

func words(t agent.Told) string {
	switch t.What {
	case "claim_code":
		return fmt.Sprintf("claim code: %s\ntype it into: ingot registration approve --code, before %s", t.Code.Show(), t.Until.Format(time.TimeOnly))
	case "progress":
		if t.Total > 0 {
			return fmt.Sprintf("setup %d: %s, %d of %d MiB", t.Epoch, t.Step, t.Done>>20, t.Total>>20)
		}
		return fmt.Sprintf("setup %d: %s", t.Epoch, t.Step)
	case "state":
		return "this machine is " + t.State
	case "failed":
		return fmt.Sprintf("setup %d failed: %s", t.Epoch, t.Why)
	}
	return "this machine is let in"
}

func (t *tool) runCommand() *cobra.Command {
	return &cobra.Command{Use: "run", Short: "Be the agent of this machine until a signal ends it", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		a, err := t.agent(cmd)
		if err != nil {
			return err
		}
		if t.Network != nil {
			if err := t.Network(cmd.Context(), a.Config, a.Log); err != nil {
				return err
			}
		}
		return ended(cmd.Context(), a.Run(cmd.Context()))
	}}
}

// ended is no error where a signal was the end.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return nil
	}
	return err
}

func (t *tool) registerCommand() *cobra.Command {
	var once bool
	cmd := &cobra.Command{Use: "register", Short: "Let this hand-installed machine in, and be its agent",
		Long: "register asks the control plane to let this machine in, prints a claim code, and\nwaits up to an hour for an operator to type it in. It keeps the machine's key in the\nstate folder and is its agent from then on. End it and start it again as you like.",
		Args: cobra.NoArgs, Example: "  noded register --server ingotd.example:8443 --pin sha256/...", RunE: func(cmd *cobra.Command, _ []string) error {
			t.settings.Keep = inFolder
			a, err := t.agent(cmd)
			if err != nil {
				return err
			}
			a.Config.Booter = ""
			if err := a.Register(cmd.Context()); err != nil || once {
				return ended(cmd.Context(), err)
			}
			return ended(cmd.Context(), a.Run(cmd.Context()))
		}}
	cmd.Flags().BoolVar(&once, "once", false, "end when the key is kept")
	return cmd
}

// A view is what show answers.
type view struct {
	Machine string            `json:"machine,omitempty"`
	NICs    []agent.NIC       `json:"nics"`
	Disks   []disklayout.Disk `json:"disks"`
	Booter  string            `json:"booter,omitempty"`
	Server  string            `json:"server,omitempty"`
	Key     bool              `json:"key"` // one is kept
	Missing []string          `json:"missing,omitempty"`
}

func (t *tool) showCommand() *cobra.Command {
	return &cobra.Command{Use: "show", Short: "Show what this machine is, and whether it has a key", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		a, err := t.agent(cmd)
		if err != nil {
			return err
		}
		v := look(a)
		return t.say(v, "%s", v.text())
	}}
}

// look collects what can be seen; what cannot is said, and is no error.
func look(a *agent.Agent) view {
	v := view{Booter: a.Config.Booter, Server: a.Config.Server, NICs: []agent.NIC{}, Disks: []disklayout.Disk{}}
	missing := func(err error) {
		if err != nil {
			v.Missing = append(v.Missing, err.Error())
		}
	}
	var errs [4]error
	v.Machine, v.Key, errs[0] = a.Known()
	if nics, err := a.Machine.NICs(); err == nil {
		v.NICs = append(v.NICs, nics...)
	} else {
		errs[1] = err
	}
	disks, bad := agent.Seen(a.Machine)
	v.Disks = append(v.Disks, disks...)
	for _, err := range append(errs[:], bad...) {
		missing(err)
	}
	return v
}

func (v view) text() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-8s  "+format+"\n", append([]any{name}, args...)...)
	}
	line("machine", "%s", v.Machine)
	for _, n := range v.NICs {
		line("nic", "%s %s", n.Name, n.MAC)
	}
	for _, d := range v.Disks {
		line("disk", "%s %q %q %d GiB, %d signatures", d.Name, d.Serial, d.Model, d.Size>>30, len(d.Signatures))
	}
	line("booter", "%s", v.Booter)
	line("server", "%s", v.Server)
	key := "none is kept; an operator approves this machine's setup, or: noded register"
	if v.Key {
		key = "kept"
	}
	line("key", "%s", key)
	for _, m := range v.Missing {
		line("missing", "%s", m)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
