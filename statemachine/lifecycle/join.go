package lifecycle

import (
	"slices"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// Join is a machine that proved its identity: by token, x509pop or tpm (ID-1,
// MACH-2). The proof is the caller's; the claims are what it proved.
//
// The first join makes the node and queues or begins its acceptance run; a
// later one adds a certificate. It is a CONFLICT for a retired node, and where
// a claim is another machine's; a disabled machine is ACCESS_DENIED.
//
// Found comes from the index rows of the EK, the hardware key and the UUID, read in
// the commit's own transaction. The agent gets the certificate after the commit and
// not before: one that no record names cannot be revoked.
type Join struct {
	NewID       NodeID
	Found       []NodeID
	Claims      Claims // of EK, HardwareKey and Server; empty is unproved
	Certificate string // serial of the certificate that is issued
}

// Name is join.
func (Join) Name() string { return "join" }

func (in Join) apply(w *work) error {
	if err := in.check(w); err != nil {
		return err
	}
	if err := w.same(in.Found); err != nil {
		return err
	}
	if err := w.serves(); err != nil {
		return err
	}
	if err := w.admitted(); err != nil {
		return err
	}
	if in.Claims.Server == (registration.ServerID{}) {
		if err := w.rowless(); err != nil { // only its UUID may take a row (EDGE-24)
			return err
		}
	}
	if err := w.assign(in.NewID); err != nil {
		return err
	}
	if err := in.claim(w); err != nil {
		return err
	}
	if err := w.issue(in.Certificate); err != nil {
		return err
	}
	// This join is the fresh evidence that a quarantine waits for (LIVE-5).
	w.Node.Identity.Quarantined = false
	return w.firstSession()
}

// admitted refuses a machine that is shut out. A disabled row under a tombstone
// shuts out nobody: it goes to the live node that comes (EDGE-24).
func (w *work) admitted() error {
	if w.Node.Live() && w.Node.shutOut() {
		return refuse(w.name, "REG-11", sm.Denied, "the machine was disabled", "register it and have it approved, or factory-reset it")
	}
	return nil
}

// serves refuses what leads to a retired node (EDGE-4).
func (w *work) serves() error {
	if w.Node.retired() {
		return refuse(w.name, "EDGE-4", sm.Conflict, "the node is retired", "delete the node first")
	}
	return nil
}

func (in *Join) check(w *work) error {
	if in.Certificate == "" {
		return invalid(w.name, "ID-1", "a join issues a certificate")
	}
	if in.Claims.Server != (registration.ServerID{}) && in.Claims.Server.Placeholder() {
		return invalid(w.name, "EDGE-13", "the UUID is a firmware placeholder")
	}
	return w.names(in.Certificate, in.Claims.EK, in.Claims.HardwareKey)
}

// claim adds what was proved to the node's claims. A claim that differs is
// another machine's (MACH-1).
func (in *Join) claim(w *work) error {
	c := &w.Node.Claims
	// What a join did not prove leaves the claim as it is: a token says nothing of the
	// TPM, and must not free its key for another machine.
	ek, same := proved(c.EK, in.Claims.EK)
	key, also := proved(c.HardwareKey, in.Claims.HardwareKey)
	if !same || !also {
		return refuse(w.name, "MACH-1", sm.Conflict, "the node is known by another key", "revoke and delete it, or join as a new node")
	}
	c.EK, c.HardwareKey = ek, key
	if in.Claims.Server == (registration.ServerID{}) {
		return nil
	}
	if err := w.known(in.Claims.Server); err != nil {
		return err
	}
	if c.Server == (registration.ServerID{}) { // in the byte order in which it came first
		c.Server = in.Claims.Server
	}
	return nil
}

// proved is what a claim becomes by a proof of got, which may be none; false
// says that they differ.
func proved(has, got string) (string, bool) {
	if has == "" {
		return got, true
	}
	return has, got == "" || got == has
}

// issue adds a certificate; the oldest goes when there are too many.
func (w *work) issue(serial string) error {
	if slices.Contains(w.Node.Identity.Live, serial) {
		return invalid(w.name, "ID-1", "certificate %s was issued already", serial)
	}
	live := append(slices.Clone(w.Node.Identity.Live), serial)
	if over := len(live) - MaxCertificates; over > 0 {
		for _, old := range live[:over] {
			w.facts = append(w.facts, Fact{Name: CertificateEnded, Key: old, Why: "replaced"})
		}
		live = live[over:]
	}
	w.Node.Identity.Live = live
	w.facts = append(w.facts, Fact{Name: CertificateIssued, Key: serial})
	return nil
}

// firstSession begins the provision axis of a host that has none (MACH-2). A
// registration row that nobody has approved, or that a reset sent back, keeps it
// waiting: its axis starts anew after approval alone (REG-12).
func (w *work) firstSession() error {
	if s := w.Node.Reg.State; s != registration.Absent && s != registration.Approved {
		return nil
	}
	return w.prov(provision.Event{Event: onProv(provision.Join), Facts: w.provFacts(&World{})})
}

// Renew replaces a certificate by the identity that holds one. A generation
// that was revoked never renews (ID-2). The old certificate stays live until
// the bound of MaxCertificates, since the answer to a renewal may be lost.
type Renew struct {
	Generation uint64
	Serial     string // presented
	Next       string // to issue
}

// Name is renew.
func (Renew) Name() string { return "renew" }

func (in Renew) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	if err := w.admitted(); err != nil {
		return err
	}
	if in.Generation != w.Node.Identity.Generation || !slices.Contains(w.Node.Identity.Live, in.Serial) {
		return refuse(w.name, "ID-2", sm.Denied, "the identity was revoked", "join again with fresh evidence")
	}
	if err := w.names(in.Next); err != nil || in.Next == "" {
		return invalid(w.name, "ID-2", "a renewal issues a certificate")
	}
	return w.issue(in.Next)
}

