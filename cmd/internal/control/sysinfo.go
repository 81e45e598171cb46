package control

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// sysinfoRow is where a registration row keeps what its machine said of itself,
// whole: the row itself has its digest. It goes with the row (REG-13).
const sysinfoRow = "sysinfo/"

// Sysinfo is what a machine said of itself.
type Sysinfo struct {
	Raw []byte // exactly as it came, since the digest is over it
	// AgentKey is the agent's public key in its text form, to which a bundle is
	// sealed; "" for a stock agent.
	AgentKey string
}

// SysinfoOf is what the machine of a UUID said last; false where it said nothing.
func SysinfoOf(r store.Reader, server registration.ServerID) (Sysinfo, bool, error) {
	raw, ok := r.Get(sysinfoRow + server.Key().String())
	if !ok {
		return Sysinfo{}, false, nil
	}
	var s Sysinfo
	if err := json.Unmarshal(raw, &s); err != nil {
		return Sysinfo{}, false, &lifecycle.RowError{Key: sysinfoRow + server.Key().String(), Err: err}
	}
	return s, true, nil
}

// planRow is where a registration row keeps the whole of the plan that it was
// approved with. What of it decides is in the row.
const planRow = "plan/"

// PlanOf is the plan of the newest approval, as Approved gave it.
func PlanOf(r store.Reader, server registration.ServerID) ([]byte, bool) {
	return r.Get(planRow + server.Key().String())
}

// Approved gives the plan that the input approves. It is kept where the step is.
func (l *Look) Approved(plan []byte) { l.plan = plan }

// Attach gives the sysinfo that the input speaks of. It is kept where the step
// takes its digest over.
func (l *Look) Attach(s Sysinfo) { l.sysinfo = &s }

// keep writes or removes the sysinfo beside a row that was written.
func (l *Look) keep(was, is *registration.Record) error {
	key := sysinfoRow + is.Server.Key().String()
	if l.plan != nil {
		l.tx.Put(planRow+is.Server.Key().String(), l.plan)
	}
	switch {
	case is.State == registration.Absent:
		if was.State != registration.Absent {
			l.tx.Delete(sysinfoRow + was.Server.Key().String())
			l.tx.Delete(planRow + was.Server.Key().String())
		}
		return nil
	case l.sysinfo == nil || registration.Hash(sha256.Sum256(l.sysinfo.Raw)) != is.Inventory.Digest:
		return nil
	}
	raw, err := json.Marshal(l.sysinfo)
	if err != nil {
		return fmt.Errorf("sysinfo: %w", err)
	}
	if old, ok := l.tx.Get(key); !ok || !bytes.Equal(old, raw) {
		l.tx.Put(key, raw)
	}
	return nil
}
