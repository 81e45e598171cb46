package cli

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/cmd/internal/conformance"
)

// kitFlags are what `ingot bmc conformance` is asked for.
type kitFlags struct {
	bmcFlags
	levels, format, out string
	law, parallel       int
	destructive         bool
	means               string // the host that a destructive run is meant for
}

func (a *app) bmcConformance() *cobra.Command {
	var k kitFlags
	c := a.leaf("conformance", "Hold a driver to the laws of package bmctest, on simulated BMCs in memory, or on yours (--url)",
		"ingot bmc conformance --driver redfish --level P", func(c *cobra.Command, _ []string) error { return a.conform(c.Context(), &k) })
	c.Args = exactly(0)
	a.accessFlags(c, &k.bmcFlags)
	f := c.Flags()
	f.Lookup("url").Usage = "a live BMC's `URL`: reads alone, unless --destructive; left out: simulated and recorded ones"
	f.StringVar(&k.levels, "level", "", "the `LEVELS`: of P (pure), S (simulated), R (recorded), L (live), with commas; default P,S,R, with --url P,L")
	f.IntVar(&k.law, "law", 0, "the `NUMBER` of the one law to check; default all")
	f.IntVar(&k.parallel, "parallel", 0, "how many checks run at once, so that they wait together; default 8: P, S and R take about "+conformance.Waits+", longer on a busy host")
	f.StringVar(&k.format, "format", "text", "the `FORM` of the report: text, json or junit")
	f.StringVar(&k.out, "out", "", "a `FILE` for the report; left out: standard output")
	f.BoolVar(&k.destructive, "destructive", false, "with --url also level D: turns the machine off and on in every way, and changes the password and back")
	f.StringVar(&k.means, "yes-i-mean", "", "the `HOST` of --url, said again: without it --destructive asks for it")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json", "junit"}, noFiles))
	return c
}

// conform runs the kit.
func (a *app) conform(ctx context.Context, k *kitFlags) error {
	run, err := a.kitRun(ctx, k)
	if err != nil {
		return err
	}
	if a.given.timeout > 0 {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, a.given.timeout)
		defer done()
	}
	failed := run.Judge(ctx, func(done, of int, line string, broken bool) {
		if broken || a.ErrTerminal {
			a.note("%d/%d %s", done, of, clean(line))
		}
	})
	var report bytes.Buffer
	if err := failed.Write(&report, k.format); err != nil {
		return &Refusal{"the report cannot be written: " + err.Error(), "", "UNAVAILABLE"}
	}
	if err := a.deliver(k.out, report.String()); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return &Ended{What: "it ended before all laws were checked; those left are reported as not run"}
	case failed.Broken() > 0:
		return &BrokenLaws{failed.Broken()}
	case !failed.OK():
		return &Refusal{"no law was checked: all were not run", "see the report for what they need", "UNSUPPORTED"}
	}
	return nil
}

// deliver writes a report to standard output or a file.
func (a *app) deliver(file, text string) error {
	if file == "" {
		return a.print(text)
	}
	if err := os.WriteFile(a.path(file), []byte(text), 0o600); err != nil {
		return &Refusal{"the report cannot be written: " + err.Error(), "give another --out", "UNAVAILABLE"}
	}
	return nil
}

// kitRun is the run that the flags ask for.
func (a *app) kitRun(ctx context.Context, k *kitFlags) (conformance.Run, error) {
	run := conformance.Run{Law: k.law, Parallel: k.parallel}
	if a.given.json {
		k.format = "json"
	}
	switch {
	case !slices.Contains([]string{"text", "json", "junit"}, k.format):
		return run, usage("--format %s", quote(k.format)).then("want text, json or junit")
	case k.parallel < 0 || k.parallel > 256:
		return run, usage("--parallel %d", k.parallel).then("want 1 to 256")
	case k.law < 0 || k.law > 0 && !conformance.Known(k.law):
		return run, usage("there is no law %d", k.law).then("the numbers are in the report of a whole run")
	case k.destructive && k.url == "":
		return run, usage("--destructive without --url").then("simulated BMCs need no such word: --level D")
	}
	if _, err := a.bmcDriver(&k.bmcFlags); err != nil {
		return run, err
	}
	run.Driver, run.Options = bmcDrivers()[k.driver], []byte(k.options)
	if k.levels != "" {
		if err := run.SetLevels(k.levels); err != nil {
			return run, usage("--level %s", quote(k.levels)).then("%v", err)
		}
	}
	if k.url == "" {
		return run, nil
	}
	return run, a.kitLive(ctx, k, &run)
}

// kitLive makes the run one on a live BMC.
func (a *app) kitLive(ctx context.Context, k *kitFlags, run *conformance.Run) error {
	e, err := a.endpoint(&k.bmcFlags)
	if err != nil {
		return err
	}
	switch {
	case run.Simulates():
		return usage("--level %s with --url", quote(k.levels)).then("S and R are for simulated and recorded BMCs: leave --url out, or give --level P,L")
	case run.Destroys() && !k.destructive:
		return usage("--level D on a live BMC turns its machine off").then("give --destructive too")
	case k.destructive:
		if err := a.meansIt(e, k.means); err != nil {
			return err
		}
		run.Destroy()
	}
	source, err := a.bmcCredentials(ctx, &k.bmcFlags)
	if err != nil {
		return err
	}
	credentials, err := source.Credentials(ctx)
	if err != nil {
		return err
	}
	run.Live = &conformance.Live{Dial: a.Dial, Endpoint: e, Credentials: credentials, Patience: bmc.Patience{Poll: 3 * time.Second}}
	return nil
}

// meansIt wants to hear which host a run is to be let loose on.
func (a *app) meansIt(e bmc.Endpoint, word string) error {
	u, err := url.Parse(e.URL)
	if err != nil {
		return usage("--url is none")
	}
	host := u.Hostname()
	if word == "" && a.Prompt != nil {
		a.note("this turns the machine behind %s off and on, restarts it, and changes the password of its BMC", clean(host))
		raw, err := a.Prompt("type its host to go on (it is not shown): ")
		if err != nil {
			return usage("%v", err)
		}
		word = strings.TrimSpace(string(raw))
	}
	if word != host {
		return usage("--destructive turns the machine behind %s off, and that was not confirmed", quote(host)).then("give --yes-i-mean %s", quote(host))
	}
	return nil
}

// BrokenLaws reports a driver that breaks laws.
type BrokenLaws struct{ N int }

// Error counts them.
func (e *BrokenLaws) Error() string {
	return "the driver breaks laws: " + strconv.Itoa(e.N) + " checks failed; the report says what was seen"
}

// Code is the error's wire name (API-3).
func (*BrokenLaws) Code() string { return "UNSUPPORTED" }
