package booter

import (
	"cmp"

	"github.com/ingotmetal/ingot/statemachine/netboot"
)

// Origin is where an image was named.
type Origin string

// The origins.
const (
	FromRescue     Origin = "rescue"     // the policy's rescue image
	FromEntry      Origin = "entry"      // the record's boot entry
	FromRecord     Origin = "record"     // the record's assigned image
	FromEnrollment Origin = "enrollment" // the policy's enrollment image
)

// Boot is what a machine boots and what its render may say of the node. It
// says that there is a root hash to render, and never the hash.
type Boot struct {
	Image  string
	Origin Origin
	Rescue bool // mode rescue: the fields below are zero (BOOT-5)

	Args        string // kernel arguments of the record or of its entry
	ArchiveHash bool   // render the hash of the image's archive
	Networking  bool   // render the networking module
	RootShadow  bool   // render the root password hash as root_shadow (BOOT-3)
}

// Choice is an image that was considered, and why it cannot be served.
type Choice struct {
	Origin Origin
	Image  string
	Why    Silence // "" if it can
}

// Boot decides what rec boots, or why nothing: because of its state, or for
// want of an image. It is what every protocol of the booter goes by (BOOT-9).
// TFTP and HTTP must serve no other image than the one it names.
func (p *Policy) Boot(rec Record) (Boot, Silence) {
	c, why := p.pick(&rec)
	if why = cmp.Or(rec.closed(), why); why != "" {
		return Boot{}, why
	}
	return c.boot(&rec), ""
}

// boot is what a machine gets with the image. Mode rescue leaves out all that
// is of the node. An entry is served instead of the state's own answer, so
// neither the record's arguments nor its root hash go with it (BOOT-14).
func (c Choice) boot(rec *Record) Boot {
	b := Boot{Image: c.Image, Origin: c.Origin, Rescue: rec.Rescue}
	if rec.Rescue {
		return b
	}
	b.Args, b.ArchiveHash, b.Networking = rec.Args, true, true
	if c.Origin == FromEntry {
		b.Args = rec.Entry.Args
	}
	b.RootShadow = c.Origin == FromRecord && rec.RootHash
	return b
}

// Choices lists the images that rec could boot, the one it wants first. Each
// is taken only where the one before it cannot be served (BOOT-5, BOOT-22).
// A record whose state is not served has the image that it would enroll with;
// one of unknown state has none.
func (p *Policy) Choices(rec Record) []Choice {
	list, n := p.choices(&rec)
	return append([]Choice(nil), list[:n]...)
}

// pick returns the first choice that can be served. If there is none it
// blames the first that is set, as the one that somebody meant.
func (p *Policy) pick(rec *Record) (Choice, Silence) {
	var why Silence
	list, n := p.choices(rec)
	for _, c := range list[:n] {
		if c.Why == "" {
			return c, ""
		}
		if why == "" || why == ImageUnset {
			why = c.Why
		}
	}
	return Choice{}, why
}

// choices returns a list and how many of it count. An image that a record was
// assigned counts in enrolled alone, should another state still carry one. An
// entry outranks the state's own image and falls back on nothing: its holder
// wants this boot or none.
func (p *Policy) choices(rec *Record) ([3]Choice, int) {
	own := p.choice(FromRecord, rec.Image)
	enroll := p.choice(FromEnrollment, p.Enrollment)
	enrolled := rec.State == netboot.Enrolled
	switch {
	case rec.closed() == StateUnknown:
		return [3]Choice{}, 0
	case rec.Rescue && enrolled:
		return [3]Choice{p.choice(FromRescue, p.Rescue), own, enroll}, 3
	case rec.Rescue:
		return [3]Choice{p.choice(FromRescue, p.Rescue), enroll}, 2
	case rec.Entry != (Entry{}) && rec.closed() == "":
		return [3]Choice{p.choice(FromEntry, rec.Entry.Image)}, 1
	case enrolled:
		return [3]Choice{own}, 1
	}
	return [3]Choice{enroll}, 1
}

// choice judges the image that from names.
func (p *Policy) choice(from Origin, image string) Choice {
	return Choice{from, image, p.servable(image)}
}

// servable says why the image cannot be served from here, "" if it can
// (BOOT-2).
func (p *Policy) servable(image string) Silence {
	switch {
	case image == "":
		return ImageUnset
	case !passes(image):
		return ImageRefused
	case !p.Staged[image]:
		return ImageUnstaged
	}
	return ""
}
