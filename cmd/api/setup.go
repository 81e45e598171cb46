package api

import (
	"encoding/json"
	"time"

	"github.com/ingotmetal/ingot/disklayout"
)

// SetupRequest is what an approval is asked to write. Its layout, compression and
// disk image are package disklayout's, which realizes them on the disks that the
// machine announced.
type SetupRequest struct {
	Layout   disklayout.Request `json:"layout"`
	Hostname string             `json:"hostname" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" doc:"RFC 1123 label"`
}

// PlanSetup is the input of registration.plan.
type PlanSetup struct {
	RegistrationRef
	Body SetupRequest
}

// SetupPlan is what approve-setup would write, or was approved to write (SET-14).
type SetupPlan struct {
	Digest    string           `json:"digest" doc:"of the layout; what the approval must name as shown_plan"`
	Inventory string           `json:"inventory_digest"`
	Hostname  string           `json:"hostname"`
	AgentKey  string           `json:"agent_key,omitempty" doc:"hash of the key to which the bundle is sealed"`
	Layout    *disklayout.Plan `json:"layout,omitempty" doc:"all that is written, all that dies, and every disk that stays as it is"`
	Text      string           `json:"text,omitempty" doc:"the layout as a page to read"`
	MACs      []string         `json:"macs" doc:"that the approval covers"`
	LeftOut   []string         `json:"left_out_macs,omitempty" doc:"of the inventory, not seen with the session"`
	Approver  string           `json:"approver,omitempty"`
	InClear   bool             `json:"in_clear,omitempty" doc:"a stock agent: the bundle is not sealed"`
	Warnings  []string         `json:"warnings,omitempty" doc:"what a person should read before approving"`
}

// ApproveSetup is the input of registration.approve-setup (SET-3 to SET-5). What
// the approver saw is named, so that nothing else is approved.
type ApproveSetup struct {
	RegistrationChange
	Body struct {
		SetupRequest
		ShownPlan string   `json:"shown_plan" minLength:"64" maxLength:"64" pattern:"^[0-9a-f]{64}$" doc:"digest of the plan that was shown (SET-14)"`
		AgentKey  string   `json:"agent_key,omitempty" maxLength:"64" pattern:"^([0-9a-f]{64})?$" doc:"agent key hash that was shown; left out where it said that the bundle goes in clear (SET-17)"`
		MACs      []string `json:"macs" maxItems:"256" doc:"MACs that were shown as covered, in that order (SET-18)"`
	}
}

// SetupApproved is the answer to approve-setup.
type SetupApproved struct {
	Outcome
	Operation    string       `json:"operation_id" doc:"for the audit trail; there is nothing to poll"`
	Registration Registration `json:"registration"`
}

// Announce is the input of setup.announce (REG-8).
type Announce struct {
	Body struct {
		Routing  string          `json:"routing_id" format:"uuid" doc:"UUID that the session or bus speaks for"`
		Server   string          `json:"server_id" format:"uuid" doc:"UUID of the sysinfo; the same"`
		Sysinfo  json.RawMessage `json:"sysinfo" doc:"a JSON object, at most 256 KiB"`
		SeenMACs []string        `json:"seen_macs" maxItems:"256" doc:"with which the booter saw the session"`
		AgentKey string          `json:"agent_key,omitempty" maxLength:"64" pattern:"^[0-9a-f]{64}$" doc:"the agent's public key, to which a bundle is sealed; absent for a stock agent"`
	}
}

// Announced is the answer to an announce.
type Announced struct {
	Node  string `json:"node_id,omitempty"`
	State string `json:"state" doc:"of the row, which the announce may have left alone"`
}

// SetupApprovals is the input of setup.approvals.
type SetupApprovals struct {
	LongPoll
	After uint64 `query:"after" doc:"revision of the answer before; waits for a later one"`
}

// Approvals is what waits for its booter (SET-6).
type Approvals struct {
	Revision  uint64     `json:"revision"`
	Approvals []Approval `json:"approvals"`
}

// Approval is one approved setup whose bundle is unconsumed.
type Approval struct {
	Server   string    `json:"server_id"`
	Node     string    `json:"node_id"`
	Epoch    uint64    `json:"epoch"`
	Deadline time.Time `json:"deadline"`
	AgentKey string    `json:"agent_key,omitempty"`
	Plan     SetupPlan `json:"plan"`
}

// DrainBundle is the input of setup.drain (SET-6, SET-17).
type DrainBundle struct {
	RegistrationRef
	Body struct {
		Epoch    uint64 `json:"epoch" minimum:"1"`
		AgentKey string `json:"agent_key,omitempty" maxLength:"64" pattern:"^[0-9a-f]{64}$" doc:"of the session that asks"`
		Held     bool   `json:"held" doc:"the booter holds the machine's live connection"`
	}
}

// Bundle is the credential bundle of one setup, handed out once.
type Bundle struct {
	Epoch  uint64    `json:"epoch"`
	Sealed bool      `json:"sealed" doc:"to the agent's key; else in clear, for a stock agent"`
	Bundle Secret    `json:"bundle" doc:"base64"`
	Plan   SetupPlan `json:"plan"`
	Image  string    `json:"image,omitempty"`
}

// SetupOutcome is the input of setup.complete.
type SetupOutcome struct {
	RegistrationRef
	Body struct {
		Epoch uint64 `json:"epoch" minimum:"1" doc:"of the approval (SET-9)"`
	}
}

// SetupFailure is the input of setup.failed.
type SetupFailure struct {
	RegistrationRef
	Body struct {
		Epoch uint64 `json:"epoch" minimum:"1" doc:"of the approval (SET-9)"`
		Why   string `json:"why" maxLength:"4096" doc:"cut at 512 bytes"`
	}
}

// SetupReported is the answer to a report.
type SetupReported struct {
	State    string `json:"state"`
	Revision uint64 `json:"revision"`
}
