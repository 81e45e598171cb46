package secrets

import (
	"errors"
	"io"
)

// A Setup says where a site's secrets are. The zero fields are left out: then
// references of their kind are not resolved.
type Setup struct {
	Roots     []string                    // of secret://file
	Lookup    func(string) (string, bool) // of secret://env, such as [os.LookupEnv]
	EnvPrefix string                      // "" is DefaultEnvPrefix
	// Store and Identity are the files of a [Store], both or neither. Without
	// them there is no broker.
	Store, Identity string
	Entropy         io.Reader // a cryptographic source; required
}

// Open returns the resolvers, which may be added to, and the broker. It reads no
// secret yet. The error is entropy's or says which file is not named.
func (s Setup) Open() (Resolvers, Broker, error) {
	if (s.Store == "") != (s.Identity == "") {
		return nil, Broker{}, &Invalid{"store", "needs two files, one with the credentials and one with age identities"}
	}
	if s.Entropy == nil {
		return nil, Broker{}, errors.New("secrets: there is no entropy")
	}
	key, err := DrawKey(s.Entropy)
	if err != nil {
		return nil, Broker{}, err
	}
	rs, broker := Resolvers{}, Broker{}
	if len(s.Roots) > 0 {
		rs[KindFile] = NewFiles(s.Roots, key)
	}
	if s.Lookup != nil {
		rs[KindEnv] = NewEnv(s.EnvPrefix, s.Lookup, key)
	}
	if s.Store != "" {
		store := NewStore(s.Store, s.Identity, s.Entropy)
		rs[KindStore], broker = store, NewBroker(store)
	}
	return rs, broker, nil
}
