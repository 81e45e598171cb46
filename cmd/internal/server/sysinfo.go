package server

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// sysinfo is what a machine says of itself (REG-9).
type sysinfo struct {
	raw   []byte
	disks []disklayout.Disk
	registration.Inventory
}

// parseSysinfo reads and checks a sysinfo of one machine. A "uuid" in it must be
// that machine's.
func parseSysinfo(raw []byte, server registration.ServerID) (sysinfo, error) {
	disks, err := disklayout.ParseDisks(raw)
	if err != nil {
		return sysinfo{}, err
	}
	var rest struct {
		UUID *string `json:"uuid"`
		NICs []struct {
			MAC string `json:"mac"`
		} `json:"nics"`
	}
	if err := json.Unmarshal(raw, &rest); err != nil {
		return sysinfo{}, invalid("sysinfo", `an object whose "uuid" is text and whose "nics" are objects with a "mac"`)
	}
	if rest.UUID != nil {
		own, err := registration.ParseServerID(*rest.UUID)
		if err != nil || own.Key() != server.Key() {
			return sysinfo{}, invalid("sysinfo.uuid", "the server UUID that the call is about (REG-9)")
		}
	}
	s := sysinfo{raw: raw, disks: disks, Inventory: registration.Inventory{Digest: sha256.Sum256(raw)}}
	for _, nic := range rest.NICs {
		mac, err := netboot.ParseMAC(nic.MAC)
		if err != nil {
			return sysinfo{}, invalid("sysinfo.nics", `a MAC address in each "mac"`)
		}
		s.MACs = append(s.MACs, registration.MAC(mac))
	}
	for _, d := range disks {
		if d.Serial != "" {
			s.Serials = append(s.Serials, d.Serial)
		}
	}
	return s, nil
}
