package lifecycle

import "github.com/ingotmetal/ingot/statemachine/netboot"

// Fact is one thing that a commit made true, for the log (EVENT-2). It holds
// no secret: keys and certificates are told by their IDs. Observations are no
// facts; they stay in ledgers (MACH-9).
//
// Node, actor and time are the commit's, and are added by who writes the fact to
// the outbox in that commit (EVENT-1). Facts of one step keep their order.
type Fact struct {
	Name string // such as registration.approved or node.cordoned
	MAC  netboot.MAC
	Key  string // a key's or certificate's ID
	Why  string
}

// The names of facts that are no state's (EVENT-2). A state's are
// registration.<state>, boot.<state>, node.provision.<state> and run.<state>.
const (
	NodeCordoned      = "node.cordoned"
	NodeUncordoned    = "node.uncordoned"
	NodeDraining      = "node.draining"
	NodeDrained       = "node.drained"
	NodeTainted       = "node.tainted"
	NodeLabeled       = "node.labeled"
	NodeAdopting      = "node.adopting"
	NodeDeleted       = "node.deleted"
	NodeEnrolled      = "node.enrolled"
	NodeUnrescuing    = "node.provision.unrescuing"
	NodeBatched       = "node.provision.batch" // the batch that carried the verb (PROV-6)
	NodeEscalated     = "node.remediation.escalated"
	NodeMaintained    = "node.maintenance.set"
	NodeServiced      = "node.maintenance.cleared"
	NodeWake          = "node.wake"      // it may take work again (JOINT-8, TAINT-2)
	NodeConditioned   = "node.condition" // a controller's reason came or went (TAINT-1)
	NodeAccepting     = "node.provision.adopting"
	NodeReported      = "node.provision.reported"
	NodeInspected     = "node.provision.inspected"
	NodeWiped         = "node.provision.wiped"
	NodeOffConfirmed  = "node.power.off-confirmed"
	MACDiscovered     = "node.pxe-mac.discovered"
	MACConfirmed      = "node.pxe-mac.confirmed"
	IdentityRevoked   = "security.node.identity-revoked"
	NodeQuarantined   = "security.node.quarantined"
	CertificateIssued = "security.node.certificate-issued"
	CertificateEnded  = "security.node.certificate-revoked"
	KeyMade           = "key.made"
	KeyRevoked        = "key.revoked"
	SessionStarted    = "session.opened"
	SessionEnded      = "session.closed"
	GrantMade         = "grant.made"
	RecordLeft        = "boot.left-alone" // another machine's record, met by a joint (SET-10)
	AdmissionFailed   = "boot.admission-failed"
	ModeChanged       = "boot.mode"
	RowClaimable      = "registration.claimable"
	KeyDelivered      = "registration.key-delivered"
	BundleDrained     = "registration.drained"
	SettingsChanged   = "registration.configured"
	InventoryChanged  = "registration.inventory"
	BMCPinned         = "node.bmc.pinned" // the key that a first use saw
	CommandQueued     = "command.queued"
	CommandStarted    = "command.begun"
	CommandEnded      = "command.ended"
	DeviceListed      = "run.listed"
	RunRequested      = "run.requested"
	RunPending        = "run.pending" // another action waits for the current run (RUN-1)
	RunCancelled      = "run.cancelled"
	RunHeld           = "run.waiting" // and why it does not begin
	RunAdopted        = "run.adopted" // the engine had one that no record named (RUN-2)
	SerialCorrected   = "run.serial"
	WindowOpened      = "window.opened"
	WindowClosed      = "window.closed"
	PolicyChanged     = "policy.changed"
	RetirementStepped = "run.retirement." // and the step
	RetirementTold    = "run.retirement.report"
)
