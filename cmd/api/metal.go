package api

import (
	"encoding/json"
	"time"
)

// Metal is how a node is reached out of band. It says whether credentials are set,
// and never what they are (PROV-14).
type Metal struct {
	BMC            string    `json:"bmc" doc:"address of the BMC"`
	System         string    `json:"system,omitempty" doc:"which machine behind the BMC"`
	Driver         string    `json:"driver,omitempty"`
	Trust          string    `json:"trust" doc:"roots, ca, pin, first-use or insecure"`
	Pin            string    `json:"bmc_pin,omitempty" doc:"of the BMC's key"`
	Options        string    `json:"options,omitempty" doc:"the driver's, a JSON object"`
	CredentialsSet bool      `json:"credentials_set"`
	Serviced       bool      `json:"serviced" doc:"credentials are set and a site agent serves it"`
	Addresses      []string  `json:"addresses,omitempty"`
	Power          PowerSeen `json:"power,omitzero" doc:"what the BMC said when it was last asked"`
}

// PowerSeen is what a BMC said of its machine's power.
type PowerSeen struct {
	State string    `json:"state" doc:"on, off, powering-on, powering-off, paused or unknown"`
	At    time.Time `json:"at"`
	Error string    `json:"error,omitempty" doc:"why the BMC did not say"`
}

// EnrollMetal is the input of metal.enroll (PROV-9, PROV-17).
type EnrollMetal struct {
	Change
	Body struct {
		BMC         string          `json:"bmc" maxLength:"128" doc:"URL of the BMC: https://HOST or https://HOST:PORT"`
		System      string          `json:"system,omitempty" maxLength:"100" doc:"which machine, where the BMC has several"`
		Driver      string          `json:"driver,omitempty" maxLength:"32" doc:"that speaks to the BMC; default redfish"`
		Options     json.RawMessage `json:"options,omitempty" doc:"the driver's, a JSON object of at most 1 KiB without credentials"`
		CA          string          `json:"ca,omitempty" maxLength:"16384" doc:"PEM certificates that sign the BMC"`
		Pin         string          `json:"bmc_pin,omitempty" maxLength:"64" doc:"of the BMC's key: sha256/ and base64"`
		FirstUse    bool            `json:"first_use,omitempty" doc:"trust whoever answers first, and that one from then on"`
		Insecure    bool            `json:"insecure,omitempty" doc:"trust whoever answers, each time"`
		Credentials string          `json:"credentials,omitempty" maxLength:"512" doc:"a reference: secret://KIND/NAME"`
		Username    string          `json:"username,omitempty" maxLength:"256" doc:"of the BMC's account, instead of a reference"`
		Password    Secret          `json:"password,omitempty" maxLength:"512" doc:"of the BMC's account; it goes to the secret broker"`
		MACs        []string        `json:"macs,omitempty" maxItems:"256" doc:"of the machine's NICs"`
		Product     string          `json:"product_uuid,omitempty" maxLength:"36" doc:"SMBIOS product UUID, in either byte order"`
		Addresses   []string        `json:"addresses,omitempty" maxItems:"16" doc:"of the machine"`
		RequestID   string          `json:"request_id,omitempty" maxLength:"128" pattern:"^[!-~]+$" doc:"the same again answers the same node"`
	}
}

// ConfirmMAC is the input of metal.confirm-mac (BOOT-17).
type ConfirmMAC struct {
	NodeChange
	Body struct {
		MAC string `json:"mac" maxLength:"17" doc:"that is the machine's"`
	}
}

// PowerNode is the input of node.power (PROV-7).
type PowerNode struct {
	NodeChange
	Body struct {
		Action    string `json:"action" enum:"on,off,graceful-off,reset,graceful-restart,cycle,nmi" doc:"what to do"`
		RequestID string `json:"request_id,omitempty" maxLength:"128" pattern:"^[!-~]+$" doc:"the command's ID; the same again answers the same command; left out: one is drawn"`
	}
}

// PowerCommand is a queued power command and how it ended.
type PowerCommand struct {
	ID      string    `json:"id"`
	Action  string    `json:"action"`
	Expires time.Time `json:"expires" doc:"it is not sent after this"`
	Done    bool      `json:"done"`
	Result  string    `json:"result,omitempty" doc:"how it ended: done, unchanged, failed, expired or cancelled, and more words"`
}

// PowerQueued answers node.power.
type PowerQueued struct {
	Outcome
	Command PowerCommand `json:"command"`
}

