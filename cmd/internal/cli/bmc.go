package cli

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/bmc"
	runner "github.com/ingotmetal/ingot/bmc/machine"
	"github.com/ingotmetal/ingot/bmc/redfish"
	"github.com/ingotmetal/ingot/bmc/wire"
	"github.com/ingotmetal/ingot/cmd/internal/conformance"
)

// bmcCommand talks to BMCs without any daemon.
func (a *app) bmcCommand() *cobra.Command {
	c := &cobra.Command{Use: "bmc", Short: "A machine's BMC, asked from here: power, boot order, media, and what it knows", RunE: a.bare, Args: a.noVerb}
	c.AddCommand(a.bmcPin(), a.bmcProbe(), a.bmcPower(), a.bmcBoot(), a.bmcMedia(), a.bmcInventory(), a.bmcHealth(), a.bmcFirmware(), a.bmcEvents(), a.bmcRotate(), a.bmcConformance())
	return c
}

// bmcDrivers are the drivers by name, each reaching its BMCs by dial.
func bmcDrivers() map[string]func(dial conformance.Dial) bmc.Driver {
	return map[string]func(dial conformance.Dial) bmc.Driver{
		"redfish": func(dial conformance.Dial) bmc.Driver { return redfish.Driver{Wire: wire.Options{Dial: dial}} },
	}
}

// bmcFlags say which BMC, whom to trust there, and who we are.
type bmcFlags struct {
	url, system, driver, options string
	ca                           string
	firstUse, insecure           bool
	user, password, secret       string
	roots                        []string
}

// bmcExample is how the BMC of an example is named.
const bmcExample = " --url https://127.0.0.1:8000 --user root --password-file password"

// endpointFlags are those of a command that sends no credentials.
func (a *app) endpointFlags(c *cobra.Command, b *bmcFlags) {
	f := c.Flags()
	f.StringVar(&b.url, "url", "", "the BMC's `URL`: https://HOST or https://HOST:PORT")
	_ = c.RegisterFlagCompletionFunc("url", cobra.NoFileCompletions)
}

func (a *app) driverFlags(c *cobra.Command, b *bmcFlags) {
	f := c.Flags()
	f.StringVar(&b.driver, "driver", "redfish", "the `NAME` of the driver")
	f.StringVar(&b.options, "option", "", "the driver's own options as a `JSON` object, such as {\"scheme\":\"basic\"}")
	_ = c.RegisterFlagCompletionFunc("driver", cobra.FixedCompletions([]string{"redfish"}, noFiles))
}

func (a *app) accessFlags(c *cobra.Command, b *bmcFlags) {
	a.endpointFlags(c, b)
	a.driverFlags(c, b)
	f := c.Flags()
	f.StringVar(&b.system, "system", "", "the machine's `NAME` where the BMC has several: an Id, a UUID or a serial number")
	f.StringVar(&b.ca, "ca", "", "a `FILE` with the certificates that sign the BMC's, PEM; --pin KEY names its key instead")
	f.BoolVar(&b.firstUse, "first-use", false, "trust whoever answers this once, and print the pin to record")
	f.BoolVar(&b.insecure, "insecure", false, "trust whoever answers, also over http: anybody on the way gets the password")
	f.StringVar(&b.user, "user", "", "the `NAME` of the account; its password: --password-file, else $INGOT_BMC_PASSWORD, else it is asked for")
	f.StringVar(&b.password, "password-file", "", "a `FILE` with the password that nobody else may read, or - for standard input")
	f.StringVar(&b.secret, "secret", "", "a `REF` to name and password instead: secret://file/PATH or secret://env/NAME")
	f.StringArrayVar(&b.roots, "secrets-root", nil, "the `DIR` below which secret://file/PATH is; repeat for more")
}

// maxCA bounds a file of certificates.
const maxCA = 64 << 10

// endpoint is the BMC that the flags name.
func (a *app) endpoint(b *bmcFlags) (bmc.Endpoint, error) {
	e := bmc.Endpoint{URL: b.url, System: b.system, Trust: bmc.Trust{Pin: a.given.pin, FirstUse: b.firstUse, Insecure: b.insecure}}
	if b.url == "" {
		return e, usage("--url is missing").then("give the BMC's, such as https://10.0.0.7")
	}
	if b.options != "" {
		e.Options = json.RawMessage(b.options)
	}
	if b.ca != "" {
		raw, err := a.slurp(b.ca, maxCA)
		if err != nil {
			return e, err
		}
		e.Trust.CA = string(raw)
		if len(raw) == 0 {
			return e, usage("--ca %s is empty", quote(b.ca))
		}
	}
	return e, bmcUsage(e.Validate())
}

// bmcUsage makes a refusal of what was given, with nothing sent, one of usage.
func bmcUsage(err error) error {
	if e, ok := errors.AsType[*bmc.Error](err); ok && e.Kind == bmc.InvalidOption && e.Sent != bmc.SentYes && e.Sent != bmc.SentMaybe {
		u := usage("%s: %s", e.Op, bmc.Quote(e.Why))
		u.Next = bmc.Quote(e.Do)
		return u
	}
	return err
}

// bmcDriver is the driver that the flags name, with the limits that its options ask
// for.
func (a *app) bmcDriver(b *bmcFlags) (bmc.Driver, error) {
	make, ok := bmcDrivers()[b.driver]
	if !ok {
		return nil, usage("--driver %s", quote(b.driver)).then("known: redfish")
	}
	d := make(a.Dial)
	if err := d.ValidateOptions(json.RawMessage(b.options)); err != nil {
		return nil, bmcUsage(err)
	}
	return d, nil
}

