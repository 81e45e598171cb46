package cli

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
)

// The variables of passwords.
const (
	bmcPasswordEnv    = "INGOT_BMC_PASSWORD"
	bmcNewPasswordEnv = "INGOT_BMC_NEW_PASSWORD"
)

// fixed are credentials that do not change.
type fixed bmc.Credentials

// Credentials are they.
func (f fixed) Credentials(context.Context) (bmc.Credentials, error) { return bmc.Credentials(f), nil }

// referred are credentials behind a reference.
type referred struct{ from secrets.Source }

// Credentials resolves the reference.
func (r referred) Credentials(ctx context.Context) (bmc.Credentials, error) {
	c, err := r.from.Credentials(ctx)
	if err != nil {
		return bmc.Credentials{}, err
	}
	return bmc.Credentials{Username: c.Username, Password: bmc.Keep(c.Password.Show()), Version: c.Version}, nil
}

// bmcCredentials are where the flags say. A reference that resolves to nothing is
// found before anything is sent.
func (a *app) bmcCredentials(ctx context.Context, b *bmcFlags) (bmc.CredentialSource, error) {
	switch {
	case b.secret != "" && (b.user != "" || b.password != ""):
		return nil, usage("--secret is given beside --user or --password-file").then("give one of them")
	case b.secret != "":
		return a.bmcReference(ctx, b)
	case b.user == "":
		return nil, usage("nobody is named to the BMC").then("give --user NAME, or --secret REF")
	}
	p, err := a.bmcPassword(b.password, "password-file", bmcPasswordEnv, "password of "+clean(b.user)+": ")
	if err != nil {
		return nil, err
	}
	return fixed{Username: b.user, Password: p, Version: "given"}, nil
}

func (a *app) bmcReference(ctx context.Context, b *bmcFlags) (bmc.CredentialSource, error) {
	ref, err := secrets.ParseRef(b.secret)
	if err != nil {
		return nil, usage("--secret: %v", err)
	}
	if ref.Kind == secrets.KindFile && len(b.roots) == 0 {
		return nil, usage("%s is below no folder", ref).then("give --secrets-root DIR")
	}
	key, err := secrets.DrawKey(a.Entropy)
	if err != nil {
		return nil, &Refusal{err.Error(), "", "UNAVAILABLE"}
	}
	var roots []string
	for _, r := range b.roots {
		roots = append(roots, a.path(r))
	}
	lookup := func(name string) (string, bool) { v := a.Env(name); return v, v != "" }
	known := secrets.Resolvers{secrets.KindFile: secrets.NewFiles(roots, key), secrets.KindEnv: secrets.NewEnv("", lookup, key)}
	source := referred{known.Source(ref)}
	_, err = source.Credentials(ctx)
	return source, err
}

// bmcPassword reads one from a file, a variable or the terminal, in this order.
func (a *app) bmcPassword(file, flag, env, question string) (bmc.Secret, error) {
	var raw []byte
	var err error
	switch {
	case file != "":
		raw, err = a.shutFile(flag, file)
	case a.Env(env) != "":
		raw = []byte(a.Env(env))
	case a.Prompt != nil:
		if raw, err = a.Prompt(question); err != nil {
			err = usage("%v", err)
		}
	default:
		err = usage("a password is needed").then("give --%s FILE, or - and standard input, or set %s: passwords are no arguments, since others see those", flag, env)
	}
	if err != nil {
		return bmc.Secret{}, err
	}
	p, err := secrets.NewPassword(strings.TrimRight(string(raw), "\r\n"))
	if err != nil {
		return bmc.Secret{}, usage("the %s: %v", strings.TrimSuffix(flag, "-file"), err)
	}
	return bmc.Keep(p.Show()), nil
}

// shutFile reads a file that is its owner's alone.
func (a *app) shutFile(flag, name string) ([]byte, error) {
	if name != "-" {
		info, err := os.Stat(a.path(name))
		if err != nil {
			return nil, usage("--%s: %v", flag, err)
		}
		if info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
			return nil, usage("--%s %s: others may read it", flag, quote(name)).then("chmod 600 %s", quote(name))
		}
	}
	return a.slurp(name, maxSecret)
}

// onceStdin refuses two secrets from standard input.
func onceStdin(files ...string) error {
	files = slices.DeleteFunc(files, func(f string) bool { return f != "-" })
	if len(files) > 1 {
		return usage("standard input can be read for one thing alone").then("use files for the others")
	}
	return nil
}
