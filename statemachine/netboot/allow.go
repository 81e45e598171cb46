package netboot

import (
	"encoding/hex"
	"strings"
)

// Limits of an allow-list.
const (
	MaxAllow = 10_000 // entries: one for each machine of a large site
	MaxTag   = 64     // bytes of a service tag; SMBIOS strings in the field stay below
)

// AllowList says which MACs auto-enroll admits. The zero AllowList admits all
// (BOOT-7).
type AllowList struct {
	tags     []string // lower case
	prefixes []string // raw octets
}

// ParseAllow reads entries: a service tag, matched exactly but for case, or a
// MAC prefix of 1 to 6 whole octets, lower case, with colons (BOOT-19). What
// looks like a prefix but is not canonical is refused. An entry that could be
// either is a prefix.
func ParseAllow(entries []string) (AllowList, error) {
	if len(entries) > MaxAllow {
		return AllowList{}, &BadName{"allow-list", "", "at most 10,000 entries"}
	}
	var l AllowList
	for _, e := range entries {
		if err := l.add(e); err != nil {
			return AllowList{}, err
		}
	}
	return l, nil
}

// add reads one entry. A near miss is refused rather than taken for a tag: as one
// it would match nothing, and the machines it was written for would stay out.
func (l *AllowList) add(e string) error {
	if e == "" || len(e) > MaxTag || strings.ContainsFunc(e, unprintable) {
		return &BadName{"allow-list entry", e[:min(len(e), MaxTag)], "want 1 to 64 printable ASCII characters"}
	}
	octets, isPrefix := prefix(e)
	switch {
	case isPrefix:
		l.prefixes = append(l.prefixes, octets)
	case looksLikePrefix(e):
		return &BadName{"MAC prefix", e, "want 1 to 6 whole octets, lower case, with colons, such as 52:54:00"}
	default:
		l.tags = append(l.tags, strings.ToLower(e))
	}
	return nil
}

// unprintable also bars the space: an entry with one is two, or a slip.
func unprintable(r rune) bool { return r <= ' ' || r > '~' }

// prefix reads the canonical form. The octets are kept raw, so that a match is a
// comparison of bytes.
func prefix(e string) (string, bool) {
	parts := strings.Split(e, ":")
	if len(parts) > 6 || strings.ToLower(e) != e {
		return "", false
	}
	var octets []byte
	for _, p := range parts {
		b, err := hex.DecodeString(p)
		if err != nil || len(b) != 1 {
			return "", false
		}
		octets = append(octets, b[0])
	}
	return string(octets), true
}

// looksLikePrefix catches hexadecimal with separators: no service tag has
// colons, and one of two-digit groups with dashes is a mistake.
func looksLikePrefix(e string) bool {
	if strings.Contains(e, ":") {
		return true
	}
	_, ok := prefix(strings.ToLower(strings.ReplaceAll(e, "-", ":")))
	return ok
}

// Len is the number of entries that were read.
func (l AllowList) Len() int { return len(l.tags) + len(l.prefixes) }

// Admits reports whether the list admits mac. The tag is what inventory knows
// of the MAC, never what the machine says of itself; an empty tag matches no tag
// entry. It walks the whole list: a sighting is rare against a packet.
func (l AllowList) Admits(mac MAC, tag string) bool {
	if l.Len() == 0 {
		return true
	}
	for _, p := range l.prefixes {
		if strings.HasPrefix(string(mac[:]), p) {
			return true
		}
	}
	for _, t := range l.tags {
		if tag != "" && strings.EqualFold(t, tag) {
			return true
		}
	}
	return false
}
