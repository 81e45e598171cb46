package bmc

// A Feature is one thing that a machine may be able to do out of band.
type Feature string

// The features. Each names the interface and, after a dot, the part of it.
const (
	PowerState     Feature = "power.state"
	PowerOn        Feature = "power.on"
	PowerOff       Feature = "power.off"
	PowerGraceful  Feature = "power.graceful-off"
	PowerReset     Feature = "power.reset"
	PowerNMI       Feature = "power.nmi"
	BootOnce       Feature = "boot.once"
	BootPersistent Feature = "boot.persistent"
	BootHTTP       Feature = "boot.http" // a target that takes a URI
	MediaInsert    Feature = "media.insert"
	ReadInventory  Feature = "inventory.read"
	ReadMACs       Feature = "inventory.macs"
	ReadHealth     Feature = "health.read"
	ReadFirmware   Feature = "firmware.read"
	RotateAccount  Feature = "accounts.rotate"
	ReadEvents     Feature = "events.read"
)

// Features are all of them.
func Features() []Feature {
	return []Feature{
		PowerState, PowerOn, PowerOff, PowerGraceful, PowerReset, PowerNMI, BootOnce, BootPersistent, BootHTTP,
		MediaInsert, ReadInventory, ReadMACs, ReadHealth, ReadFirmware, RotateAccount, ReadEvents,
	}
}

// Support says how far a feature is there.
type Support struct {
	Level Level
	Why   string // of Emulated, how; of Unsupported, the reason: not listed, licence, lockdown
}

// A Level is how a feature is had.
type Level string

// The levels.
const (
	Native      Level = "native"
	Emulated    Level = "emulated" // by other means, which Why names
	Unsupported Level = "unsupported"
)

// Of returns what p says of f: Unsupported, "not reported", where it says nothing.
func (p *Probed) Of(f Feature) Support {
	if s, ok := p.Supports[f]; ok {
		return s
	}
	return Support{Unsupported, "not reported"}
}
