package lifecycle

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// Limits of a metal enroll (PROV-9).
const (
	MaxOptions   = 1024 // bytes of the driver's options
	MaxAddresses = 16
	MaxReference = 512      // bytes of a reference into the secret broker
	MaxCA        = 16 << 10 // bytes of the certificates that sign BMCs
)

// secretScheme begins every stored credential: a reference into the secret
// broker (PROV-9).
const secretScheme = "secret://"

// Metal is how a machine is reached out of band.
//
// It holds no secret. Who is given an inline credential hands that to the secret
// broker before the step, and refuses with INVALID_CONFIG where there is none
// (PROV-9).
type Metal struct {
	BMC         string // canonical address
	System      string `json:",omitzero"` // which machine behind the BMC; empty: it has one
	Driver      string `json:",omitzero"` // that speaks to it, by name
	Trust       Trust  `json:",omitzero"`
	Options     string // the driver's, a JSON object
	Credentials string // a secret:// reference
	Addresses   []netip.Addr
	MACs        []netboot.MAC
	Server      registration.ServerID // product UUID; zero: unknown
	ReportsMACs bool                  // the driver finds the NICs by itself
}

// A Trust says who may answer at a BMC's address: one of its fields, or none for
// the system's roots. That a pin or certificate is well formed is the caller's to
// check.
type Trust struct {
	CA       string `json:",omitzero"` // PEM
	Pin      string `json:",omitzero"` // of the BMC's key
	FirstUse bool   `json:",omitzero"` // whoever answers first, until PinBMC
	Insecure bool   `json:",omitzero"` // whoever answers
}

// ways is how many of t's fields are set.
func (t *Trust) ways() int {
	n := 0
	for _, set := range [...]bool{t.CA != "", t.Pin != "", t.FirstUse, t.Insecure} {
		if set {
			n++
		}
	}
	return n
}

// Claim is the name by which m is unique: the BMC's address, and of one that has
// several machines which it is (MACH-1).
func (m *Metal) Claim() string {
	if m.System == "" {
		return m.BMC
	}
	return m.BMC + "#" + m.System
}

// check validates m (PROV-9).
func (m *Metal) check(w *work) error {
	placeholder := m.Server.Placeholder()
	switch {
	case m.BMC == "" || len(m.Claim()) > MaxName:
		return invalid(w.name, "PROV-9", "a BMC address is missing, or with its system over %d bytes", MaxName)
	case m.Trust.ways() > 1 || len(m.Trust.CA) > MaxCA || !utf8.ValidString(m.Trust.CA):
		return invalid(w.name, "PROV-9", "a BMC is trusted in one way: certificates of at most %d bytes, a pin, first use or insecure", MaxCA)
	case len(m.Addresses) > MaxAddresses || len(m.MACs) > MaxMACs:
		return invalid(w.name, "PROV-9", "at most %d addresses and %d MACs", MaxAddresses, MaxMACs)
	// Also where MACs name the machine: as a claim a placeholder would make one
	// machine of all that share the firmware (MACH-1).
	case m.Server != registration.ServerID{} && placeholder:
		return invalid(w.name, "EDGE-13", "the product UUID is a firmware placeholder")
	// A zero UUID counts as a placeholder: it names nobody.
	case !m.ReportsMACs && len(m.MACs) == 0 && placeholder:
		return invalid(w.name, "PROV-9", "the driver reports no MACs: name them, or the product UUID")
	case m.Credentials != "" && (!strings.HasPrefix(m.Credentials, secretScheme) || len(m.Credentials) > MaxReference || !utf8.ValidString(m.Credentials)):
		return invalid(w.name, "PROV-9", "credentials are stored as a %s reference of at most %d bytes only", secretScheme, MaxReference)
	}
	if err := w.names(m.BMC, m.System, m.Driver, m.Trust.Pin); err != nil {
		return err
	}
	return m.options(w)
}

// options refuses what is no JSON object, or looks like a credential. The options
// stand in the row in clear and go out with every request to the BMC (PROV-9).
func (m *Metal) options(w *work) error {
	if m.Options == "" {
		return nil
	}
	var o map[string]any
	if len(m.Options) > MaxOptions || !utf8.ValidString(m.Options) || json.Unmarshal([]byte(m.Options), &o) != nil || o == nil {
		return invalid(w.name, "PROV-9", "driver options are a JSON object of at most %d bytes", MaxOptions)
	}
	if credential(o) {
		return invalid(w.name, "PROV-9", "a driver option looks like a credential; give it as a secret")
	}
	return nil
}

