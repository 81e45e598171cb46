package keys

import "iter"

// A Scope says what a key is for. The set is closed (SET-2).
type Scope string

// The six scopes of keys.
const (
	Full      Scope = "full"       // all but CnSetupApprove
	ReadOnly  Scope = "read_only"  // what ends in :read, but for the audit log
	AuditOnly Scope = "audit_only" // the audit log and nothing else
	Agent     Scope = "agent"      // its own node's agent routes
	Booter    Scope = "booter"     // boot snapshot, sightings, boot reports
	UREnroll  Scope = "ur_enroll"  // announce, approvals, bundle, setup reports
)

// Operator stands for an operator's session in the table, beside the scopes. No
// key has it: Scope.Valid denies it.
const Operator Scope = "operator"

// Scopes returns the six scopes that a key can have, in a fixed order.
func Scopes() []Scope { return []Scope{Full, ReadOnly, AuditOnly, Agent, Booter, UREnroll} }

// Valid reports whether a key can have the scope.
func (s Scope) Valid() bool { return column(s)&^operator != 0 }

// A Rule says who may do an action. A caller not among Holders is denied.
type Rule struct {
	Action  Action
	Holders []Scope // Operator first where it holds the action
	Req     string  // the requirement that says so
}

// Rules yields the whole table, every action once. The rules are copies.
func Rules() iter.Seq[Rule] {
	return func(yield func(Rule) bool) {
		for _, r := range table {
			if !yield(Rule{r.action, r.holders.scopes(), r.req}) {
				return
			}
		}
	}
}

// holders is a set of table columns.
type holders uint8

const (
	operator holders = 1 << iota
	full
	readOnly
	auditOnly
	agent
	booter
	urEnroll

	look   = operator | full | readOnly // a view without the audit log
	change = operator | full            // what people do
)

// column returns the set of s alone, the empty set for an unknown scope.
func column(s Scope) holders {
	switch s {
	case Operator:
		return operator
	case Full:
		return full
	case ReadOnly:
		return readOnly
	case AuditOnly:
		return auditOnly
	case Agent:
		return agent
	case Booter:
		return booter
	case UREnroll:
		return urEnroll
	}
	return 0
}

func (h holders) scopes() []Scope {
	var held []Scope
	for _, s := range append([]Scope{Operator}, Scopes()...) {
		if h&column(s) != 0 {
			held = append(held, s)
		}
	}
	return held
}

// row is one action's cells. Full holds every row but CnSetupApprove (ID-5).
type row struct {
	action  Action
	holders holders
	req     string
}

// table is who may do what. Machines' actions are closed to an operator's
// session: a person who could drain a bundle would be a second drainer (SET-6).
var table = [...]row{
	{NodesRead, look, "API-4"},
	{NodesCordon, change, "API-4"},
	{NodesDrain, change, "API-4"},
	{NodesUpdate, change, "API-4"},
	{NodesProvision, change, "API-4"},
	{NodesPower, change, "API-4"},
	{NodesRevokeIdentity, change, "API-4"},
	{NodesDelete, change, "API-4"},
	{NodesSSHRoot, change, "API-4"},
	{SitesRead, look, "API-4"},

	{CnSetupApprove, operator, "SET-2"},

	{RegistrationsRead, look, "ID-5"},
	{RegistrationsApprove, change, "REG-14"},
	{RegistrationsUpdate, change, "REG-16"},
	{RegistrationsDisable, change, "REG-11"},
	{RegistrationsFactoryReset, change, "REG-12"},
	{RegistrationsDelete, change, "REG-13"},

	{WindowsRead, look, "ID-5"},
	{WindowsAutoApprove, change, "REG-7"},
	{WindowsEnroll, change, "REG-10"},

	{BootRead, look, "BOOT-12"},
	{BootEnroll, change, "BOOT-12"},
	{BootDecommission, change, "BOOT-12"},
	{BootReactivate, change, "BOOT-12"},
	{BootMode, change, "BOOT-12"},
	{BootPurge, change, "BOOT-12"},
	{BootPolicyRead, look, "BOOT-12"},
	{BootPolicyUpdate, change, "BOOT-12"},

	{KeysRead, look, "ID-5"},
	{KeysMint, change, "ID-5"},
	{KeysRevoke, change, "ID-5"},
	{AuditRead, operator | full | auditOnly, "ID-5"},
	{OperatorsRead, look, "ID-8"},
	{EventsRead, look, "EVENT-1"},

	{AgentRefresh, full | agent, "REG-15"},
	{AgentAcknowledge, full | agent, "REG-6"},
	{AgentSession, full | agent, "REG-15"},

	{BooterSnapshot, full | booter, "SET-16"},
	{BooterSightings, full | booter, "SET-16"},
	{BooterBoots, full | booter, "SET-16"},

	{SetupAnnounce, full | urEnroll, "SET-16"},
	{SetupApprovals, full | urEnroll, "SET-16"},
	{SetupDrain, full | urEnroll, "SET-16"},
	{SetupReport, full | urEnroll, "SET-16"},
}

// rule finds an action's row; an unknown action has one without holders. A scan
// of a few dozen names costs less than a request's first allocation, and the
// table stays the only copy of what it says.
func rule(a Action) row {
	for _, r := range table {
		if r.action == a {
			return r
		}
	}
	return row{action: a}
}
