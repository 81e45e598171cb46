package daemon

import (
	"os"

	"github.com/ingotmetal/ingot/cmd/internal/config"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
)

// The parts around secrets, by names that a main outside of this module can use: a
// vendor adds a resolver of its own to those of the configuration.
type (
	Resolver  = secrets.Resolver
	Resolvers = secrets.Resolvers
	SecretRef = secrets.Ref
	Broker    = secrets.Broker
)

// Secrets returns what resolves references to credentials (PROV-9), and what takes
// those that callers hand in. It reads none yet. The environment is the process's.
func Secrets(c Config, out Outside) (Resolvers, Broker, error) {
	s := secrets.Setup{Roots: c.Secrets.Roots, Lookup: os.LookupEnv, EnvPrefix: c.Secrets.EnvPrefix, Entropy: out.Entropy}
	if c.Secrets.Store != config.None {
		s.Store, s.Identity = c.Secrets.Store, c.Secrets.Identity
	}
	return s.Open()
}

// SecretStore is the store of the configuration's references, which need not be there
// yet. There is none where the configuration turns it off.
func SecretStore(c Config, out Outside) (*secrets.Store, error) {
	if c.Secrets.Store == config.None {
		return nil, &Refused{"INVALID_CONFIG", "the configuration has no store of secrets", "name a file by secrets.store"}
	}
	return secrets.NewStore(c.Secrets.Store, c.Secrets.Identity, out.Entropy), nil
}
