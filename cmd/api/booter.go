package api

import "time"

// BootSnapshot is all that a booter needs to answer machines by itself. It keeps
// it, and follows the changes from Revision on.
type BootSnapshot struct {
	Incarnation string       `json:"incarnation" doc:"of the store; another one means that nothing here is newer or older"`
	Revision    uint64       `json:"revision"`
	Policy      Policy       `json:"policy"`
	Boots       []ServedBoot `json:"boots"`
}

// ServedBoot is a boot record as the booter needs it.
type ServedBoot struct {
	BootRecord
	Networking map[string]string `json:"networking,omitempty"`
	RootSet    bool              `json:"root_password_set,omitempty" doc:"an enrolled machine has a root password, which it gets by its own session, and no booter (BOOT-3)"`
}

// BootChanges is the input of booter.changes.
type BootChanges struct {
	LongPoll
	Incarnation string `query:"incarnation" required:"true" minLength:"1" maxLength:"64" pattern:"^[0-9A-Za-z_-]+$" doc:"of the snapshot that is held"`
	Revision    uint64 `query:"revision" doc:"that is held"`
}

// BootDelta is what changed since the revision that the booter holds.
type BootDelta struct {
	Incarnation string       `json:"incarnation"`
	Revision    uint64       `json:"revision"`
	Reset       bool         `json:"reset,omitempty" doc:"what is held is too old or another store's: take a snapshot"`
	Policy      *Policy      `json:"policy,omitempty" doc:"where it changed"`
	Put         []ServedBoot `json:"put,omitempty"`
	Delete      []string     `json:"delete,omitempty" doc:"MACs whose record is gone"`
}

// ReportSightings is the input of booter.sightings (BOOT-10). It holds all that
// the booter remembers, and replaces what it reported before.
type ReportSightings struct {
	Body struct {
		Booter    string     `json:"booter" minLength:"1" maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$"`
		Sightings []SeenBoot `json:"sightings" maxItems:"256"`
	}
}

// SeenBoot is one booter's sightings of a MAC.
type SeenBoot struct {
	MAC       string    `json:"mac" maxLength:"17" pattern:"^[0-9a-f]{2}(:[0-9a-f]{2}){5}$"`
	Product   string    `json:"product_uuid,omitempty" maxLength:"36" doc:"as sent"`
	Arch      int       `json:"arch,omitempty" minimum:"0" maximum:"65535"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Count     uint64    `json:"count"`
	Relay     string    `json:"relay,omitempty" maxLength:"39"`
}

// Admission says what became of a sighting.
type Admission struct {
	MAC   string `json:"mac"`
	State string `json:"state" doc:"of its boot record"`
	Code  string `json:"code,omitempty" doc:"of API-3, where it was not admitted"`
	Why   string `json:"why,omitempty"`
}

// SightingsTaken is the answer to a report of sightings.
type SightingsTaken struct {
	Revision   uint64      `json:"revision"`
	Admissions []Admission `json:"admissions,omitempty" doc:"of MACs that are new or may be admitted"`
}

// ReportBoots is the input of booter.boots: what was served, or why nothing was.
type ReportBoots struct {
	Body struct {
		Booter string       `json:"booter" minLength:"1" maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$"`
		Boots  []ServedOnce `json:"boots" maxItems:"256"`
		Staged []string     `json:"staged" maxItems:"1024" doc:"images that it can serve, whole and checked; replaces what it said before"`
		Disks  []string     `json:"disks,omitempty" maxItems:"1024" doc:"disk images that it can serve, each sha256: and its digest; replaces too"`
	}
}

// ServedOnce is one answer, or silence, of a booter.
type ServedOnce struct {
	MAC     string    `json:"mac" maxLength:"17" pattern:"^[0-9a-f]{2}(:[0-9a-f]{2}){5}$"`
	Time    time.Time `json:"time"`
	Stage   string    `json:"stage" maxLength:"32" pattern:"^[a-z0-9-]+$" doc:"dhcp, tftp, http, script or image"`
	Image   string    `json:"image,omitempty" maxLength:"64"`
	Silence string    `json:"silence,omitempty" maxLength:"64" pattern:"^[a-z0-9-]+$" doc:"reason why nothing was answered (BOOT-6)"`
	Count   uint64    `json:"count,omitempty"`
}

// BootsTaken is the answer to a report of boots.
type BootsTaken struct {
	Taken int `json:"taken"`
}
