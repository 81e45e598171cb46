package api

import "time"

// Node is one machine, all its axes beside each other.
type Node struct {
	ID        string    `json:"id"`
	Version   uint64    `json:"version"`
	Pool      string    `json:"pool,omitempty"`
	Site      string    `json:"site,omitempty"`
	Tenant    string    `json:"tenant,omitempty"`
	DeletedAt time.Time `json:"deleted_at,omitzero" doc:"set on a tombstone (PROV-20)"`

	States     States      `json:"states"`
	Claims     Claims      `json:"claims"`
	MACs       []string    `json:"macs,omitempty"`
	Scheduling Scheduling  `json:"scheduling"`
	Conditions []string    `json:"conditions,omitempty" doc:"NoSchedule reasons of controllers"`
	Labels     []Label     `json:"labels,omitempty"`
	Link       Link        `json:"link"`
	Attempt    *Attempt    `json:"attempt,omitempty" doc:"what holds the machine's power, boot entry and disks"`
	Needs      []Need      `json:"needs,omitempty" doc:"what its state wants from the world"`
	Identity   Identity    `json:"identity"`
	Metal      *Metal      `json:"metal,omitempty" doc:"how it is reached out of band; absent without a BMC"`
	Failure    *Failure    `json:"failure,omitempty"`
	Boots      []NodeBoot  `json:"boots,omitempty"`
	Legal      []NodeLegal `json:"legal,omitempty" doc:"verbs that its axes accept now"`
}

// States are the states of a node's axes; absent is an axis it does not have.
type States struct {
	Registration string `json:"registration,omitempty"`
	Provision    string `json:"provision,omitempty"`
	Scheduling   string `json:"scheduling,omitempty"`
	Maintenance  string `json:"maintenance,omitempty"`
	Connectivity string `json:"connectivity,omitempty"`
	Run          string `json:"run,omitempty"`
	Retirement   string `json:"retirement,omitempty"`
}

// Claims are the names by which a machine is known (MACH-1).
type Claims struct {
	Server      string `json:"server_id,omitempty"`
	EK          string `json:"ek,omitempty" doc:"digest of the TPM's endorsement key"`
	HardwareKey string `json:"hardware_key,omitempty"`
	BMC         string `json:"bmc,omitempty"`
	Device      string `json:"device,omitempty" doc:"of the inventory"`
}

// Scheduling are the flags that keep new work away.
type Scheduling struct {
	Cordoned          bool      `json:"cordoned"`
	Draining          bool      `json:"draining,omitempty"`
	ForceUntil        time.Time `json:"force_until,omitzero" doc:"a forced release is asked for until then"`
	Maintenance       bool      `json:"maintenance"`
	MaintenanceReason string    `json:"maintenance_reason,omitempty"`
	Reasons           []string  `json:"reasons,omitempty" doc:"every NoSchedule reason: taint:<key>, draining, unreachable, conditions"`
}

// Label is a label with who owns it (LABEL-1).
type Label struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Owner string `json:"owner" doc:"inventory, system or operator"`
}

// Link is a node's session (API-6).
type Link struct {
	Epoch          uint64    `json:"session_epoch,omitempty"`
	Gateway        string    `json:"gateway,omitempty"`
	ConnectedAt    time.Time `json:"connected_at,omitzero"`
	DisconnectedAt time.Time `json:"disconnected_at,omitzero"`
	LastSeen       time.Time `json:"last_seen,omitzero"`
}

// Attempt is what holds a machine (MACH-3).
type Attempt struct {
	Holder   string    `json:"holder" doc:"setup, provision, run or retirement"`
	State    string    `json:"state"`
	Epoch    uint64    `json:"epoch"`
	Deadline time.Time `json:"deadline,omitzero"`
}

// Need is one thing that a node's state wants from the world.
type Need struct {
	Verb  string    `json:"verb"`
	What  string    `json:"what,omitempty"`
	Epoch uint64    `json:"epoch,omitempty"`
	Until time.Time `json:"until,omitzero"`
}

// Identity is what a machine proved (ID-2).
type Identity struct {
	Generation   uint64 `json:"generation"`
	Certificates int    `json:"certificates" doc:"live ones"`
	Quarantined  bool   `json:"quarantined,omitempty"`
}

// Failure is how a provision attempt failed (PROV-2).
type Failure struct {
	From  string    `json:"from"`
	Code  string    `json:"code,omitempty"`
	Error string    `json:"error"`
	At    time.Time `json:"at,omitzero"`
}

// NodeBoot is a boot record of the node, in short.
type NodeBoot struct {
	MAC   string `json:"mac"`
	State string `json:"state"`
	Mode  string `json:"mode,omitempty"`
}

// NodeLegal is the verbs that one axis accepts in its state.
type NodeLegal struct {
	Axis  string   `json:"axis"`
	Verbs []string `json:"verbs"`
}

// NodeRef names a node.
type NodeRef struct {
	Node string `path:"node_id" maxLength:"57" pattern:"^node_[0-9a-hjkmnp-tv-z]{26,52}$" doc:"the node's ID"`
}

// NodeChange is an input that names a node and changes it.
type NodeChange struct {
	NodeRef
	Change
}

// NodeChanged is a node after a change.
type NodeChanged struct {
	Outcome
	Node Node `json:"node"`
}

// NodeList is the input of node.list (API-2). Filters accept every state.
type NodeList struct {
	Pool         string `query:"pool" maxLength:"128" pattern:"^[A-Za-z0-9][A-Za-z0-9._:-]*$"`
	Site         string `query:"site" maxLength:"57" pattern:"^site_[0-9a-hjkmnp-tv-z]{26,52}$"`
	Cordoned     string `query:"cordoned" enum:"true,false" doc:"left out: both"`
	Maintenance  string `query:"maintenance" enum:"true,false" doc:"left out: both"`
	Provision    string `query:"provision" maxLength:"64" pattern:"^[a-z_-]+$" doc:"provision state"`
	Registration string `query:"registration" maxLength:"64" pattern:"^[a-z_-]+$" doc:"registration state"`
	Boot         string `query:"boot" maxLength:"64" pattern:"^[a-z_-]+$" doc:"state of one of its boot records"`
	Scheduling   string `query:"scheduling" maxLength:"64" pattern:"^[a-z_-]+$" doc:"scheduling state"`
	Connectivity string `query:"connectivity" maxLength:"64" pattern:"^[a-z_-]+$" doc:"connectivity state"`
	Run          string `query:"run" maxLength:"64" pattern:"^[a-z_-]+$" doc:"run state"`
	Retirement   string `query:"retirement" maxLength:"64" pattern:"^[a-z_-]+$" doc:"step of a retirement"`
	Deleted      bool   `query:"deleted" doc:"tombstones as well"`
	Page
}

// Nodes is a page of nodes, in the order of their IDs. It may be short: nodes
// that the caller may not read are left out (API-2).
type Nodes struct {
	Nodes []Node `json:"nodes"`
	Next
}

// Maintain is the input of node.maintenance (SCHED-4). The reason is required.
type Maintain struct {
	NodeChange
	Body struct {
		On bool `json:"on" doc:"set maintenance, or clear it"`
	}
}
