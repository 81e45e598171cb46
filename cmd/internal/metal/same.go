package metal

import (
	"slices"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// means refuses a machine that is not the one of its row: that has another product
// UUID, or that is another node's too, under another way to say which system it is
// (MACH-1).
func (s *Site) means(t Target, b *bound, p bmc.Probed) error {
	if id, ok := productOf(p.UUID); ok && t.Metal.Server != (registration.ServerID{}) && id.Key() != t.Metal.Server.Key() {
		return &Refused{"CONFLICT", "the BMC's machine has the product UUID " + id.String() + ", and the node " + t.Metal.Server.String() + " (MACH-1)", "find out which BMC this is, and enroll the machine by its own"}
	}
	key := b.Gate().Key() + " " + p.System
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[t.Node] != b {
		return nil // its row has changed, and another asks now
	}
	if !slices.Contains(s.same[key], t.Node) {
		s.unknown(t.Node)
		s.same[key] = append(s.same[key], t.Node)
	}
	for _, id := range s.same[key] {
		if id != t.Node {
			return &Refused{"CONFLICT", "the machine is also that of node " + string(id) + " (MACH-1)", "delete one of the two nodes"}
		}
	}
	return nil
}

// productOf is a product UUID that tells machines apart.
func productOf(u bmc.UUIDClaim) (registration.ServerID, bool) {
	id := registration.ServerID(u.UUID)
	return id, u.Fault == "" && id != (registration.ServerID{}) && !id.Placeholder()
}

// unknown forgets which machine a node's is. The caller holds the lock.
func (s *Site) unknown(node lifecycle.NodeID) {
	for key, all := range s.same {
		if all = slices.DeleteFunc(all, func(id lifecycle.NodeID) bool { return id == node }); len(all) == 0 {
			delete(s.same, key)
		} else {
			s.same[key] = all
		}
	}
}
