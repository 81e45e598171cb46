package api

import "time"

// BootRecord is what the booter serves a MAC by.
type BootRecord struct {
	MAC          string    `json:"mac"`
	State        string    `json:"state" doc:"absent, discovered, enrolling, enrolled, decommissioned; keep and show unknown ones"`
	Mode         string    `json:"mode" doc:"normal or rescue"`
	Address      string    `json:"address,omitempty"`
	Image        string    `json:"image,omitempty" doc:"assigned to an enrolled record"`
	Server       string    `json:"server_id,omitempty" doc:"bound to this machine"`
	Node         string    `json:"node_id,omitempty"`
	CandidateFor string    `json:"candidate_for,omitempty" doc:"node that it may belong to (BOOT-11)"`
	Entry        *BootNext `json:"entry,omitempty" doc:"what the holder of the machine boots (BOOT-14)"`
	Version      uint64    `json:"version"`
	LastSeen     time.Time `json:"last_seen,omitzero"`
}

// BootNext is a boot entry.
type BootNext struct {
	Epoch uint64 `json:"epoch"`
	Image string `json:"image"`
	Args  string `json:"args,omitempty"`
}

// BootRef names a boot record.
type BootRef struct {
	MAC string `path:"mac" maxLength:"17" pattern:"^[0-9a-fA-F]{2}([:-]?[0-9a-fA-F]{2}){5}$" doc:"MAC address"`
}

// BootChange is an input that names a boot record and changes it.
type BootChange struct {
	BootRef
	Change
}

// BootChanged is a boot record after a change.
type BootChanged struct {
	Outcome
	Boot BootRecord `json:"boot"`
}

// BootList is the input of boot.list.
type BootList struct {
	State string `query:"state" maxLength:"64" pattern:"^[a-z_]+$" doc:"only records in this state"`
	Mode  string `query:"mode" maxLength:"64" pattern:"^[a-z_]+$" doc:"only records in this mode"`
	Page
}

// BootRecords is a page of boot records, in the order of their MACs.
type BootRecords struct {
	Boots []BootRecord `json:"boots"`
	Next
}

// SetMode is the input of boot.mode (BOOT-5).
type SetMode struct {
	BootChange
	Body struct {
		Mode string `json:"mode" enum:"normal,rescue"`
	}
}

// DiscoveredList is the input of boot.discovered.
type DiscoveredList struct{ Page }

// Discovered is the MACs that were seen and are no machine's, newest first
// (BOOT-18).
type Discovered struct {
	Sightings []Sighting `json:"sightings"`
	Next
}

// Sighting is a MAC that asked to boot (BOOT-10).
type Sighting struct {
	MAC            string    `json:"mac"`
	Product        string    `json:"product_uuid,omitempty" doc:"as sent"`
	ProductSwapped string    `json:"product_uuid_swapped,omitempty" doc:"in the other byte order"`
	Arch           int       `json:"arch,omitempty" doc:"client architecture, DHCP option 93"`
	FirstSeen      time.Time `json:"first_seen"`
	LastSeen       time.Time `json:"last_seen"`
	Count          uint64    `json:"count" doc:"summed over booters"`
	Relays         []string  `json:"relays,omitempty"`
	Booters        []string  `json:"booters,omitempty" doc:"that reported it"`
	Node           string    `json:"node_id,omitempty" doc:"that owns the MAC"`
	CandidateFor   string    `json:"candidate_for,omitempty" doc:"node that awaits it"`
}

// Policy is a site's configuration of booting and enrolling.
type Policy struct {
	AutoEnroll      bool     `json:"auto_enroll" doc:"admit machines that are not known (BOOT-7)"`
	Allow           []string `json:"allow,omitempty" maxItems:"4096" doc:"service tags and MAC prefixes; empty admits all"`
	Network         string   `json:"network,omitempty" maxLength:"43" doc:"admin network, such as 10.0.0.0/24"`
	Gateway         string   `json:"gateway,omitempty" maxLength:"39"`
	Server          string   `json:"server,omitempty" maxLength:"39" doc:"the booter's own address"`
	Exclude         []string `json:"exclude,omitempty" maxItems:"4096" doc:"addresses never given out"`
	EnrollmentImage string   `json:"enrollment_image,omitempty" maxLength:"64"`
	RescueImage     string   `json:"rescue_image,omitempty" maxLength:"64"`
	AnswerOnlyPXE   bool     `json:"answer_only_pxe"`
	ClearBundles    bool     `json:"clear_bundles,omitempty" doc:"stock agents may get their bundle in clear (SET-17)"`
	MaxUnapproved   int      `json:"max_unapproved,omitempty" minimum:"0" doc:"0: default, 10,000"`
	MaxDiscovered   int      `json:"max_discovered,omitempty" minimum:"0" doc:"0: default, 10,000"`

	Deadlines map[string]Duration `json:"deadlines,omitempty" maxProperties:"32" doc:"own deadlines by state or run (MACH-5)"`
}

// PolicyView is the policy with its version.
type PolicyView struct {
	Policy  Policy `json:"policy"`
	Version uint64 `json:"version"`
}

// SetPolicy is the input of policy.set. The policy is replaced whole.
type SetPolicy struct {
	Change
	Body Policy
}

// PolicyChanged is the policy after a change.
type PolicyChanged struct {
	Outcome
	PolicyView
}

// Window is open until its end, for a number of slots where it has a budget.
type Window struct {
	Kind  string    `json:"kind" doc:"auto-approve or enroll"`
	Open  bool      `json:"open"`
	Ends  time.Time `json:"ends,omitzero" doc:"the real end, clamped to 24 h"`
	Slots *int      `json:"slots,omitempty" doc:"left; absent: no budget"`
}

// Windows are the site's windows.
type Windows struct {
	Windows []Window `json:"windows"`
}

// OpenWindow is the input that opens a window (REG-7, REG-10).
type OpenWindow struct {
	Change
	Body struct {
		Ends  time.Time `json:"ends" doc:"wall time; more than 24 h away is clamped"`
		Slots int       `json:"slots,omitempty" minimum:"1" maximum:"1000000" doc:"how many machines; left out: any number"`
	}
}

// CloseWindow is the input that closes a window.
type CloseWindow struct{ Change }

// WindowChanged is a window after a change.
type WindowChanged struct {
	Outcome
	Window Window `json:"window"`
}
