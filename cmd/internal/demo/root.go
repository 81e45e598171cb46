package demo

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ingotmetal/ingot/cmd/api"
)

// rootFile, in the demo's folder, has the hash that is set.
const rootFile = "root.hash"

// rootPassword sets a machine's root password, and waits until the machine has it: by
// its own session, and by no boot script and no booter (BOOT-3).
func (l *lab) rootPassword(ctx context.Context) error {
	if l.opts.Fault != NoFault {
		return nil // some leave the machine without power
	}
	var raw [43]byte
	if _, err := io.ReadFull(l.world.Entropy, raw[:]); err != nil {
		return err
	}
	hash := "$6$ingotdemo$" + hex.EncodeToString(raw[:])
	if err := os.WriteFile(filepath.Join(l.dir, rootFile), []byte(hash+"\n"), 0o600); err != nil {
		return err
	}
	m := l.machines[0]
	in := api.SetRootPassword{RegistrationChange: api.RegistrationChange{RegistrationRef: api.RegistrationRef{Server: m.uuid}}}
	in.Body.Hash = api.Secret(hash)
	if _, err := api.RegistrationRootPassword.Call(ctx, l.operator, &in); err != nil {
		return fmt.Errorf("%s: %w", m.name(), err)
	}
	for {
		select {
		case got := <-m.root:
			if got.Show() == hash {
				l.say(m.name(), "root", "its root password's hash came by its own session, and nobody else has it")
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// setRoot takes the hash in the machine's place; an earlier one that nobody took is let
// go.
func (m *machine) setRoot(_ context.Context, hash api.Secret) error {
	select {
	case <-m.root:
	default:
	}
	m.root <- hash
	return nil
}
