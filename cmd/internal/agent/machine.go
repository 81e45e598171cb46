package agent

import (
	"encoding/json"
	"log/slog"
	"maps"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
	"github.com/ingotmetal/ingot/liveness/session"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// A Machine is the machine that the agent runs on. Its methods are called by several
// goroutines.
type Machine interface {
	UUID() (string, error) // SMBIOS product UUID
	NICs() ([]NIC, error)
	Disks() ([]apply.Source, error)
	// Facts are further members of the sysinfo; they must be JSON.
	Facts() map[string]any
	SetClock(time.Time) error
	// Restart begins a restart. It may return before that takes effect.
	Restart() error
}

// A NIC is a network interface with an address of its own.
type NIC struct {
	Name string `json:"name"`
	MAC  string `json:"mac"`
}

// who reads the machine's UUID, which must be one (REG-9): as its firmware says it,
// and in the byte order in which plans and stamps name it (EDGE-13).
func who(m Machine) (string, disklayout.UUID, error) {
	text, err := m.UUID()
	if err != nil {
		return "", disklayout.UUID{}, &Unidentified{err.Error()}
	}
	text = strings.ToLower(strings.TrimSpace(text))
	var u disklayout.UUID
	if err := u.UnmarshalText([]byte(text)); err != nil {
		return "", u, &Unidentified{"its firmware gives no UUID"}
	}
	if placeholder(text) {
		return "", u, &Unidentified{"its firmware gives the placeholder " + text + ", which other machines give too"}
	}
	return text, disklayout.UUID(registration.ServerID(u).Key()), nil
}

func placeholder(uuid string) bool {
	digits := strings.ReplaceAll(uuid, "-", "")
	return strings.Trim(digits, "0") == "" || strings.Trim(digits, "f") == "" || uuid == "03000200-0400-0500-0006-000700080009"
}

// macs are the addresses of a hello.
func macs(m Machine) ([]string, error) {
	nics, err := m.NICs()
	if err != nil {
		return nil, &Unidentified{"its network interfaces cannot be listed: " + err.Error()}
	}
	out := []string{}
	for _, n := range nics {
		if len(out) < session.MaxMACs {
			out = append(out, n.MAC)
		}
	}
	return out, nil
}

// sysinfo is the machine's inventory in the announced form: equal inventories have
// equal bytes.
func sysinfo(m Machine, uuid string, log *slog.Logger) (json.RawMessage, error) {
	sources, err := m.Disks()
	if err != nil {
		return nil, &Unidentified{"its disks cannot be listed: " + err.Error()}
	}
	disks, missed := apply.Inventory(sources)
	for _, e := range missed {
		log.Warn("a disk is announced as one that nobody looked at", "error", e)
	}
	nics, err := m.NICs()
	if err != nil {
		return nil, &Unidentified{"its network interfaces cannot be listed: " + err.Error()}
	}
	all := map[string]any{}
	maps.Copy(all, m.Facts())
	all["uuid"], all["disks"], all["nics"] = uuid, orEmpty(disks), orEmpty(nics)
	raw, err := json.Marshal(all)
	if err != nil {
		return nil, &Unidentified{"its facts are no JSON"}
	}
	if len(raw) > session.MaxSysinfo {
		return nil, &Unidentified{"its inventory has more than 256 KiB; take disks out"}
	}
	return raw, nil
}

// orEmpty makes a list that JSON writes as one.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
