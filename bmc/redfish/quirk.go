package redfish

import (
	"path"
	"slices"
	"strings"
)

// A Quirk is a deviation of some BMCs, as data.
type Quirk struct {
	Name   string
	Match  Match
	Effect Effect
	Source string // where it was reported or recorded
	Test   string // that shows what it does
}

// A Match selects machines by what they report. A pattern is a glob of
// [path.Match], compared without case; an empty one matches all.
type Match struct{ Vendor, Model, Firmware string }

// An Effect is what a quirk changes.
type Effect string

// The effects.
const (
	SerialIsSKU   Effect = "serial-is-sku"   // the SKU names the machine best: a service tag
	SendMode      Effect = "send-mode"       // a boot override is sent with its mode
	OffIsGraceful Effect = "off-is-graceful" // ResetType Off asks the operating system
	BusyAfterOff  Effect = "busy-after-off"  // On is refused by 409 for some seconds after off
	OldBootNames  Effect = "old-boot-names"  // boot targets of before the schema had them
	SlotsByName   Effect = "slots-by-name"   // RDOC and Remote slots take no URL

)

// Quirks are all that the driver knows.
func Quirks() []Quirk {
	return []Quirk{
		{"dell-service-tag", Match{Vendor: "dell*"}, SerialIsSKU, "recorded trees of PowerEdge R750: SKU holds the service tag", "TestQuirkSerialIsSKU"},
		{"supermicro-boot-mode", Match{Vendor: "super*micro*"}, SendMode, "DMTF/Redfishtool#106, ironcore-dev/metal-operator#982", "TestQuirkSendMode"},
		{"dell-409-after-off", Match{Vendor: "dell*"}, BusyAfterOff, "openstack/ironic release note on iDRAC10 and 409", "TestQuirkBusyAfterOff"},
		{"supermicro-old-boot-names", Match{Vendor: "super*micro*"}, OldBootNames, "recorded tree of an X10SDV: CD/DVD, UsbKey, UefiCd", "TestQuirkOldBootNames"},
		{"cray-off", Match{Model: "hpe cray ex*"}, OffIsGraceful, "Cray-HPE/hms-power-control, internal/domain/transitions.go: soft-off falls back to Off; recorded trees of EX420 and EX235n", "TestQuirkOffIsGraceful"},
		{"lenovo-slot-names", Match{Vendor: "lenovo*"}, SlotsByName, "lenovo/python-redfish-lenovo#21", "TestQuirkSlotsByName"},
	}
}

// match reports whether a quirk is one of a machine.
func (m Match) match(vendor, model, firmware string) bool {
	return glob(m.Vendor, vendor) && glob(m.Model, model) && glob(m.Firmware, firmware)
}

func glob(pattern, s string) bool {
	if pattern == "" {
		return true
	}
	// A slash is a character like others here.
	flat := strings.NewReplacer("/", "_")
	ok, err := path.Match(flat.Replace(strings.ToLower(pattern)), flat.Replace(strings.ToLower(s)))
	return err == nil && ok
}

// quirksOf are those that apply.
func quirksOf(vendor, model, firmware string) []Quirk {
	var out []Quirk
	for _, q := range Quirks() {
		if q.Match.match(vendor, model, firmware) {
			out = append(out, q)
		}
	}
	return out
}

func (s *Session) has(e Effect) bool {
	return slices.ContainsFunc(s.quirks, func(q Quirk) bool { return q.Effect == e })
}