// credential reports whether a key at any depth of v looks like a credential's.
// Values are not looked at, since nothing tells a password from a name. The words
// refuse too much rather than too little: a driver can rename an option, but no
// one can take back a secret that was stored.
func credential(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, credential)
	case map[string]any:
		for key, in := range v {
			names := func(word string) bool { return strings.Contains(strings.ToLower(key), word) }
			if slices.ContainsFunc([]string{"pass", "secret", "token", "credential", "apikey", "api_key", "private"}, names) || credential(in) {
				return true
			}
		}
	}
	return false
}

// EnrollMetal creates a machine by its BMC (PROV-1, PROV-9, PROV-17). The same
// request ID again answers the same node. A MAC of a live node is a conflict;
// the UUID of one adds the axis to it (EDGE-22).
//
// The named MACs are bound in the same commit, and stay silent at the booter
// until an attempt gives them an entry (BOOT-14). A machine known by its UUID
// alone waits for confirm-mac, and has a day for it (MACH-5).
//
// A state with a registration row and no node is INVALID_INPUT: it is loaded
// without the row (PROV-20).
//
// The caller has checked pool, site, hardware profile and drivers (PROV-17), and
// reads Found in the commit's own transaction: from the index rows of the request,
// the BMC, the UUID and each MAC.
type EnrollMetal struct {
	Call
	NewID   NodeID
	Request string   // ID; optional
	World   World    // allocations of a machine that is a node already
	Found   []NodeID // live nodes that the claims' indexes name
	Metal   Metal
}

// Name is enroll.
func (EnrollMetal) Name() string { return "enroll" }

func (in EnrollMetal) apply(w *work) error {
	// A repeat is answered before anything it brings is looked at: its first try was
	// checked, and its version is stale by its own doing (PROV-17).
	if in.Request != "" && w.Node.Live() && w.Node.Request == in.Request {
		return nil
	}
	if err := w.same(in.Found); err != nil {
		return err
	}
	if err := w.serves(); err != nil {
		return err
	}
	if err := w.rowless(); err != nil {
		return err
	}
	if err := w.assign(in.NewID); err != nil {
		return err
	}
	// Before the axis moves, which asks for the MACs to set the deadline (MACH-5), and
	// unchecked: inputs come last (EDGE-15), and a refusal drops the whole value.
	w.Node.Metal = in.Metal
	if err := w.prov(provision.Event{Event: onProv(provision.Enroll), By: in.By, Facts: w.provFacts(&World{})}); err != nil {
		return err
	}
	if err := in.vacant(w); err != nil {
		return err
	}
	if err := w.call(in.Call); err != nil {
		return err
	}
	if err := w.names(in.Request); err != nil {
		return err
	}
	if err := in.Metal.check(w); err != nil {
		return err
	}
	return in.bind(w)
}

// vacant refuses to enroll a machine on which somebody has work: the chain that
// begins wipes it (PROV-13).
func (in *EnrollMetal) vacant(w *work) error {
	if err := w.answers(&in.World); err != nil {
		return err
	}
	if in.World.Open > 0 {
		return occupied(w.name, "PROV-13", in.World.Open)
	}
	return nil
}

// bind claims what names the machine.
func (in *EnrollMetal) bind(w *work) error {
	n := &w.Node
	n.Request, n.Claims.BMC = in.Request, in.Metal.Claim()
	if in.Metal.Server != (registration.ServerID{}) {
		if err := w.known(in.Metal.Server); err != nil {
			return err
		}
		n.Claims.Server = in.Metal.Server
	}
	w.fact(NodeEnrolled)
	// A record that enrolls on its own is no one's to bind: whoever admitted it may be
	// another machine (EDGE-20).
	for _, m := range in.Metal.MACs {
		if err := w.boot(w.record(m), netboot.Event{On: netboot.Bind, By: n.owner()}); err != nil {
			return err
		}
	}
	return nil
}

// PinBMC is what a first use has seen: the key that answered, from now on the one
// that must. It counts only while the machine's BMC is trusted by first use and has
// the address that was asked; else it changes nothing.
type PinBMC struct {
	Claim string // that was asked
	Pin   string
}

// Name is pin-bmc.
func (PinBMC) Name() string { return "pin-bmc" }

