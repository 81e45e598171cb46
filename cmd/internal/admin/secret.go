package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/program"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
)

func (t *tool) secretCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "secret", Short: "Keep the credentials of BMCs in the site's encrypted store",
		Long: "Credentials are kept on the control plane's own host, in secrets.store of the\nconfiguration, and named as secret://store/NAME. A running control plane finds a\nchange by itself. What root keeps belongs to the owner of the store's folder, so\nthat ingotd can read it. No command shows a password."}
	cmd.AddCommand(t.secretPut(), t.secretList(), t.secretDelete(),
		t.secretEnd("confirm", "Put the pending credentials of a name in force, and forget the old", "confirmed", (*secrets.Store).Confirm),
		t.secretEnd("rollback", "Forget the pending credentials of a name; those in force stay", "rolled back", (*secrets.Store).RollBack),
		t.secretRotateKey(), t.secretCheck())
	return cmd
}

// withStore runs do with the store of the configuration.
func (t *tool) withStore(cmd *cobra.Command, do func(daemon.Config, *secrets.Store) error) error {
	c, err := t.load(cmd)
	if err != nil {
		return err
	}
	s, err := daemon.SecretStore(c, t.Outside)
	if err != nil {
		return err
	}
	return do(c, s)
}

func (t *tool) secretPut() *cobra.Command {
	var user, file string
	var pending bool
	cmd := &cobra.Command{Use: "put NAME", Short: "Set the credentials of a name",
		Long: "put sets the credentials of a name. With --pending it keeps them beside those in\nforce, until confirm or rollback: put them so, set them on the BMC, sign in by\nthem, and confirm. Whatever is cut off between, neither is lost.",
		Args: cobra.ExactArgs(1), Example: "  ingotd secret put node-1 --username root --password-file -", RunE: func(cmd *cobra.Command, args []string) error {
			if user == "" {
				return &program.Usage{Err: errors.New("--username is needed")}
			}
			return t.withStore(cmd, func(_ daemon.Config, s *secrets.Store) error {
				typed, err := t.password(file)
				if err != nil {
					return err
				}
				p, err := secrets.NewPassword(typed.Show())
				if err != nil {
					return err
				}
				put := s.Put
				if pending {
					put = s.PutPending
				}
				k, err := put(cmd.Context(), args[0], user, p)
				if err != nil {
					return err
				}
				return t.kept(k, pending)
			})
		}}
	cmd.Flags().StringVar(&user, "username", "", "user of the BMC")
	cmd.Flags().StringVar(&file, "password-file", "", "file whose first line is the password; - for standard input")
	cmd.Flags().BoolVar(&pending, "pending", false, "keep them beside those in force until they are confirmed")
	return cmd
}

// kept says what put did.
func (t *tool) kept(k secrets.Kept, pending bool) error {
	what := "%s is kept"
	switch {
	case !k.Changed:
		what = "%s was kept so already"
	case pending:
		what = "%s has pending credentials; next: set them on the BMC, then ingotd secret confirm " + k.Ref.Name
	}
	return t.say(map[string]any{"ref": k.Ref.String(), "version": k.Version, "changed": k.Changed, "pending": pending}, what, k.Ref)
}

func (t *tool) secretList() *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List the names of the store", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return t.withStore(cmd, func(_ daemon.Config, s *secrets.Store) error {
			all, err := s.List(cmd.Context())
			if err != nil {
				return err
			}
			lines := []string{fmt.Sprintf("%d names", len(all))}
			for _, l := range all {
				state := "in force"
				if l.Pending != "" {
					state = "pending: confirm it or roll it back"
				}
				lines = append(lines, fmt.Sprintf("%-32s %s", l.Name, state))
			}
			return t.say(map[string]any{"names": all}, "%s", strings.Join(lines, "\n"))
		})
	}}
}

func (t *tool) secretDelete() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "delete NAME", Short: "Forget the credentials of a name", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		if !yes {
			return &program.Usage{Err: errors.New("delete forgets a password for good, and nodes that name it lose their BMC; repeat it with --yes")}
		}
		return t.withStore(cmd, func(_ daemon.Config, s *secrets.Store) error {
			if err := s.Delete(cmd.Context(), args[0]); err != nil {
				return err
			}
			return t.say(map[string]string{"name": args[0], "status": "deleted"}, "%s: deleted", args[0])
		})
	}}
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	return cmd
}

// endRotation is Confirm or RollBack of a store.
type endRotation = func(s *secrets.Store, ctx context.Context, name, version string) error

// secretEnd is confirm or rollback: the end of a rotation.
func (t *tool) secretEnd(verb, short, done string, end endRotation) *cobra.Command {
	return &cobra.Command{Use: verb + " NAME", Short: short, Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		return t.withStore(cmd, func(_ daemon.Config, s *secrets.Store) error {
			all, err := s.List(cmd.Context())
			if err != nil {
				return err
			}
			version := "none" // of no credentials
			for _, l := range all {
				if l.Name == args[0] && l.Pending != "" {
					version = l.Pending
				}
			}
			if err := end(s, cmd.Context(), args[0], version); err != nil {
				return err
			}
			return t.say(map[string]string{"name": args[0], "status": done}, "%s: %s", args[0], done)
		})
	}}
}

func (t *tool) secretRotateKey() *cobra.Command {
	return &cobra.Command{Use: "rotate-key", Short: "Encrypt the store to a new identity, and forget the old one",
		Long: "rotate-key makes a new age identity in secrets.identity_file and encrypts the store\nto it. A copy of the store from before still opens by the old identity: where\nsomebody may have both, change the passwords too.",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return t.withStore(cmd, func(c daemon.Config, s *secrets.Store) error {
				if err := s.RotateKey(cmd.Context()); err != nil {
					return err
				}
				return t.say(map[string]string{"store": c.Secrets.Store, "identity_file": c.Secrets.Identity, "status": "rotated"},
					"%s is encrypted to a new identity\nnext: keep a copy of %s in a place of its own", c.Secrets.Store, c.Secrets.Identity)
			})
		}}
}

func (t *tool) secretCheck() *cobra.Command {
	return &cobra.Command{Use: "check REF", Short: "Say whether a secret:// reference gives credentials, without showing them",
		Long: "check resolves a reference as ingotd would. Variables are those of this shell, not\nof the service.",
		Args: cobra.ExactArgs(1), Example: "  ingotd secret check secret://file/rack-7/node-1", RunE: func(cmd *cobra.Command, args []string) error {
			c, err := t.load(cmd)
			if err != nil {
				return err
			}
			ref, err := secrets.ParseRef(args[0])
			if err != nil {
				return err
			}
			rs, _, err := daemon.Secrets(c, t.Outside)
			if err != nil {
				return err
			}
			if _, err := rs.Resolve(cmd.Context(), ref); err != nil {
				return err
			}
			return t.say(map[string]string{"ref": ref.String(), "status": "good"}, "%s is good", ref)
		}}
}
