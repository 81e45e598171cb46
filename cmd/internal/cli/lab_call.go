package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/internal/vmlab/panel"
)

// labLeaf is a verb that asks a lab which is up, by the socket in its folder.
func (a *app) labLeaf(use, short, example string, run func(ctx context.Context, l *hostSocket, words []string) error) *cobra.Command {
	dir := ""
	c := a.leaf(use, short, example, func(c *cobra.Command, words []string) error {
		if dir == "" {
			return usage("no lab is named").then("give its folder, --out DIR")
		}
		where := a.path(dir)
		l := &hostSocket{where: dir, is: "a lab"}
		l.away = func(ctx context.Context, err error) error { return notUp(ctx, where, err) }
		return a.onSocket(c, l, "unix:"+filepath.Join(where, panel.Socket), func(ctx context.Context) error { return run(ctx, l, words) })
	})
	c.Flags().StringVar(&dir, "out", "", "the folder `DIR` of the lab, as `ingot lab up` was given it")
	return c
}

// notUp says why a lab cannot be asked.
func notUp(ctx context.Context, dir string, err error) error {
	if dial, ok := errors.AsType[*net.OpError](err); ok {
		err = dial.Err
	}
	exists := func(name string) bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }
	switch {
	case ctx.Err() != nil:
		return &Ended{"the lab in " + dir + " has not answered in time", "ask again, with a longer --timeout"}
	case errors.Is(err, os.ErrPermission):
		return &Refusal{"the lab in " + dir + " is somebody else's", "be who started it", "ACCESS_DENIED"}
	case !exists("."):
		return &Refusal{"no lab is up in " + dir + ": there is no such folder", "start one with `ingot lab up`", "NOT_FOUND"}
	case exists(panel.Report) && !exists(panel.Socket):
		return &Refusal{"no lab is up in " + dir + ": it has gone down, or never came up", "its report is " + filepath.Join(dir, panel.Report), "NOT_FOUND"}
	case exists(panel.Socket):
		return &Refusal{"no lab is up in " + dir + ": it was killed, and nothing of it runs (" + err.Error() + ")", "see " + filepath.Join(dir, panel.Log) + ", and start one with `ingot lab up` and another folder", "NOT_FOUND"}
	}
	return &Refusal{"no lab is up in " + dir, "start one with `ingot lab up` and a new folder", "NOT_FOUND"}
}

func (a *app) labList() *cobra.Command {
	lines := 0
	c := a.labLeaf("list", "List the machines of a lab that is up, with their power and consoles", "ingot lab list --out lab --lines 10", func(ctx context.Context, l *hostSocket, _ []string) error {
		if lines < 0 || lines > 1000 {
			return usage("--lines %d", lines).then("want 0 to 1000")
		}
		var up panel.Lab
		if err := l.ask(ctx, http.MethodGet, fmt.Sprintf("/v1/lab?lines=%d", lines), nil, &up); err != nil {
			return err
		}
		if a.structured() {
			return a.value(ctx, "lab.list", must(up))
		}
		var b strings.Builder
		b.WriteString(a.labTable(up))
		for _, m := range up.Machines {
			if lines == 0 {
				break
			}
			fmt.Fprintf(&b, "\n%s\n", clean(m.Name))
			for _, line := range m.Console {
				fmt.Fprintf(&b, "    | %s\n", clean(line))
			}
		}
		return a.print(b.String())
	})
	c.Args = exactly(0)
	c.Flags().IntVar(&lines, "lines", 0, "also the last `N` lines of each console")
	return c
}

func (a *app) labPower() *cobra.Command {
	orders := make([]string, 0, len(panel.Powers()))
	for _, p := range panel.Powers() {
		orders = append(orders, string(p))
	}
	c := a.labLeaf("power ORDER MACHINE", "Change a machine's power: on, off (its plug), cycle, reset, or press (its power button)", "ingot lab power cycle m1 --out lab", func(ctx context.Context, l *hostSocket, words []string) error {
		if !slices.Contains(orders, words[0]) {
			return usage("power %s", quote(words[0])).then("want one of %s", strings.Join(orders, ", "))
		}
		var m panel.Machine
		if err := l.ask(ctx, http.MethodPost, "/v1/machines/"+url.PathEscape(words[1])+"/power", panel.Order{Power: panel.Power(words[0])}, &m); err != nil {
			return err
		}
		if a.structured() {
			return a.value(ctx, "lab.power", must(m))
		}
		power := "off"
		if m.On {
			power = "on"
		}
		return a.printf("%s: %s done, its power is %s\n", clean(m.Name), words[0], power)
	})
	c.Args = exactly(2)
	c.ValidArgsFunction = cobra.FixedCompletions(orders, noFiles)
	return c
}

func (a *app) labScreen() *cobra.Command {
	file := ""
	c := a.labLeaf("screen MACHINE", "Take a picture of a machine's screen, as PNG", "ingot lab screen m1 --out lab --file m1.png", func(ctx context.Context, l *hostSocket, words []string) error {
		if file == "" {
			return usage("a picture needs a file").then("give --file FILE, or - for standard output")
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.base+"/v1/machines/"+url.PathEscape(words[0])+"/screen", nil)
		if err != nil {
			return usage("%v", err)
		}
		png, err := l.bytes(req, panel.MaxScreen)
		if err != nil {
			return err
		}
		if file == "-" {
			return a.print(string(png))
		}
		if err := os.WriteFile(a.path(file), png, 0o600); err != nil {
			return &Refusal{"the picture: " + err.Error(), "give another --file", "UNAVAILABLE"}
		}
		if a.structured() {
			return a.value(ctx, "lab.screen", must(map[string]any{"machine": words[0], "file": file, "size": len(png)}))
		}
		return a.printf("%s: its screen is %s\n", clean(words[0]), file)
	})
	c.Args = exactly(1)
	c.Flags().StringVar(&file, "file", "", "the `FILE` to write, or - for standard output")
	return c
}

func (a *app) labDown() *cobra.Command {
	c := a.labLeaf("down", "End a lab that is up, and wait until all of it is gone", "ingot lab down --out lab", func(ctx context.Context, l *hostSocket, _ []string) error {
		var d panel.Down
		if err := l.ask(ctx, http.MethodPost, "/v1/down", nil, &d); err != nil {
			return err
		}
		if d.Flaw != "" {
			return &Refusal{"the lab is down; " + d.Flaw, "see " + filepath.Join(l.where, panel.Log), "UNAVAILABLE"}
		}
		if a.structured() {
			return a.value(ctx, "lab.down", must(d))
		}
		return a.printf("the lab is down, after %.0f s; its report is %s\n", d.Seconds, clean(d.Report))
	})
	c.Args = exactly(0)
	return c
}
