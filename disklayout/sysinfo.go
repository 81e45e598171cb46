package disklayout

import (
	"encoding/json"
	"unicode/utf8"
)

// MaxSysinfo bounds an announced JSON object, in bytes (REG-9).
const MaxSysinfo = 256 << 10

// maxEntries bounds the signatures of one disk, and its partitions.
const maxEntries = 1024

// ParseDisks reads the member "disks" of an announced sysinfo; the package's
// comment has the form. Members that it does not know are ignored. Refused, as
// [Malformed]: what is no JSON object of at most [MaxSysinfo]
// bytes in UTF-8, no member "disks", over
// [MaxDisks] of them, a name twice in one object, a value of
// another type, texts over [MaxText] bytes or with control characters. Names
// count as they are written: Disks is not disks.
//
// Texts come back without padding. Null is the same as left out, but for
// "disks" itself.
func ParseDisks(sysinfo []byte) ([]Disk, error) {
	switch {
	case len(sysinfo) > MaxSysinfo:
		return nil, malformed("", "is over 256 KiB")
	case !utf8.Valid(sysinfo):
		return nil, malformed("", "is not UTF-8")
	}
	var disks []Disk
	err := object(sysinfo, "", func(name, path string, raw json.RawMessage) (err error) {
		if name == "disks" {
			disks, err = list(raw, path, MaxDisks, parseDisk)
		}
		return err
	})
	if err == nil && disks == nil {
		err = malformed("disks", "is missing; a machine without disks announces []")
	}
	if err != nil {
		return nil, err
	}
	return disks, nil
}

// parseDisk reads one entry. What it does not say counts against the disk.
func parseDisk(path string, raw json.RawMessage) (Disk, error) {
	d := Disk{Removable: true, ReadOnly: true}
	err := object(raw, path, func(name, path string, raw json.RawMessage) error {
		if string(raw) == "null" {
			return nil
		}
		if done, err := d.set(name, path, raw); done {
			return err
		}
		return d.setMeasure(name, path, raw)
	})
	return d, err
}

// set takes the members that say which disk it is and what it holds.
func (d *Disk) set(name, path string, raw json.RawMessage) (done bool, err error) {
	switch name {
	case "name":
		err = text(raw, path, &d.Name)
	case "serial":
		err = text(raw, path, &d.Serial)
	case "wwn":
		err = text(raw, path, &d.WWN)
	case "model":
		err = text(raw, path, &d.Model)
	case "transport":
		err = text(raw, path, &d.Transport)
	case "signatures":
		d.Signatures, err = list(raw, path, maxEntries, parseSignature)
	case "partitions":
		d.Partitions, err = list(raw, path, maxEntries, parsePartition)
	default:
		return false, nil
	}
	return true, err
}

// setMeasure takes the members that are numbers and flags.
func (d *Disk) setMeasure(name, path string, raw json.RawMessage) error {
	switch name {
	case "size":
		return number(raw, path, &d.Size)
	case "logical_sector":
		return small(raw, path, &d.LogicalSector)
	case "physical_sector":
		return small(raw, path, &d.PhysicalSector)
	case "rotational":
		d.Rotational = new(bool)
		return boolean(raw, path, d.Rotational)
	case "removable":
		return boolean(raw, path, &d.Removable)
	case "read_only":
		return boolean(raw, path, &d.ReadOnly)
	}
	return nil
}

func parseSignature(path string, raw json.RawMessage) (Signature, error) {
	var s Signature
	err := object(raw, path, func(name, path string, raw json.RawMessage) error {
		if string(raw) == "null" {
			return nil
		}
		switch name {
		case "type":
			return text(raw, path, &s.Type)
		case "offset":
			return number(raw, path, &s.Offset)
		case "label":
			return text(raw, path, &s.Label)
		case "uuid":
			return text(raw, path, &s.UUID)
		case "stamp":
			return text(raw, path, &s.Stamp)
		}
		return nil
	})
	if err == nil && s.Type == "" {
		err = malformed(path+".type", "is missing")
	}
	return s, err
}

func parsePartition(path string, raw json.RawMessage) (Partition, error) {
	var p Partition
	err := object(raw, path, func(name, path string, raw json.RawMessage) error {
		if string(raw) == "null" {
			return nil
		}
		switch name {
		case "number":
			return small(raw, path, &p.Number)
		case "start":
			return number(raw, path, &p.Start)
		case "size":
			return number(raw, path, &p.Size)
		case "type":
			return text(raw, path, &p.Type)
		case "uuid":
			return text(raw, path, &p.UUID)
		case "label":
			return text(raw, path, &p.Label)
		}
		return nil
	})
	return p, err
}
