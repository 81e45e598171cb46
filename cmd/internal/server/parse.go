package server

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// A Refused is a call that the server itself does not take. Nothing changed.
type Refused struct {
	code string
	Why  string
	next string
}

// Code is the error's wire name (API-3).
func (e *Refused) Code() string { return e.code }

// Error says why.
func (e *Refused) Error() string { return e.Why }

// Next is what to do.
func (e *Refused) Next() string { return e.next }

func refused(code, why, next string) *Refused { return &Refused{code, why, next} }

// invalid refuses an input. It never carries the input.
func invalid(field, want string) *Refused {
	return refused("INVALID_INPUT", field+": want "+want, "mend it and call again")
}

// absent refuses what names nothing that the caller may see.
func absent(what, list string) *Refused {
	return refused("NOT_FOUND", "there is no such "+what, list+" names those that there are")
}

// serverID reads a server UUID.
func serverID(s string) (registration.ServerID, error) { return registration.ParseServerID(s) }

// mac reads a MAC address, also without marks between its octets.
func mac(text string) (netboot.MAC, error) {
	if len(text) == 12 {
		var octets []string
		for i := 0; i < len(text); i += 2 {
			octets = append(octets, text[i:i+2])
		}
		text = strings.Join(octets, ":")
	}
	return netboot.ParseMAC(text)
}

// macs reads MAC addresses.
func macs(field string, all []string) ([]registration.MAC, error) {
	out := make([]registration.MAC, 0, len(all))
	for i, text := range all {
		m, err := netboot.ParseMAC(text)
		if err != nil {
			return nil, invalid(fmt.Sprintf("%s[%d]", field, i), "a MAC address")
		}
		out = append(out, registration.MAC(m))
	}
	return out, nil
}

// hash reads a SHA-256 in hexadecimal; none is the zero hash.
func hash(field, text string) (registration.Hash, error) {
	var h registration.Hash
	if text == "" {
		return h, nil
	}
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(h) {
		return h, invalid(field, "64 hexadecimal digits")
	}
	copy(h[:], raw)
	return h, nil
}

// addr reads an IP address; none is the zero one.
func addr(field, text string) (netip.Addr, error) {
	if text == "" {
		return netip.Addr{}, nil
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Addr{}, invalid(field, "an IP address")
	}
	return a, nil
}

// plainURL is an image's URL as the log may have it: without its query, which may be
// a token. One with a user is refused.
func plainURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", invalid("body.image", "an http or https URL without a user")
	}
	u.RawQuery, u.Fragment = "", ""
	return u.String(), nil
}