// PowerCommands are a node's commands whose IDs still stand, oldest first.
type PowerCommands struct {
	Commands []PowerCommand `json:"commands"`
}

// BootOverride is what a machine is told to boot.
type BootOverride struct {
	Target  string `json:"target" doc:"none, pxe, http, disk, cd, usb, setup, or as the BMC names it"`
	Life    string `json:"life,omitempty" doc:"once or persistent"`
	Mode    string `json:"mode,omitempty" doc:"uefi or legacy"`
	URI     string `json:"uri,omitempty"`
	Pending bool   `json:"pending,omitempty" doc:"it waits for the machine's next start"`
}

// SetBoot is the input of node.boot-set.
type SetBoot struct {
	NodeChange
	Body struct {
		Target string `json:"target" maxLength:"32" pattern:"^[A-Za-z0-9-]+$" doc:"pxe, http, disk, cd, usb, setup, or as the BMC names it"`
		Life   string `json:"life,omitempty" enum:"once,persistent" doc:"default once"`
		Mode   string `json:"mode,omitempty" enum:"uefi,legacy" doc:"default: as it is"`
		URI    string `json:"uri,omitempty" maxLength:"1024" doc:"of target http"`
	}
}

// BootSet answers what changes a boot override.
type BootSet struct {
	Outcome
	Boot BootOverride `json:"boot" doc:"as it stands"`
}

// MediaSlot is a virtual drive.
type MediaSlot struct {
	ID       string   `json:"id"`
	Types    []string `json:"types,omitempty"`
	TakesURL bool     `json:"takes_url"`
	Image    string   `json:"image,omitempty"`
	Inserted bool     `json:"inserted"`
}

// MediaSlots are the virtual drives of a machine.
type MediaSlots struct {
	Slots []MediaSlot `json:"slots"`
}

// InsertMedia is the input of node.media-insert.
type InsertMedia struct {
	NodeChange
	Body struct {
		Image   string `json:"image" maxLength:"1024" doc:"URL that the BMC can reach, without a user"`
		Slot    string `json:"slot,omitempty" maxLength:"128" doc:"default: the first that takes a CD by URL"`
		Running bool   `json:"running,omitempty" doc:"take the medium from a machine that runs"`
	}
}

// EjectMedia is the input of node.media-eject.
type EjectMedia struct {
	NodeChange
	Body struct {
		Slot    string `json:"slot" maxLength:"128" doc:"as node.media lists it"`
		Running bool   `json:"running,omitempty" doc:"take the medium from a machine that runs"`
	}
}

// MediaChanged answers what changes a virtual drive.
type MediaChanged struct {
	Outcome
	Slot MediaSlot `json:"slot"`
}

// BMCInventory is what a BMC knows of its machine.
type BMCInventory struct {
	Product   string     `json:"product_uuid,omitempty" doc:"as reported"`
	Fault     string     `json:"product_fault,omitempty" doc:"why the UUID names no machine"`
	Vendor    string     `json:"vendor,omitempty"`
	Model     string     `json:"model,omitempty"`
	Serial    string     `json:"serial,omitempty"`
	CPUs      int        `json:"cpus,omitempty"`
	MemoryMiB int64      `json:"memory_mib,omitempty"`
	NICs      []BMCNIC   `json:"nics,omitempty"`
	Drives    []BMCDrive `json:"drives,omitempty"`
	Missing   []string   `json:"missing,omitempty" doc:"what could not be read, and why"`
}

// BMCNIC is a port as a BMC reports it.
type BMCNIC struct {
	ID    string `json:"id"`
	MAC   string `json:"mac,omitempty"`
	Fault string `json:"fault,omitempty" doc:"why the address names no card"`
	Link  string `json:"link,omitempty"`
}

// BMCDrive is a disk as a BMC reports it.
type BMCDrive struct {
	ID     string `json:"id"`
	Model  string `json:"model,omitempty"`
	Serial string `json:"serial,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	Media  string `json:"media,omitempty"`
}

// BMCHealth is the BMC's own judgement.
type BMCHealth struct {
	Overall string    `json:"overall,omitempty" doc:"OK, Warning or Critical, as reported"`
	Parts   []BMCPart `json:"parts,omitempty" doc:"those that are not well"`
	At      time.Time `json:"at"`
}

// BMCPart is one thing that is not well.
type BMCPart struct {
	ID     string `json:"id"`
	Health string `json:"health"`
	State  string `json:"state,omitempty"`
}