// A reach is an open way to one machine.
type reach struct {
	*app
	*runner.Machine
	flags *bmcFlags
	told  *teller
	write bool // what is asked may change something
}

// logoutTime is how long a logout may take after all else is done.
const logoutTime = 12 * time.Second

// onBMC runs what a command asks of a machine.
func (a *app) onBMC(ctx context.Context, b *bmcFlags, write bool, limit time.Duration, ask func(context.Context, *reach) error) error {
	e, err := a.endpoint(b)
	if err != nil {
		return err
	}
	d, err := a.bmcDriver(b)
	if err != nil {
		return err
	}
	source, err := a.bmcCredentials(ctx, b)
	if err != nil {
		return err
	}
	r := &reach{app: a, flags: b, write: write, told: &teller{Driver: d, say: a.note}}
	r.Machine, err = runner.New(runner.Config{Driver: r.told, Endpoint: e, Credentials: source, Retry: runner.Retry{Attempts: 2, Pause: 250 * time.Millisecond}})
	if err != nil {
		return bmcUsage(err)
	}
	if a.given.timeout > 0 {
		limit = a.given.timeout
	}
	bounded, done := context.WithCancel(ctx)
	if limit > 0 {
		bounded, done = context.WithTimeout(ctx, limit)
	}
	defer done()
	if b.insecure {
		a.note("warning: --insecure: whoever answers at %s gets the password", clean(b.url))
	}
	err = ask(bounded, r)
	if err == nil && b.firstUse {
		err = r.tellPin(bounded)
	}
	err = r.failed(bounded, err)
	out, end := context.WithTimeout(context.WithoutCancel(ctx), logoutTime)
	defer end()
	_ = r.Close(out) // a session that stays open ends by itself
	return err
}

// tellPin says who answered first.
func (r *reach) tellPin(ctx context.Context) error {
	p, err := r.Probe(ctx)
	if err == nil && p.Peer != "" {
		r.note("the BMC's key, which was taken on first use: compare it with the BMC's console, and give from now on\n  --pin %s", p.Peer)
	}
	return err
}

// show prints what was found, for programs or for people.
func (a *app) show(ctx context.Context, what string, out any) error {
	if a.structured() {
		return a.value(ctx, what, must(out))
	}
	return a.facts(reflect.ValueOf(out))
}

// failed is err as the command ends with it.
func (r *reach) failed(ctx context.Context, err error) error {
	e, ok := errors.AsType[*bmc.Error](err)
	switch {
	case !ok && err != nil && ctx.Err() != nil:
		return &Ended{What: "it ended before an answer came"}
	case !ok:
		return err
	}
	if u, ok := bmcUsage(err).(*Usage); ok && r.told.asked() == 0 {
		return u
	}
	f := &BMCFailure{Err: e, write: r.write, sent: e.Sent}
	if ctx.Err() != nil {
		f.ended = "the time is over"
		if errors.Is(context.Cause(ctx), context.Canceled) {
			f.ended = "interrupted"
		}
		if r.told.powers && r.told.asked() == 0 {
			f.sent = bmc.SentNo // a lost answer was one to a read
		}
	}
	return f
}

// A BMCFailure is what came of a command that a BMC did not carry out, or perhaps.
type BMCFailure struct {
	Err   *bmc.Error
	write bool     // it asked for a change
	sent  bmc.Sent // whether that was sent
	ended string   // by the caller: why
}

// Error says what went wrong, whether it was sent, and what would help.
func (e *BMCFailure) Error() string {
	if e.ended == "" {
		return e.Err.Error()
	}
	s := e.ended + " during " + bmc.Quote(e.Err.Op)
	if !e.write {
		return s + "; nothing was to be changed"
	}
	if e.Err.State != "" {
		s += ", the machine was last seen " + string(e.Err.State)
	}
	switch e.sent {
	case bmc.SentYes:
		return s + "; what was sent was accepted, and may still take effect"
	case bmc.SentMaybe:
		return s + "; it may have been sent: look at the machine before you ask again"
	}
	return s + "; nothing that changes anything was sent"
}

// Unwrap is the error beneath.
func (e *BMCFailure) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (e *BMCFailure) Code() string { return e.Err.Code() }

func (e *BMCFailure) exit() Exit {
	if e.ended != "" {
		return WaitEnded
	}
	switch e.Err.Kind {
	case bmc.Auth, bmc.Forbidden, bmc.PasswordChange, bmc.PeerIdentity:
		return Denied
	case bmc.NotReached:
		return WaitEnded
	}
	if e.write && e.sent == bmc.SentMaybe {
		return WaitEnded // trying again is not what to do
	}
	return exitOfCode(e.Code())
}

// about are the facts of it for a person.
func (e *BMCFailure) about() []string {
	if !e.write {
		return nil
	}
	switch e.sent {
	case bmc.SentMaybe:
		return []string{"sent: maybe (the answer is lost; look at the machine before you ask again)"}
	case bmc.SentYes:
		return []string{"sent: yes"}
	}
	return []string{"sent: no"}
}

// facts are those for programs.
func (e *BMCFailure) facts() map[string]any {
	out := map[string]any{"kind": e.Err.Kind, "op": e.Err.Op, "sent": e.sent}
	if e.sent == "" {
		out["sent"] = bmc.SentNo
	}
	if e.Err.State != "" {
		out["state"] = e.Err.State
	}
	if e.Err.Do != "" {
		out["next"] = bmc.Quote(e.Err.Do)
	}
	if e.Err.After > 0 {
		out["retry_after"] = int(e.Err.After.Seconds())
	}
	return out
}
