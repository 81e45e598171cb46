package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/bmc"
)

// changeTime bounds a change that is no power.
const changeTime = 5 * time.Minute

// bmcChange is a command that may change something.
func (a *app) bmcChange(path, use, short, example string, args cobra.PositionalArgs, ask func(context.Context, *reach, []string) error) *cobra.Command {
	var b bmcFlags
	c := a.leaf(use, short, "ingot bmc "+path+" "+example+bmcExample, func(c *cobra.Command, words []string) error {
		return a.onBMC(c.Context(), &b, true, changeTime, func(ctx context.Context, r *reach) error { return ask(ctx, r, words) })
	})
	c.Args = args
	a.accessFlags(c, &b)
	return c
}

type bmcBootState struct {
	Target  bmc.BootTarget `json:"target"`
	Life    bmc.BootLife   `json:"life,omitempty"`
	Mode    bmc.BootMode   `json:"mode,omitempty"`
	URI     string         `json:"uri,omitempty"`
	Raw     string         `json:"raw,omitempty"`
	Pending bool           `json:"pending,omitempty"` // until the machine starts
	Targets []string       `json:"targets,omitempty"` // that the machine lists
}

func booted(s bmc.BootState) bmcBootState {
	return bmcBootState{Target: s.Target, Life: s.Life, Mode: s.Mode, URI: s.URI, Raw: s.Raw, Pending: s.Pending}
}

func (a *app) bmcBoot() *cobra.Command {
	noun := &cobra.Command{Use: "boot", Short: "What the machine boots from next", RunE: a.bare, Args: a.noVerb}
	get := a.bmcRead("get", "The boot override that stands, and what the machine can be told to boot", func(ctx context.Context, r *reach) error {
		s, err := r.ReadBoot(ctx)
		if err != nil {
			return err
		}
		list, err := r.BootTargets(ctx)
		if err != nil {
			return err
		}
		out := booted(s)
		for _, t := range list {
			out.Targets = append(out.Targets, string(t))
		}
		return r.show(ctx, "bmc.boot", out)
	})
	get.Example = "ingot bmc boot get" + bmcExample
	clear := a.bmcChange("boot clear", "clear", "Remove the boot override; without one nothing is done", "", exactly(0), func(ctx context.Context, r *reach, _ []string) error {
		s, err := r.ClearBoot(ctx)
		if err != nil {
			return err
		}
		return r.show(ctx, "bmc.boot", booted(s))
	})
	clear.Example = "ingot bmc boot clear" + bmcExample
	noun.AddCommand(get, a.bmcBootSet(), clear)
	return noun
}

func (a *app) bmcBootSet() *cobra.Command {
	var persistent bool
	var mode, uri string
	c := a.bmcChange("boot set", "set TARGET", "Override what is booted: pxe, http, disk, cd, usb, setup, or what `boot get` lists; read back", "pxe --mode uefi", exactly(1),
		func(ctx context.Context, r *reach, words []string) error {
			spec := bmc.BootSpec{Target: bmc.BootTarget(words[0]), Life: bmc.Once, Mode: bmc.BootMode(mode), URI: uri}
			if persistent {
				spec.Life = bmc.Persistent
			}
			s, err := r.SetBoot(ctx, spec)
			if err != nil {
				return err
			}
			return r.show(ctx, "bmc.boot", booted(s))
		})
	f := c.Flags()
	f.BoolVar(&persistent, "persistent", false, "for every boot; left out: for the next one alone")
	f.StringVar(&mode, "mode", "", "the `WAY` of booting: uefi or legacy; left out: as it is")
	f.StringVar(&uri, "uri", "", "the `URL` to boot, of the target http")
	_ = c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions([]string{"uefi", "legacy"}, noFiles))
	run := c.RunE
	c.RunE = func(c *cobra.Command, words []string) error {
		switch {
		case mode != "" && mode != string(bmc.UEFI) && mode != string(bmc.Legacy):
			a.started = true
			return usage("--mode %s", quote(mode)).then("want uefi or legacy")
		case uri != "" && words[0] != string(bmc.BootURI):
			a.started = true
			return usage("--uri is for the target http").then("ingot bmc boot set http --uri URL")
		}
		return run(c, words)
	}
	return c
}