func (in PinBMC) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	if in.Pin == "" || w.names(in.Pin) != nil {
		return invalid(w.name, "PROV-9", "a pin is missing, or over %d bytes", MaxName)
	}
	if w.Node.Claims.BMC != in.Claim || !w.Node.Metal.Trust.FirstUse {
		return nil
	}
	w.Node.Metal.Trust = Trust{Pin: in.Pin}
	w.facts = append(w.facts, Fact{Name: BMCPinned, Key: in.Pin})
	return nil
}

// Verb is an operator's verb on the provision axis (PROV-1): manage, inspect,
// provide, deploy, undeploy, rescue, unrescue, abort, recover, retire, adopt.
//
// Refusals: NOT_FOUND without node, provision axis or BMC binding (PROV-14);
// INVALID_STATE with the verbs that are legal; CONFLICT where another attempt
// holds the machine, an allocation or tenant stands in the way (with the
// count, PROV-13), or approver keys must agree first (Reason NEEDS_BATCH,
// EDGE-1); UNSUPPORTED for what needs agents in a pool without (PROV-15).
//
// It touches no machine: it opens the attempt, and Needs then names the
// workflow (PROV-4). Where the pool asks approver keys, what may erase is a
// CONFLICT with reason NEEDS_BATCH until a batch carries it (EDGE-1).
//
// Call.By becomes the approver that grants name (MACH-7): it is the identity that
// the API authenticated, never a service that passes the call on.
type Verb struct {
	Call
	On      provision.Kind
	World   World
	Wipe    provision.Wipe // undeploy; empty is quick
	Profile provision.Profile
	batch   string // that carries the verb; only Bulk and Batch set it (PROV-16)
}

// Name is the verb.
func (in Verb) Name() string { return string(in.On) }

// verbs are the verbs that a Verb may carry.
func verbs() []provision.Kind {
	return []provision.Kind{provision.Manage, provision.Inspect, provision.Provide, provision.Deploy, provision.Undeploy,
		provision.ToRescue, provision.Unrescue, provision.Abort, provision.Recover, provision.Retire, provision.Adopt}
}

func (in Verb) apply(w *work) error {
	if err := in.exists(w); err != nil {
		return err
	}
	if err := in.move(w); err != nil {
		return err
	}
	if err := in.answered(w); err != nil {
		return err
	}
	if err := w.call(in.Call); err != nil {
		return err
	}
	if err := in.inputs(w); err != nil {
		return err
	}
	// The fact ties the commit to its batch; its keys were counted there (PROV-16).
	if in.batch != "" {
		w.facts = append(w.facts, Fact{Name: NodeBatched, Key: in.batch})
		return nil
	}
	// Last, so that approvers are asked only for what would go through. The state
	// before decides, since the verb has moved the node by now.
	if in.World.Quorum > 0 && in.erases(&w.was.Node) {
		return &Refused{Input: w.name, Req: "EDGE-1", Reason: "NEEDS_BATCH", code: sm.Conflict, Count: in.World.Quorum,
			Why: "the pool asks approver keys for what may erase", Next: "make a batch of one, and have it approved"}
	}
	return nil
}

// answered refuses a verb whose guards ask for allocations while the part that
// knows them cannot say. The others, abort above all, never wait for it.
func (in *Verb) answered(w *work) error {
	switch in.On {
	case provision.Manage, provision.Inspect, provision.Provide, provision.Deploy, provision.Undeploy, provision.Recover, provision.Retire:
		return w.answers(&in.World)
	}
	return nil
}

// exists checks the verb, the node and its BMC binding (PROV-14). What leads to
// an acceptance run needs none: the agent is there, and adopted hosts have no
// other way back (PROV-3).
func (in *Verb) exists(w *work) error {
	if !slices.Contains(verbs(), in.On) {
		return invalid("verb", "PROV-1", "%q is no verb of the provision axis; legal: %s", in.On, listed(verbs()))
	}
	if err := w.live(); err != nil {
		return err
	}
	adopts := in.On == provision.Adopt || in.On == provision.Recover && w.Node.Prov.FailedFrom == provision.Adopting
	if !adopts && w.Node.Claims.BMC == "" {
		return refuse(w.name, "PROV-14", sm.NotFound, "the node has no BMC binding", "an adopted host leaves by cordon and delete")
	}
	return nil
}

