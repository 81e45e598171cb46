package redfish

import (
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/bmc"
)

// serials are the names of a machine, best first: each once, none that was left
// as the factory's form has it.
func (s *Session) serials(d doc) []bmc.Serial {
	keys := []string{"SerialNumber"}
	if s.has(SerialIsSKU) {
		keys = []string{"SKU", "SerialNumber"}
	}
	var out []bmc.Serial
	for _, k := range keys {
		v := d.str(k)
		known := slices.ContainsFunc(out, func(o bmc.Serial) bool { return o.Value == v })
		if !blank(v) && !known {
			out = append(out, bmc.Serial{Value: v, Source: bare(s.host.path) + "#" + k})
		}
	}
	return out
}

// blank reports whether a serial number is none: what the recorded trees and
// SMBIOS tables hold where nobody wrote one.
func blank(v string) bool {
	v = strings.ToLower(strings.TrimSpace(v))
	if strings.Trim(v, "0. -_xf") == "" {
		return true
	}
	for _, none := range []string{"to be filled by o.e.m.", "to be filled by oem", "default string", "not specified", "not available", "none", "null", "n/a", "na", "unknown", "system serial number", "0123456789", "1234567890", "123456789", "empty", "undefined"} {
		if v == none {
			return true
		}
	}
	return strings.HasPrefix(v, "0123456789")
}