type bmcSlot struct {
	ID       string   `json:"id"`
	Types    []string `json:"types,omitempty"`
	TakesURL bool     `json:"takes_url"`
	Inserted bool     `json:"inserted"`
	Image    string   `json:"image,omitempty"`
	Raw      string   `json:"raw,omitempty"`
}

func slotted(s bmc.MediaSlot) bmcSlot {
	return bmcSlot{s.ID, s.Types, s.TakesURL, s.Inserted, s.Image, s.Raw}
}

func (a *app) bmcMedia() *cobra.Command {
	noun := &cobra.Command{Use: "media", Short: "Virtual drives, and the images in them", RunE: a.bare, Args: a.noVerb}
	list := a.bmcRead("list", "The virtual drives", func(ctx context.Context, r *reach) error {
		slots, err := r.MediaSlots(ctx)
		if err != nil {
			return err
		}
		out := struct {
			Slots []bmcSlot `json:"slots"`
		}{[]bmcSlot{}}
		for _, s := range slots {
			out.Slots = append(out.Slots, slotted(s))
		}
		return r.show(ctx, "bmc.media", out)
	})
	list.Example = "ingot bmc media list" + bmcExample
	var slot string
	var running bool
	insert := a.bmcChange("media insert", "insert IMAGE", "Put an image into a virtual drive by its URL, and read back that it is there", "http://images.example/rescue.iso", exactly(1),
		func(ctx context.Context, r *reach, words []string) error {
			s, err := r.InsertMedia(ctx, bmc.MediaSpec{Image: words[0], Slot: slot, Running: running})
			if err != nil {
				return err
			}
			return r.show(ctx, "bmc.media.slot", slotted(s))
		})
	insert.Flags().StringVar(&slot, "slot", "", "the `ID` of the drive; left out: the first that takes a CD by URL")
	eject := a.bmcChange("media eject", "eject SLOT", "Empty a virtual drive; an empty one stays so", "CD", exactly(1), func(ctx context.Context, r *reach, words []string) error {
		if err := r.EjectMedia(ctx, words[0], running); err != nil {
			return err
		}
		return r.show(ctx, "bmc.media.slot", bmcSlot{ID: words[0]})
	})
	for _, c := range []*cobra.Command{insert, eject} {
		c.Flags().BoolVar(&running, "running", false, "also from a machine that runs, perhaps from this very medium")
	}
	noun.AddCommand(list, insert, eject)
	return noun
}

func (a *app) bmcRotate() *cobra.Command {
	var b bmcFlags
	var file string
	c := a.leaf("rotate", "Give the account another password, sign in with it, and say which one stands", "ingot bmc rotate --new-password-file new-password"+bmcExample,
		func(c *cobra.Command, _ []string) error {
			if err := onceStdin(b.password, file); err != nil {
				return err
			}
			if _, err := a.endpoint(&b); err != nil {
				return err
			}
			next, err := a.bmcPassword(file, "new-password-file", bmcNewPasswordEnv, "new password: ")
			if err != nil {
				return err
			}
			if file == "" && a.Env(bmcNewPasswordEnv) == "" {
				again, err := a.bmcPassword("", "new-password-file", bmcNewPasswordEnv, "new password again: ")
				if err != nil {
					return err
				}
				if again.Show() != next.Show() {
					return usage("the new passwords differ").then("type the same twice")
				}
			}
			return a.onBMC(c.Context(), &b, true, changeTime, func(ctx context.Context, r *reach) error { return r.rotate(ctx, next) })
		})
	c.Args = exactly(0)
	a.accessFlags(c, &b)
	c.Flags().StringVar(&file, "new-password-file", "", "a `FILE` with the new password that nobody else may read, or - ; default $INGOT_BMC_NEW_PASSWORD, else it is asked for")
	return c
}

// rotate changes the password. Keeping it is for whoever gave it.
func (r *reach) rotate(ctx context.Context, next bmc.Secret) error {
	err := r.Rotate(ctx, next, func(context.Context, error) error { return nil })
	if err != nil {
		if e, ok := errors.AsType[*bmc.Error](err); ok && e.Kind == bmc.Indeterminate {
			r.note("either password may stand: keep both, and try the new one first, once")
		}
		return err
	}
	if r.flags.secret != "" {
		r.note("%s still has the old password: change it there", clean(r.flags.secret))
	}
	return r.show(ctx, "bmc.rotate", struct {
		Stands string `json:"stands"`
	}{"the new password"})
}