// duplicateIdentity is the reason of a quarantine (LIVE-5).
const duplicateIdentity = "duplicate-identity"

// Quarantine ends a certificate that liveness saw two machines use (LIVE-5).
// Until fresh evidence joins the node again, it takes no new work (TAINT-2). A
// certificate that is not live changes nothing.
type Quarantine struct{ Certificate string }

// Name is quarantine.
func (Quarantine) Name() string { return "quarantine" }

func (in Quarantine) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	id := &w.Node.Identity
	i := slices.Index(id.Live, in.Certificate)
	if i < 0 {
		return nil
	}
	id.Live, id.Quarantined = slices.Delete(slices.Clone(id.Live), i, i+1), true
	w.facts = append(w.facts, Fact{Name: CertificateEnded, Key: in.Certificate, Why: duplicateIdentity})
	w.factWhy(NodeQuarantined, duplicateIdentity)
	w.closeSession()
	return nil
}

// SessionOpened is an agent's session at a gateway. Epoch comes from the
// gateway's store and grows with each session of the node. Whatever the link
// was, it is connected now (LIVE-6). The first session after approval begins
// the provision axis (MACH-2).
type SessionOpened struct {
	Epoch   uint64
	Gateway string
}

// Name is session-opened.
func (SessionOpened) Name() string { return "session-opened" }

func (in SessionOpened) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	if err := w.serves(); err != nil {
		return err
	}
	if err := w.admitted(); err != nil {
		return err
	}
	if len(w.Node.Identity.Live) == 0 && w.Node.Reg.Bound.ID == "" {
		return refuse(w.name, "ID-2", sm.Unauthenticated, "the machine has no live certificate and no bound key", "join with fresh evidence, or have the machine approved")
	}
	if err := w.session(in.Epoch); err != nil {
		return err
	}
	if err := w.names(in.Gateway); err != nil {
		return err
	}
	w.Node.Conn = Connectivity{Link: Connected, Session: in.Epoch, Gateway: in.Gateway, Since: w.now}
	w.fact(SessionStarted)
	// Without a row the join has begun the axis already (MACH-2).
	if w.Node.Reg.State == registration.Approved {
		return w.firstSession()
	}
	return nil
}

// session refuses news of a session older than the newest.
func (w *work) session(epoch uint64) error {
	if epoch <= w.Node.Conn.Session {
		return refuse(w.name, "LIVE-6", sm.Conflict, "a newer session is known", "")
	}
	return nil
}

// SessionClosed is the end of the session with this epoch; news of an older
// one changes nothing.
type SessionClosed struct{ Epoch uint64 }

// Name is session-closed.
func (SessionClosed) Name() string { return "session-closed" }

func (in SessionClosed) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	if in.Epoch == w.Node.Conn.Session {
		w.closeSession()
	}
	return nil
}

// Judged is liveness's verdict on a node (JOINT-8). It only keeps new work
// away, and releases nothing (LIVE-3). A verdict on an older session is a
// CONFLICT: liveness judged what is no longer so.
type Judged struct {
	Session uint64 // that the verdict is about
	Link    Link   // disconnected, unreachable or lost
	MayLose bool   // the pool is a provider's or vps-host, and set lostAfter
}

// Name is judged.
func (Judged) Name() string { return "judged" }

func (in Judged) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	c := &w.Node.Conn
	switch {
	case in.Link.rank() < 1 || in.Link == "":
		return invalid(w.name, "LIVE-6", "%q is no verdict on silence; legal: disconnected, unreachable, lost", in.Link)
	case in.Session != c.Session:
		return refuse(w.name, "LIVE-6", sm.Conflict, "the verdict is about an older session", "")
	case in.Link == Lost && !in.MayLose:
		return refuse(w.name, "LIVE-3", sm.Conflict, "the pool never loses a machine", "")
	case in.Link.rank() < c.Link.rank():
		return refuse(w.name, "LIVE-6", sm.Conflict, "only a new session makes a node less silent", "")
	}
	if in.Link.rank() != c.Link.rank() {
		c.Link, c.Gateway, c.Since = in.Link, "", w.now
	}
	return nil
}

// BeginAcceptance is the reconciler that starts a queued acceptance run once
// the machine is free (EDGE-21).
type BeginAcceptance struct{}

// Name is acceptance-begun.
func (BeginAcceptance) Name() string { return "acceptance-begun" }

func (BeginAcceptance) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	if w.Node.Prov.State == provision.Adopting && !w.Node.Prov.Queued {
		return refuse(w.name, "EDGE-21", sm.InvalidState, "no acceptance run is queued", "adopt starts another")
	}
	return w.prov(provision.Event{Event: onProv(provision.Begin), Facts: w.provFacts(&World{})})
}
