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
		p.warnOfBroken(d)
		p.Unused = append(p.Unused, Unused{Name: d.Name, Serial: d.announced(), WWN: d.wwn,
			Model: trim(d.Model), Size: d.Size, Why: or(or(d.barred, d.flaw), NotSelected), Holds: d.holds()})
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

// warnOfBroken tells that d keeps a member of a pool or array of which another
// member dies.
func (p *Plan) warnOfBroken(d *seen) {
	for i := range d.Signatures {
		if sig := &d.Signatures[i]; sig.UUID != "" && Pooled(sig.Type) && p.loses(sig) {
			p.warn(PoolBroken, d.announced(), "it stays as it is, and its "+sig.describe()+" loses a member")
			return
		}
	}
}

// loses reports whether a signature of the pool or array dies on a written disk.
func (p *Plan) loses(sig *Signature) bool {
	for i := range p.Disks {
		for j := range p.Disks[i].Lost {
			if l := &p.Disks[i].Lost[j]; l.UUID == sig.UUID && l.Type == sig.Type {
				return true
			}
		}
	}
	return false
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
