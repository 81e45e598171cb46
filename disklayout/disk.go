package disklayout

import "strings"

// A Disk is one disk as a machine announced it. Its JSON form is an entry of
// "disks"; see the package's comment.
type Disk struct {
	Name           string `json:"name"`             // kernel name, such as sda: a hint, it moves from boot to boot
	Serial         string `json:"serial,omitempty"` // what the disk is known by
	WWN            string `json:"wwn,omitempty"`
	Model          string `json:"model,omitempty"`
	Size           uint64 `json:"size"`                      // bytes
	LogicalSector  uint32 `json:"logical_sector,omitempty"`  // bytes; 0: unknown
	PhysicalSector uint32 `json:"physical_sector,omitempty"` // bytes; 0: unknown
	Rotational     *bool  `json:"rotational,omitempty"`      // nil: unknown
	Removable      bool   `json:"removable"`
	Transport      string `json:"transport,omitempty"` // such as sata, sas, nvme, virtio, usb; empty: unknown
	ReadOnly       bool   `json:"read_only"`
	// Signatures are what was found on the disk and in its partitions. Nil says
	// that nobody looked, which is not the same as empty.
	Signatures []Signature `json:"signatures,omitzero"`
	Partitions []Partition `json:"partitions,omitempty"`
}

// A Signature is a place at which something says what a disk holds.
type Signature struct {
	Type   string `json:"type"`   // as libblkid names it: gpt, zfs_member, ext4
	Offset uint64 `json:"offset"` // bytes from the start of the disk
	Label  string `json:"label,omitempty"`
	UUID   string `json:"uuid,omitempty"`
	Stamp  string `json:"stamp,omitempty"` // text of the Stamp found with it
}

// A Partition is an entry of a table that is on a disk.
type Partition struct {
	Number uint32 `json:"number"`
	Start  uint64 `json:"start"` // bytes from the start of the disk
	Size   uint64 `json:"size"`  // bytes
	Type   string `json:"type,omitempty"`
	UUID   string `json:"uuid,omitempty"`
	Label  string `json:"label,omitempty"`
}

// CanonicalSerial is the form in which two serials are compared: padding is
// gone, and each run of spaces and underscores is one underscore, since udev
// keeps spaces for NVMe and writes underscores for SCSI. A placeholder, such as
// "unknown" or all zeros, is no serial: it is "".
func CanonicalSerial(s string) string {
	s = fold(s)
	if placeholder(s) {
		return ""
	}
	return s
}

// CanonicalWWN is the form in which two WWNs are compared: lower case, without
// the prefixes that tools put before it (0x, naa., eui., wwn-). A placeholder
// is "".
func CanonicalWWN(s string) string {
	s = strings.ToLower(fold(s))
	for _, prefix := range []string{"wwn-", "naa.", "eui.", "0x"} {
		s = strings.TrimPrefix(s, prefix)
	}
	if placeholder(s) {
		return ""
	}
	return s
}

// padding is what devices fill fixed fields with.
const padding = " \t\r\n\x00"

// trim takes padding away at both ends.
func trim(s string) string {
	if s == "" || !padded(s[0]) && !padded(s[len(s)-1]) {
		return s
	}
	return strings.Trim(s, padding)
}

func padded(c byte) bool { return c <= ' ' && strings.IndexByte(padding, c) >= 0 }

// fold trims padding and makes each run of spaces and underscores one
// underscore.
func fold(s string) string {
	s = trim(s)
	if strings.IndexByte(s, ' ') < 0 && strings.IndexByte(s, '_') < 0 {
		return s
	}
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '_' }), "_")
}

// placeholders are what firmware writes where a number was never set.
var placeholders = []string{
	"unknown", "none", "null", "n/a", "na", "serial", "no_serial", "not_specified", "not_available",
	"default_string", "to_be_filled_by_o.e.m.", "system_serial_number",
}

// placeholder reports whether s names no disk: empty, a phrase of firmware, or
// nothing but zeros, Fs or punctuation.
func placeholder(s string) bool {
	for _, p := range placeholders {
		if len(s) == len(p) && strings.EqualFold(s, p) {
			return true
		}
	}
	return only(s, "0-_.: ") || only(s, "fF-_.: ")
}

// only reports whether every byte of s is one of set.
func only(s, set string) bool {
	for i := range len(s) {
		if strings.IndexByte(set, s[i]) < 0 {
			return false
		}
	}
	return true
}

// printable bounds a string that a plan carries: at most MaxText bytes, no
// control characters.
func printable(s string) bool {
	return len(s) <= MaxText && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || 0x80 <= r && r < 0xa0 })
}