// move decides the verb and what goes with it: the other axis's attempt that a
// retirement takes over, and maintenance where an abort fails the node.
func (in *Verb) move(w *work) error {
	// The table lets retire take over any holder. From a retirement there is nothing
	// to take, and two would wipe the machine under two epochs.
	if in.On == provision.Retire && w.slot.Holder == Retirement {
		return &Refused{Input: w.name, Req: "MACH-3", code: sm.Conflict, Why: "the inventory retires the machine already", Holder: w.slot,
			Next: "let that retirement end, and delete the node"}
	}
	e := provision.Event{Event: onProv(in.On), By: in.By, Wipe: in.Wipe, Profile: in.Profile, Why: in.Reason, Facts: in.facts(w)}
	if err := w.prov(e); err != nil {
		return countOf(err, in.stands(&w.Node.Prov))
	}
	in.tell(w)
	if in.On == provision.Retire {
		if err := w.takeOver(); err != nil {
			return err
		}
	}
	return w.failed()
}

// tell adds what the states do not show: an unrescue begins in rescue, and a
// recovery is told by its target (PROV-3), though adopting has a name of its own
// (EVENT-2).
func (in *Verb) tell(w *work) {
	is, was := &w.Node.Prov, &w.was.Node.Prov
	switch {
	case in.On == provision.Unrescue && is.Epoch != was.Epoch:
		w.fact(NodeUnrescuing)
	case in.On == provision.Recover && is.State == provision.Adopting:
		w.fact(NodeAccepting)
	}
}

// stands is how many stand in the way of the verb: every open allocation of a
// retirement, only other tenants' started ones of the rest (PROV-13).
func (in *Verb) stands(p *provision.Record) int {
	if in.On == provision.Retire || in.On == provision.Recover && p.FailedFrom == provision.Retiring {
		return in.World.Open
	}
	return in.World.Tenant
}

// facts are the guards; capable depends on what the verb would do.
func (in *Verb) facts(w *work) sm.Guard {
	g := w.provFacts(&in.World)
	wipe := in.Wipe
	// A recovery wipes by the mode that the record kept: no caller can weaken it
	// (PROV-5, EDGE-21).
	if in.On == provision.Recover {
		wipe = w.Node.Prov.Wipe
	}
	// No ramdisk is needed to wipe nothing (PROV-15).
	if wipe == provision.WipeNone {
		g |= provision.Capable
	}
	return g
}

// inputs checks what the verb brings.
func (in *Verb) inputs(w *work) error {
	switch {
	case in.On != provision.Undeploy && in.Wipe != "", in.On == provision.Undeploy && in.Wipe != "" && !in.Wipe.Valid():
		return invalid(w.name, "PROV-5", "wipe mode %q: undeploy takes none, quick, secure-erase or crypto-erase", in.Wipe)
	case in.On == provision.Deploy && (in.Profile.ID == "" || in.Profile.Version == 0):
		return invalid(w.name, "PROV-18", "deploy names a profile and its version")
	}
	return w.names(in.Profile.ID, in.Profile.Role)
}

// erases reports whether the verb's chain erases what the machine may hold
// (EDGE-1, PROV-16).
func (in *Verb) erases(n *Node) bool {
	switch in.On {
	case provision.Manage, provision.Inspect, provision.Provide, provision.Undeploy, provision.Retire:
		return true
	case provision.Recover:
		from := n.Prov.FailedFrom
		return from == provision.Deploying || from == provision.Releasing || from == provision.Retiring
	}
	return false
}

// takeOver ends the attempt of another axis that held the machine which now
// retires: its epoch is dead at once (EDGE-5, RUN-6). A workflow has no case
// here: retire itself ends one, and a device's retirement is refused where one
// holds the machine.
func (w *work) takeOver() error {
	switch w.slot.Holder {
	case Setup:
		return w.reg(registration.Event{Event: on(registration.Preempt)})
	case OwnerRun:
		return w.run(run.Event{Event: sm.Event[run.Kind]{On: run.Interrupt}})
	}
	return nil
}

// failed is JOINT-7: a node that came to failed is put into maintenance
// (PROV-2).
func (w *work) failed() error {
	// Only on the way in: an operator may have cleared maintenance since (SCHED-4).
	if w.Node.Prov.State != provision.Failed || w.was.Node.Prov.State == provision.Failed {
		return nil
	}
	sched, _, err := schedule.StepService(w.Node.Sched, schedule.FailNode, "failed from "+string(w.Node.Prov.FailedFrom))
	w.Node.Sched = sched
	return err
}
