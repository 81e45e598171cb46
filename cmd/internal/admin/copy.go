package admin

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/program"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/cmd/internal/whole"
)

func (t *tool) backupCommand() *cobra.Command {
	var plain bool
	cmd := &cobra.Command{Use: "backup FILE", Short: "Copy the store of the running control plane, encrypted",
		Long: "backup copies the store while the control plane goes on, encrypted to\nbackup.recipients of the configuration. The file is there whole or not at all.\nThe master secret is not in it: keep that apart, in a place of its own.",
		Args: cobra.ExactArgs(1), Example: "  ingotd backup site-$(date +%F).age", RunE: func(cmd *cobra.Command, args []string) error {
			c, err := t.load(cmd)
			if err != nil {
				return err
			}
			if len(c.Backup.Recipients) == 0 && !plain {
				return &program.Usage{Err: errors.New("backup.recipients names nobody who could open the copy; name age public keys there, or ask for a copy in clear with --plain")}
			}
			n, err := t.backup(cmd, c, args[0], plain)
			if err != nil {
				return err
			}
			return t.say(map[string]any{"file": args[0], "bytes": n, "encrypted": !plain}, "%s has the store, %d bytes", args[0], n)
		}}
	cmd.Flags().BoolVar(&plain, "plain", false, "do not encrypt; the copy holds hashes of passwords and what machines said of themselves")
	return cmd
}

// backup writes the copy beside the file, and then in its place.
func (t *tool) backup(cmd *cobra.Command, c daemon.Config, path string, plain bool) (n int64, err error) {
	from, err := api.StoreBackup.Open(cmd.Context(), t.local(c), &api.Empty{})
	if err != nil {
		return 0, err
	}
	defer from.Close()
	err = whole.Replace(path, func(f *os.File) (err error) {
		n, err = copied(f, from, c.Backup.Recipients, plain)
		return err
	})
	return n, err
}

// copied copies from to w, encrypted but where it is to be plain.
func copied(w io.Writer, from io.Reader, recipients []string, plain bool) (int64, error) {
	if plain {
		return io.Copy(w, from)
	}
	to, err := secrets.ParseRecipients(recipients)
	if err != nil {
		return 0, err
	}
	sealed, err := secrets.EncryptTo(w, to)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(sealed, from)
	return n, errors.Join(err, sealed.Close())
}

func (t *tool) restoreCommand() *cobra.Command {
	var identity string
	var keep, yes bool
	cmd := &cobra.Command{Use: "restore FILE", Short: "Make a copy the site's store, as another life of it",
		Long: "restore takes a copy as the site's own. Whatever was revoked after the copy was\nmade must not come back to life: every machine's identity is revoked, setups in\nprogress end, and claim codes, tokens, sessions and keys are void. Machines with\na bound key register again, booters and programs get new keys, and operators\nsign in again. Stop ingotd first, and move the old store and its mark aside.",
		Args: cobra.ExactArgs(1), Example: "  ingotd restore --identity backup.key --yes site-2026-05-01.age", RunE: func(cmd *cobra.Command, args []string) error {
			if !yes {
				return &program.Usage{Err: errors.New("restore ends every key and session of the site; repeat it with --yes")}
			}
			c, err := t.load(cmd)
			if err != nil {
				return err
			}
			return t.restore(cmd, c, args[0], identity, keep)
		}}
	cmd.Flags().StringVar(&identity, "identity", "", "file with the age secret key that opens the copy; without it the copy is taken to be in clear")
	cmd.Flags().BoolVar(&keep, "keep-keys", false, "leave API keys and machines' bound keys alive: only where none was revoked since the copy")
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	return cmd
}

func (t *tool) restore(cmd *cobra.Command, c daemon.Config, path, identity string, keep bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var copied io.Reader = f
	if identity != "" {
		key, err := os.Open(identity)
		if err != nil {
			return err
		}
		defer key.Close()
		ids, err := secrets.ParseIdentities(key)
		if err != nil {
			return err
		}
		if copied, err = secrets.DecryptWith(f, ids); err != nil {
			return err
		}
	}
	out := t.Outside
	out.Log = t.logger(c)
	r, err := daemon.Restore(cmd.Context(), c, copied, keep, out)
	if err != nil {
		return err
	}
	return t.say(map[string]any{"head": r.Head.String(), "machines": r.Machines, "voided": r.Voided},
		"the site stands as of %s\n%d machines must prove themselves anew; %d credentials are void\nnext: ingotd serve, then mint keys for the booters", r.Head, r.Machines, r.Voided)
}
