package disklayout

import (
	"cmp"
	"slices"
	"strings"
)

// shown is how many signatures of an unused disk are spelled out.
const shown = 4

// leave names every disk that no selector took, with the reason (DISK-1).
func (p *Plan) leave(all []seen) {
	p.Unused = make([]Unused, 0, len(all)-len(p.Disks))
	for i := range all {
		d := &all[i]
		if d.taken {
			continue
		}
		p.Unused = append(p.Unused, Unused{Name: d.Name, Serial: d.announced(), WWN: d.wwn,
			Model: strings.Trim(d.Model, padding), Size: d.Size, Why: or(or(d.barred, d.flaw), NotSelected), Holds: d.holds()})
	}
	if !slices.IsSortedFunc(p.Unused, compareUnused) {
		slices.SortFunc(p.Unused, compareUnused)
	}
}

// compareUnused has what the digest covers before the hints.
func compareUnused(a, b Unused) int {
	return cmp.Or(strings.Compare(a.Serial, b.Serial), strings.Compare(a.WWN, b.WWN), cmp.Compare(a.Size, b.Size),
		strings.Compare(a.Model, b.Model), strings.Compare(string(a.Why), string(b.Why)), strings.Compare(a.Name, b.Name), strings.Compare(a.Holds, b.Holds))
}

// holds lists the first signatures on a disk for people.
func (d *seen) holds() string {
	var b strings.Builder
	for i, sig := range d.Signatures {
		switch {
		case i == shown:
			b.WriteString(", ...")
			return b.String()
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(plain(strings.TrimSpace(sig.Type + " " + sig.Label)))
	}
	return b.String()
}
