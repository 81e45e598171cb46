package disklayout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A seen is an announced disk, and what is known of it among the others.
type seen struct {
	*Disk
	serial, wwn string // canonical
	barred      Reason // it is never a candidate
	flaw        Reason // it is one, and cannot be written
	taken       bool   // a selector found it
}

// called is what people know the disk by: its serial, or its kernel name.
func (d *seen) called() string { return or(d.serial, d.Name) }

// announced is the serial as it was announced, but for padding.
func (d *seen) announced() string { return trim(d.Serial) }

// survey looks at all disks at once, in an order that does not depend on the
// announcement's: by identity, size and model. Names come last.
func survey(disks []Disk) ([]seen, error) {
	if len(disks) > MaxDisks {
		return nil, refuse(TooManyDisks, nil, fmt.Sprintf("%d disks are announced", len(disks)))
	}
	out := make([]seen, len(disks))
	for i := range disks {
		d := &disks[i]
		out[i] = seen{Disk: d, serial: CanonicalSerial(d.Serial), wwn: CanonicalWWN(d.WWN), barred: barred(d)}
	}
	slices.SortFunc(out, func(a, b seen) int { return a.compare(&b) })
	for i := range out {
		out[i].flaw = flaw(out, i)
	}
	return out, nil
}

func (d *seen) compare(o *seen) int {
	if c := strings.Compare(d.serial, o.serial); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(d.wwn, o.wwn), cmp.Compare(d.Size, o.Size), strings.Compare(d.Model, o.Model),
		strings.Compare(string(d.barred), string(o.barred)), strings.Compare(d.Name, o.Name))
}

// barred is why a disk is no candidate, or "": install media, virtual media and
// sticks must not make a selector ambiguous, nor be written (RUN-4, DISK-3).
func barred(d *Disk) Reason {
	switch {
	case d.Size == 0:
		return NoMedium
	case d.Removable:
		return Removable
	case strings.EqualFold(trim(d.Transport), "usb"):
		return USB
	case d.ReadOnly:
		return ReadOnly
	}
	return ""
}

// flaw is why the i-th disk, in order, cannot be written whatever the layout,
// or "". Whoever has its serial stands beside it.
func flaw(all []seen, i int) Reason {
	d := &all[i]
	switch {
	case d.serial == "":
		return NoSerial
	case !d.texts():
		return TextInvalid
	}
	for _, n := range []int{i - 1, i + 1} {
		if n < 0 || n >= len(all) || all[n].serial != d.serial {
			continue
		}
		if d.wwn != "" && d.wwn == all[n].wwn {
			return ManyPaths
		}
		return DuplicateSerial
	}
	switch {
	case trim(d.Transport) == "":
		return TransportUnknown
	case d.Signatures == nil:
		return NotProbed
	}
	return d.measures()
}

// texts reports whether all that the plan would carry of d is bounded.
func (d *seen) texts() bool {
	if !printable(d.Serial) || !printable(d.WWN) || !printable(d.Model) || !printable(d.Transport) || !printable(d.Name) {
		return false
	}
	for _, s := range d.Signatures {
		if !printable(s.Type) || !printable(s.Label) || !printable(s.UUID) || !printable(s.Stamp) {
			return false
		}
	}
	for _, p := range d.Partitions {
		if !printable(p.Type) || !printable(p.UUID) || !printable(p.Label) {
			return false
		}
	}
	return true
}

// measures checks sectors and size: a GPT and a pool are laid out in whole
// sectors of 512 or 4096 bytes.
func (d *seen) measures() Reason {
	logical, physical := d.LogicalSector, d.PhysicalSector
	switch {
	case logical == 0 || physical == 0:
		return SectorUnknown
	case logical != 512 && logical != 4096 || physical < logical || physical > MiB || physical&(physical-1) != 0:
		return SectorUnsupported
	case d.Size > MaxSize || d.Size%uint64(logical) != 0:
		return SizeAbsurd
	}
	return ""
}

// explain is the refusal of a disk for a reason that lies in it alone.
func (d *seen) explain(r Reason) *Refused {
	why := map[Reason]string{
		NoMedium:         "its size is 0",
		Removable:        "it is removable",
		USB:              "it is on USB",
		ReadOnly:         "it is read-only",
		NoSerial:         "its serial is missing or a placeholder",
		TextInvalid:      "what it says of itself is too long or not plain text",
		DuplicateSerial:  "another disk of the machine has its serial",
		ManyPaths:        "it is announced more than once, with equal serial and WWN",
		TransportUnknown: "nobody said what it is attached to",
		NotProbed:        "nobody looked for signatures on it",
		SectorUnknown:    "its sector sizes are not announced",
	}[r]
	switch r {
	case SectorUnsupported:
		why = fmt.Sprintf("its sectors are %d bytes logical, %d physical", d.LogicalSector, d.PhysicalSector)
	case SizeAbsurd:
		why = fmt.Sprintf("its size is %d bytes in sectors of %d", d.Size, d.LogicalSector)
	}
	return refuse(r, d, why)
}
