package disklayout

import (
	"crypto/sha256"
	"encoding/binary"
)

// Sum is the digest of what p says, whatever p.Digest is: of a plan that came
// from elsewhere it must be compared with the digest that was approved
// (SET-14).
//
// It covers the layout, the server, the image, the boot program, each written
// disk's identity, size and sectors and what dies on it, every place and name of
// the table or the pool, and the identity and size of each unused disk and why it
// is unused, and of each warning its kind and disk. It does not cover kernel names
// and what unused disks hold.
func (p *Plan) Sum() Digest {
	e := make(encoder, 0, 512+96*len(p.Disks)+96*len(p.Unused))
	e.text("ingot disklayout plan 1")
	e.text(string(p.Layout))
	e.bytes(p.Server[:])
	e.text(p.Image)
	e.number(uint64(len(p.Disks)))
	for i := range p.Disks {
		e.written(&p.Disks[i])
	}
	e.table(p.Table)
	e.pool(p.Pool)
	e.number(uint64(len(p.Unused)))
	for i := range p.Unused {
		u := &p.Unused[i]
		e.identity(u.Serial, u.WWN, u.Model, u.Size)
		e.text(string(u.Why))
	}
	e.number(uint64(len(p.Warnings)))
	for i := range p.Warnings {
		e.text(p.Warnings[i].Kind)
		e.text(p.Warnings[i].Serial)
	}
	if p.Boot != "" { // a plan without one has the digest that it had before there were any
		e.text(p.Boot)
	}
	return sha256.Sum256(e)
}

// An encoder makes bytes that only one sequence of calls makes: numbers are
// varints as of encoding/binary, and texts begin with their length in bytes.
type encoder []byte

func (e *encoder) number(n uint64) { *e = binary.AppendUvarint(*e, n) }

func (e *encoder) bytes(b []byte) {
	e.number(uint64(len(b)))
	*e = append(*e, b...)
}

func (e *encoder) text(s string) {
	e.number(uint64(len(s)))
	*e = append(*e, s...)
}

func (e *encoder) identity(serial, wwn, model string, size uint64) {
	e.text(serial)
	e.text(wwn)
	e.text(model)
	e.number(size)
}

func (e *encoder) written(w *Written) {
	e.identity(w.Serial, w.WWN, w.Model, w.Size)
	e.number(uint64(w.LogicalSector))
	e.number(uint64(w.PhysicalSector))
	e.number(rotation(w.Rotational))
	e.text(w.Transport)
	e.number(uint64(len(w.Lost)))
	for i := range w.Lost {
		l := &w.Lost[i]
		e.text(l.Type)
		e.number(l.Offset)
		e.text(l.Label)
		e.text(l.UUID)
		e.text(l.Stamp)
		e.number(truth(l.Own))
	}
	e.number(uint64(len(w.LostPartitions)))
	for _, o := range w.LostPartitions {
		e.number(uint64(o.Number))
		e.number(o.Start)
		e.number(o.Size)
		e.text(o.Type)
		e.text(o.UUID)
		e.text(o.Label)
	}
}

func (e *encoder) table(t *Table) {
	e.number(truth(t != nil))
	if t == nil {
		return
	}
	e.bytes(t.DiskGUID[:])
	for _, n := range []uint64{uint64(t.SectorSize), uint64(t.ProtectiveSectors), t.PrimaryHeader, t.PrimaryEntries,
		t.FirstUsable, t.LastUsable, t.BackupEntries, t.BackupHeader, t.Free, uint64(len(t.Parts))} {
		e.number(n)
	}
	for i := range t.Parts {
		o := &t.Parts[i]
		e.number(uint64(o.Number))
		e.text(o.Name)
		e.bytes(o.Type[:])
		e.bytes(o.UUID[:])
		for _, n := range []uint64{o.First, o.Last, o.Start, o.Size} {
			e.number(n)
		}
	}
}

func (e *encoder) pool(p *Pool) {
	e.number(truth(p != nil))
	if p == nil {
		return
	}
	e.text(p.Name)
	e.number(uint64(p.Ashift))
	e.text(p.Compression)
	e.number(p.Capacity)
	e.number(uint64(len(p.Vdevs)))
	for i := range p.Vdevs {
		v := &p.Vdevs[i]
		e.text(v.Kind)
		e.number(v.Capacity)
		e.number(uint64(len(v.Serials)))
		for _, s := range v.Serials {
			e.text(s)
		}
	}
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// rotation is 0 for unknown, 1 for no, 2 for yes.
func rotation(b *bool) uint64 {
	if b == nil {
		return 0
	}
	return 1 + truth(*b)
}
