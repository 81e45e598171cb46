package api

import (
	"encoding/json"
	"time"

	"github.com/ingotmetal/ingot/disklayout"
)

// Registration is one registration row as people see it. It has no secret: a
// key is named by its ID, and the root password is only set or not.
type Registration struct {
	Server          string            `json:"server_id" doc:"SMBIOS product UUID"`
	Node            string            `json:"node_id,omitempty"`
	State           string            `json:"state" doc:"pending, approved, disabled, awaiting_setup, setting_up; keep and show unknown ones"`
	Version         uint64            `json:"version"`
	Inventory       Inventory         `json:"inventory"`
	AgentKey        string            `json:"agent_key,omitempty" doc:"SHA-256 of the agent's key; absent for a stock agent"`
	CodeExpires     time.Time         `json:"code_expires,omitzero" doc:"when the claim code ends"`
	KeyID           string            `json:"key_id,omitempty" doc:"of the bound key"`
	Plan            *SetupPlan        `json:"plan,omitempty" doc:"that was approved"`
	Labels          map[string]string `json:"labels,omitempty"`
	Reservoir       uint64            `json:"reservoir,omitempty" doc:"bytes of memory kept back from placement"`
	RootPasswordSet bool              `json:"root_password_set"`
	Image           string            `json:"image,omitempty" doc:"assigned at approval"`
	LastSetupError  string            `json:"last_setup_error,omitempty"`
	SetupEpoch      uint64            `json:"setup_epoch,omitempty"`
	SetupDeadline   time.Time         `json:"setup_deadline,omitzero"`
	ApprovedAt      time.Time         `json:"approved_at,omitzero"`
	LastSeen        time.Time         `json:"last_seen,omitzero"`
}

// Inventory is what a machine said of itself.
type Inventory struct {
	Digest string            `json:"digest" doc:"SHA-256 of the whole sysinfo"`
	MACs   []string          `json:"macs,omitempty"`
	Seen   []string          `json:"seen_macs,omitempty" doc:"those that the booter saw its session come from"`
	Disks  []disklayout.Disk `json:"disks,omitempty"`
}

// RegistrationRef names a row.
type RegistrationRef struct {
	Server string `path:"server_id" format:"uuid" doc:"server UUID, in either byte order"`
}

// RegistrationChange is an input that names a row and changes it.
type RegistrationChange struct {
	RegistrationRef
	Change
}

// RegistrationChanged is a row after a change.
type RegistrationChanged struct {
	Outcome
	Registration Registration `json:"registration"`
}

// RegistrationList is the input of registration.list.
type RegistrationList struct {
	State string `query:"state" maxLength:"64" pattern:"^[a-z_]+$" doc:"only rows in this state"`
	Page
}

// Registrations is a page of rows, in the order of their UUIDs.
type Registrations struct {
	Registrations []Registration `json:"registrations"`
	Next
}

// Register is the input of registration.register (REG-2).
type Register struct {
	Body struct {
		Server  string          `json:"server_id" format:"uuid" doc:"SMBIOS product UUID"`
		Sysinfo json.RawMessage `json:"sysinfo" doc:"a JSON object, at most 256 KiB"`
	}
}

// Registered is what the agent of a hand-installed machine gets: the code that a
// person types, and the token to poll with. Both are shown once.
type Registered struct {
	Server    string    `json:"server_id"`
	State     string    `json:"state" doc:"pending, or approved where a window was open"`
	Code      Secret    `json:"code,omitempty" doc:"claim code, XXX-XXX"`
	PollToken Secret    `json:"poll_token"`
	Expires   time.Time `json:"expires"`
}

// RegistrationStatus is the answer to a poll (REG-6).
type RegistrationStatus struct {
	Server string `json:"server_id"`
	Node   string `json:"node_id,omitempty"`
	State  string `json:"state"`
	KeyID  string `json:"key_id,omitempty"`
	Key    Secret `json:"key,omitempty" doc:"the API key, until it is acknowledged"`
}

// RegistrationPoll is the input of registration.status.
type RegistrationPoll struct {
	LongPoll
	State string `query:"state" maxLength:"64" pattern:"^[a-z_]+$" doc:"answer when the row is no longer in this state"`
}

// Refresh is the input of registration.refresh (REG-15).
type Refresh struct {
	RegistrationRef
	Body struct {
		Sysinfo json.RawMessage `json:"sysinfo" doc:"a JSON object, at most 256 KiB"`
	}
}

// Refreshed is the answer to a refresh.
type Refreshed struct {
	State   string `json:"state"`
	Version uint64 `json:"version"`
}

// Approve is the input of registration.approve (REG-14). The code is in the
// body, since URLs reach logs.
type Approve struct {
	Change
	Body struct {
		Code   Secret `json:"code" format:"password" minLength:"6" maxLength:"64" doc:"claim code; case, dashes and spaces do not matter"`
		Server string `json:"server_id,omitempty" format:"uuid" doc:"refuse when the code is another machine's"`
	}
}

// SetLabels is the input of registration.label (LABEL-1).
type SetLabels struct {
	RegistrationChange
	Body struct {
		Set    map[string]string `json:"set,omitempty" maxProperties:"64" doc:"labels to set"`
		Remove []string          `json:"remove,omitempty" maxItems:"64" doc:"keys of labels to remove"`
	}
}

// SetReservoir is the input of registration.reservoir (REG-16).
type SetReservoir struct {
	RegistrationChange
	Body struct {
		Bytes uint64 `json:"bytes" doc:"memory kept back from placement; 0 clears"`
	}
}

// SetRootPassword is the input of registration.root-password (REG-16).
type SetRootPassword struct {
	RegistrationChange
	Body struct {
		Hash  Secret `json:"hash,omitempty" format:"password" maxLength:"384" pattern:"^[!-9;-~]+$" doc:"crypt(3) hash, never the password itself"`
		Clear bool   `json:"clear,omitempty" doc:"no password"`
	}
}

// Deleted is what a delete did.
type Deleted struct {
	Outcome
	Deleted bool `json:"deleted" doc:"false where it was gone already"`
}
