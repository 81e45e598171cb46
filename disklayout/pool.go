package disklayout

import (
	"fmt"
	"math/bits"
)

// Bounds of ashift, the binary logarithm of the least that ZFS writes, and its
// default (zpoolprops(7)).
const (
	minAshift     = 9
	maxAshift     = 16
	defaultAshift = 12
)

// MinMember is the least disk that ZFS takes into a pool, in bytes.
const MinMember = 64 * MiB

// pool lays the chosen disks out as vdevs in their order.
func (p *Plan) pool(req *Request, chosen []*seen) error {
	for _, d := range chosen {
		if d.Size < MinMember {
			e := refuse(TooSmall, d, fmt.Sprintf("its %d bytes are %d less than a pool takes", d.Size, MinMember-d.Size))
			e.Missing = MinMember - d.Size
			return e
		}
	}
	ashift, err := p.ashift(req, chosen)
	if err != nil {
		return err
	}
	kind, width := "disk", 1
	if req.Layout == Mirror {
		kind, width = "mirror", req.Width
	}
	pool := Pool{Name: req.Pool, Ashift: ashift, Compression: req.Compression, Vdevs: make([]Vdev, 0, len(chosen)/width)}
	for i := 0; i < len(chosen); i += width {
		v := Vdev{Kind: kind, Serials: p.Serials[i : i+width : i+width], Capacity: p.smallest(i, width)}
		pool.Vdevs = append(pool.Vdevs, v)
		pool.Capacity += v.Capacity
	}
	p.Pool = &pool
	return nil
}

// smallest is the size of the smallest of width disks from the i-th, and warns
// of what the others have more.
func (p *Plan) smallest(i, width int) uint64 {
	least := p.Disks[i].Size
	for _, w := range p.Disks[i : i+width] {
		least = min(least, w.Size)
	}
	for _, w := range p.Disks[i : i+width] {
		if w.Size > least {
			p.warn(SizesDiffer, w.Serial, fmt.Sprintf("%d of its bytes stay unused: the smallest disk of its mirror has %d", w.Size-least, least))
		}
	}
	return least
}

// ashift is the request's, or the least that suits every physical sector. Disks
// of several logical sector sizes go together only where it is given.
func (p *Plan) ashift(req *Request, chosen []*seen) (int, error) {
	out := defaultAshift
	for _, d := range chosen {
		if req.Ashift == 0 && d.LogicalSector != chosen[0].LogicalSector {
			return 0, refuse(MixedSectors, d, fmt.Sprintf("its logical sectors are %d bytes, those of disk %s %d", d.LogicalSector, plain(chosen[0].serial), chosen[0].LogicalSector))
		}
		physical := bits.Len32(d.PhysicalSector) - 1
		switch {
		case req.Ashift == 0:
			out = min(max(out, physical), maxAshift)
		case req.Ashift < bits.Len32(d.LogicalSector)-1:
			return 0, refuse(AshiftInvalid, d, fmt.Sprintf("ashift %d is less than its logical sector of %d bytes", req.Ashift, d.LogicalSector))
		case req.Ashift < physical:
			p.warn(AshiftBelow, d.announced(), fmt.Sprintf("ashift %d is less than its physical sector of %d bytes", req.Ashift, d.PhysicalSector))
		}
	}
	return or(req.Ashift, out), nil
}
