// Package keys is API keys: what a key is, how one is checked, and what each may
// do.
//
// What each may do is one table ([Rules]), of actions by scopes. [Caller.Authorize]
// reads it, and so can an API's documentation: nothing else decides. A scope that
// the table does not name for an action is denied it.
//
// A [Secret] exists in the clear only between its making and its delivery; the
// control plane keeps a [Key], which is facts. A [Ticket] is symmetric, so its
// key must be kept; seal it at rest.
package keys

// An Action is something a caller may be allowed to do, by its wire name. One
// that ends in :read only looks.
type Action string

// Actions on nodes (API-4). Calls that start on something wider than a node use
// the same actions there: enroll and bulk are NodesProvision on the pool, a list
// is NodesRead on the tenant; then each node is decided alone.
const (
	NodesRead           Action = "compute:nodes:read"
	NodesCordon         Action = "compute:nodes:cordon" // and uncordon
	NodesDrain          Action = "compute:nodes:drain"
	NodesUpdate         Action = "compute:nodes:update"    // label, taint, maintenance
	NodesProvision      Action = "compute:nodes:provision" // adopt and every metal verb
	NodesPower          Action = "compute:nodes:power"
	NodesRevokeIdentity Action = "compute:nodes:revoke-identity"
	NodesDelete         Action = "compute:nodes:delete"
	NodesSSHRoot        Action = "compute:nodes:ssh-root" // issue and revoke; listing is NodesRead
	SitesRead           Action = "compute:sites:read"
)

// CnSetupApprove is the one action that leads to a machine being set up, and so
// to its disks being written (SET-1, SET-2).
const CnSetupApprove Action = "CnSetupApprove"

// Actions of people on registrations, windows, boot records, keys, operators and
// the log.
const (
	RegistrationsRead         Action = "compute:registrations:read"
	RegistrationsApprove      Action = "compute:registrations:approve" // with the claim code
	RegistrationsUpdate       Action = "compute:registrations:update"  // labels, reservoir, root password
	RegistrationsDisable      Action = "compute:registrations:disable"
	RegistrationsFactoryReset Action = "compute:registrations:factory-reset"
	RegistrationsDelete       Action = "compute:registrations:delete"

	WindowsRead        Action = "compute:windows:read"
	WindowsAutoApprove Action = "compute:windows:auto-approve" // open and close
	WindowsEnroll      Action = "compute:windows:enroll"       // open and close

	BootRead         Action = "compute:boot:read"
	BootEnroll       Action = "compute:boot:enroll" // by hand
	BootDecommission Action = "compute:boot:decommission"
	BootReactivate   Action = "compute:boot:reactivate"
	BootMode         Action = "compute:boot:mode"
	BootPurge        Action = "compute:boot:purge"
	BootPolicyRead   Action = "compute:boot-policy:read"
	BootPolicyUpdate Action = "compute:boot-policy:update"

	KeysRead   Action = "compute:keys:read" // IDs and facts, never a secret
	KeysMint   Action = "compute:keys:mint"
	KeysRevoke Action = "compute:keys:revoke"

	AuditRead Action = "compute:audit:read"

	OperatorsRead Action = "compute:operators:read" // operators and their sessions; nobody changes them from afar
	EventsRead    Action = "compute:events:read"    // the log as events; as a chain it is AuditRead
)

// Actions of machines: an agent on its own node, a booter for its site. None of
// them ends in :read, since what they fetch is a protocol's, not a view.
const (
	AgentRefresh     Action = "agent:registration:refresh" // sysinfo, TLS pin, last_seen
	AgentAcknowledge Action = "agent:key:acknowledge"      // the key arrived
	AgentSession     Action = "agent:session:open"         // beats, commands, reports

	BooterSnapshot  Action = "booter:snapshot:follow"
	BooterSightings Action = "booter:sightings:report"
	BooterBoots     Action = "booter:boots:report"

	SetupAnnounce  Action = "setup:announce:relay"
	SetupApprovals Action = "setup:approvals:poll"
	SetupDrain     Action = "setup:bundle:drain"   // consumes the bundle
	SetupReport    Action = "setup:outcome:report" // setup-complete, setup-failed
)
