package disklayout

import (
	"fmt"
	"strings"
)

// Realize makes the plan of a request on the announced disks, or returns a
// [*Refused]. stamp is this server's; what carries it may be destroyed, and
// what carries its epoch is resumed.
//
// It is deterministic, shares no memory with its arguments, and refuses in this
// order: the request as such, the number of disks,
// each selector in turn, each chosen disk in turn, the layout as a whole,
// overrides that nothing needed.
func Realize(req Request, disks []Disk, stamp Stamp) (Plan, error) {
	if err := stamp.valid(); err != nil {
		return Plan{}, err
	}
	// What a request must not set is judged before defaults set it.
	if err := req.outOfPlace(); err != nil {
		return Plan{}, err
	}
	req = req.withDefaults()
	if err := req.check(); err != nil {
		return Plan{}, err
	}
	all, err := survey(disks)
	if err != nil {
		return Plan{}, err
	}
	chosen, err := choose(req.Disks, all)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Layout: req.Layout, Server: stamp.Server, Image: req.Image, Boot: req.Boot, Warnings: []Warning{}}
	if err := p.write(&req, chosen, stamp); err != nil {
		return Plan{}, err
	}
	if err := p.lay(&req, chosen); err != nil {
		return Plan{}, err
	}
	p.leave(all)
	p.Digest = p.Sum()
	return p, nil
}

// choose finds the disk of each selector, each another one.
func choose(selectors []Selector, all []seen) ([]*seen, error) {
	out := make([]*seen, 0, len(selectors))
	for i := range selectors {
		n, err := selectors[i].find(all)
		if err != nil {
			return nil, err
		}
		d := &all[n]
		if d.taken {
			return nil, refuse(DiskTwice, d, "two selectors find it")
		}
		d.taken = true
		out = append(out, d)
	}
	for _, d := range out {
		if d.flaw != "" {
			return nil, d.explain(d.flaw)
		}
	}
	return out, nil
}

// write puts the chosen disks into the plan, with what dies on each.
func (p *Plan) write(req *Request, chosen []*seen, stamp Stamp) error {
	used := make([]bool, len(req.Overrides))
	p.Disks, p.Serials = make([]Written, 0, len(chosen)), make([]string, 0, len(chosen))
	for _, d := range chosen {
		lost, err := d.losses(req, stamp, used)
		if err != nil {
			return err
		}
		w := d.written(lost)
		p.Disks, p.Serials = append(p.Disks, w), append(p.Serials, w.Serial)
		p.warnOfLosses(&w)
	}
	for i, u := range used {
		if !u {
			o := req.Overrides[i]
			return refuse(OverrideInvalid, nil, fmt.Sprintf("nothing needs the override of %s on disk %s", plain(o.Type), plain(o.Serial)))
		}
	}
	return nil
}

// written is d in a plan.
func (d *seen) written(lost []Loss) Written {
	return Written{Name: d.Name, Serial: d.announced(), WWN: d.wwn, Model: trim(d.Model),
		Size: d.Size, LogicalSector: d.LogicalSector, PhysicalSector: d.PhysicalSector, Rotational: clone(d.Rotational),
		Transport: strings.ToLower(trim(d.Transport)), Lost: lost, LostPartitions: d.dying(lost)}
}

// lay computes the layout itself.
func (p *Plan) lay(req *Request, chosen []*seen) error {
	if req.Layout == GPT {
		return p.partition(req, chosen[0])
	}
	return p.pool(req, chosen)
}

// warnOfLosses tells what dies, once for each kind.
func (p *Plan) warnOfLosses(w *Written) {
	for i := range w.Lost {
		l := &w.Lost[i]
		if l.Own {
			p.warn(OwnDestroyed, w.Serial, "an earlier layout of this server, "+l.describe()+", will be destroyed and rebuilt")
		} else {
			p.warn(ForeignDestroyed, w.Serial, "foreign "+l.describe()+" will be destroyed, as the override says")
		}
	}
}

// clone copies what v points to.
func clone[T any](v *T) *T {
	if v == nil {
		return nil
	}
	c := *v
	return &c
}

func (p *Plan) warn(kind, serial, text string) {
	p.Warnings = append(p.Warnings, Warning{kind, serial, text})
}
