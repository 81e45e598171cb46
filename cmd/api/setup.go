package api

import (
	"encoding/json"
	"time"
)

// Layout asks for what is to be written to a machine's disks: a pool over all of
// them, or partitions on one. Package disklayout realizes it.
type Layout struct {
	Kind       string      `json:"kind" enum:"pool,partitions" doc:"a pool over the disks, or partitions on one of them"`
	Redundancy string      `json:"redundancy,omitempty" enum:"single,mirror,raidz1,raidz2,raidz3" doc:"of a pool; left out: chosen by the disks"`
	Width      int         `json:"width,omitempty" minimum:"1" maximum:"256" doc:"disks in each part of a pool"`
	Spares     *int        `json:"spares,omitempty" minimum:"0" maximum:"256" doc:"hot spares of a pool; left out: chosen; 0: none"`
	NoCache    bool        `json:"no_cache,omitempty" doc:"leave out disks that would become the pool's cache"`
	Exclude    []string    `json:"exclude,omitempty" maxItems:"256" doc:"serials or WWNs of disks to leave alone"`
	Disk       *Selector   `json:"disk,omitempty" doc:"the one disk of partitions"`
	Partitions []Partition `json:"partitions,omitempty" maxItems:"128"`
}

// Selector matches exactly one disk, or is refused (DISK-2).
type Selector struct {
	Serial   string `json:"serial,omitempty" maxLength:"128"`
	WWN      string `json:"wwn,omitempty" maxLength:"128"`
	Model    string `json:"model,omitempty" maxLength:"128"`
	Bus      string `json:"bus,omitempty" maxLength:"32"`
	MinBytes uint64 `json:"min_bytes,omitempty"`
	MaxBytes uint64 `json:"max_bytes,omitempty"`
	SSD      *bool  `json:"ssd,omitempty"`
}

// Partition is one partition of a GPT.
type Partition struct {
	Number     int    `json:"number,omitempty" minimum:"1" maximum:"128" doc:"left out: the lowest free"`
	Label      string `json:"label,omitempty" maxLength:"36"`
	Type       string `json:"type" maxLength:"64" doc:"esp, boot, root, swap, data or a type GUID"`
	Bytes      uint64 `json:"bytes,omitempty" doc:"left out: what is left of the disk"`
	Filesystem string `json:"filesystem,omitempty" maxLength:"32"`
}

// SetupRequest is what an approval is asked to write.
type SetupRequest struct {
	Layout      Layout `json:"layout"`
	Hostname    string `json:"hostname" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" doc:"RFC 1123 label"`
	Compression string `json:"compression,omitempty" pattern:"^(off|on|lz4|lzjb|zle|gzip(-[1-9])?|zstd(-(1[0-9]|[1-9]))?)$" doc:"of the pool (DISK-6); left out: on"`
	DiskImage   string `json:"disk_image,omitempty" maxLength:"128" pattern:"^sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})$" doc:"digest of a staged disk image; left out: the layout alone"`
}

// PlanSetup is the input of registration.plan.
type PlanSetup struct {
	RegistrationRef
	Body SetupRequest
}

// Plan is what approve-setup would write, or was approved to write (SET-14).
type Plan struct {
	Digest      string          `json:"digest" doc:"what the approval must name as shown_plan"`
	Inventory   string          `json:"inventory_digest"`
	Hostname    string          `json:"hostname"`
	Compression string          `json:"compression,omitempty"`
	DiskImage   string          `json:"disk_image,omitempty"`
	AgentKey    string          `json:"agent_key,omitempty" doc:"to which the bundle is sealed"`
	Disks       []PlanDisk      `json:"disks" doc:"that will be written"`
	Unused      []UnusedDisk    `json:"unused_disks,omitempty"`
	Pool        *PlanPool       `json:"pool,omitempty"`
	Partitions  []PlanPartition `json:"partitions,omitempty"`
	MACs        []string        `json:"macs" doc:"that the approval covers"`
	LeftOut     []string        `json:"left_out_macs,omitempty" doc:"of the inventory, not seen with the session"`
	Approver    string          `json:"approver,omitempty"`
	InClear     bool            `json:"in_clear,omitempty" doc:"a stock agent: the bundle is not sealed"`
	Warnings    []string        `json:"warnings,omitempty" doc:"what a person should read before approving"`
}

// PlanDisk is a disk that a plan writes to.
type PlanDisk struct {
	Disk
	Role string `json:"role" doc:"storage, spare, log, cache or system"`
}

// UnusedDisk is a disk that a plan leaves alone.
type UnusedDisk struct {
	Disk
	Why string `json:"why"`
}

// PlanPool is the pool of a plan.
type PlanPool struct {
	Redundancy string     `json:"redundancy"`
	Parts      [][]string `json:"parts" doc:"serials of the disks of each part"`
	Spares     []string   `json:"spares,omitempty"`
	Logs       []string   `json:"logs,omitempty"`
	Caches     []string   `json:"caches,omitempty"`
	Capacity   uint64     `json:"capacity_bytes" doc:"before metadata"`
}

// PlanPartition is a partition of a plan.
type PlanPartition struct {
	Partition
	Serial string `json:"disk_serial"`
	Start  uint64 `json:"start_bytes"`
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
		AgentKey string          `json:"agent_key,omitempty" maxLength:"64" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of the agent's key; absent for a stock agent"`
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
	Plan     Plan      `json:"plan"`
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
	Epoch  uint64 `json:"epoch"`
	Sealed bool   `json:"sealed" doc:"to the agent's key; else in clear, for a stock agent"`
	Bundle Secret `json:"bundle" doc:"base64"`
	Plan   Plan   `json:"plan"`
	Image  string `json:"image,omitempty"`
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
