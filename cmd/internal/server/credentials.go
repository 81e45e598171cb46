package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"regexp"

	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// holders are the live nodes whose BMC's credentials are a reference, with their
// addresses.
func holders(r store.Reader, ref string) (map[lifecycle.NodeID]string, error) {
	all := map[lifecycle.NodeID]string{}
	prefix := lifecycle.RowBy + "bmc/"
	for _, id := range r.Range(prefix, control.Beyond(prefix)) {
		raw, _ := r.Get(lifecycle.RowNode + string(id))
		if !bytes.Contains(raw, []byte(ref)) { // most of a large site
			continue
		}
		var n struct {
			Metal struct{ BMC, Credentials string }
		}
		if err := json.Unmarshal(raw, &n); err != nil {
			return nil, err
		}
		if n.Metal.Credentials == ref {
			all[lifecycle.NodeID(id)] = n.Metal.BMC
		}
	}
	return all, nil
}

// sole refuses a reference that is another BMC's: who enrolls an address of his own must
// not have the password of another machine sent there.
func (s *Server) sole(ctx context.Context, m *lifecycle.Metal) error {
	if m.Credentials == "" {
		return nil
	}
	return s.Door.Store().View(ctx, func(r store.Reader) error {
		all, err := holders(r, m.Credentials)
		for id, bmc := range all {
			if bmc != m.BMC {
				return refused("CONFLICT", "the credentials are those of another BMC: of node "+string(id)+", at "+bmc, "name this BMC's own by a reference of its own")
			}
		}
		return err
	})
}

// brokered is a name that enrolls draw for inline credentials.
var brokered = regexp.MustCompile(`^bmc_[0-9a-z]{26}$`)

// disused deletes what the broker keeps for a node that is deleted, unless another node
// has the reference.
func (s *Server) disused(ctx context.Context, text string) {
	ref, err := secrets.ParseRef(text)
	if err != nil || ref.Kind != secrets.KindStore || !brokered.MatchString(ref.Name) || s.Broker == (secrets.Broker{}) {
		return
	}
	s.enrolling.Lock() // or one may come to refer to it
	defer s.enrolling.Unlock()
	ctx = context.WithoutCancel(ctx)
	if err := s.discard(ctx, ref); err != nil {
		s.Log.Warn("the credentials of a node that was deleted are kept", "reference", text, "error", err, "next", "ingotd secret delete "+ref.Name)
	}
}

// discard deletes a reference that no live node has.
func (s *Server) discard(ctx context.Context, ref secrets.Ref) error {
	var held bool
	err := s.Door.Store().View(ctx, func(r store.Reader) error {
		all, err := holders(r, ref.String())
		held = len(all) > 0
		return err
	})
	if err != nil || held {
		return err
	}
	return s.Broker.Discard(ctx, ref)
}

// keepNew keeps credentials under a name. Others that are there and that no node has are
// what a node left that was deleted, or a call that did not come to its end.
func (s *Server) keepNew(ctx context.Context, name, username string, password secrets.Password) (secrets.Kept, error) {
	kept, err := s.Broker.Keep(ctx, name, username, password)
	if e, ok := errors.AsType[*secrets.Refused](err); !ok || e.Code() != "CONFLICT" {
		return kept, err
	}
	if s.discard(ctx, secrets.Ref{Kind: secrets.KindStore, Name: name}) != nil {
		return kept, err
	}
	return s.Broker.Keep(ctx, name, username, password)
}
