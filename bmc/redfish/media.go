package redfish

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/wire"
)

var _ bmc.Media = (*Session)(nil)

const mediaBudget = 256

// A slot is a virtual drive as it was read.
type slot struct {
	bmc.MediaSlot
	path, tag string
	doc       doc
}

func (s slot) action(name string) string {
	return checked(s.doc.at("Actions").sub("#VirtualMedia." + name).str("target"))
}

// MediaSlots are the drives of the system, then those of its managers.
func (s *Session) MediaSlots(ctx context.Context) ([]bmc.MediaSlot, error) {
	list, err := s.call("read media", mediaBudget).slots(ctx)
	var out []bmc.MediaSlot
	for _, one := range list {
		out = append(out, one.MediaSlot)
	}
	return out, err
}

// collections are where a machine's drives are listed.
func (c *call) collections(ctx context.Context) ([]string, error) {
	var out []string
	add := func(d doc) {
		l := d.link("VirtualMedia")
		if l != "" && !slices.ContainsFunc(out, func(o string) bool { return same(o, l) }) {
			out = append(out, l)
		}
	}
	add(c.s.host.doc)
	add(c.s.bmc.doc)
	for _, p := range c.s.host.doc.at("Links").links("ManagedBy") {
		if same(p, c.s.bmc.path) {
			continue
		}
		d, _, err := c.get(ctx, p)
		if err != nil && !isKind(err, bmc.NotFound) {
			return nil, err
		}
		add(d)
	}
	return out, nil
}

func (c *call) slots(ctx context.Context) ([]slot, error) {
	places, err := c.collections(ctx)
	if err != nil {
		return nil, err
	}
	var out []slot
	for _, place := range places {
		paths, err := c.members(ctx, place)
		if isKind(err, bmc.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			one, err := c.slot(ctx, p)
			if isKind(err, bmc.NotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			out = append(out, one)
		}
	}
	return distinct(out), nil
}

// distinct leaves out what was listed before: the system and its manager may list
// the same drives, of the same Id and types. Another drive of a known Id is named
// by its path.
func distinct(list []slot) []slot {
	var out []slot
	for _, one := range list {
		i := slices.IndexFunc(out, func(o slot) bool { return o.ID == one.ID })
		if i >= 0 && slices.Equal(out[i].Types, one.Types) {
			continue
		}
		if i >= 0 || one.ID == "" {
			one.ID = bare(one.path)
		}
		out = append(out, one)
	}
	return out
}

// slot reads one drive.
func (c *call) slot(ctx context.Context, path string) (slot, error) {
	d, a, err := c.get(ctx, path)
	if err != nil {
		return slot{}, err
	}
	s := slot{path: path, tag: tagOf(a, d), doc: d}
	s.ID, s.Types, s.Raw = d.str("Id"), d.strs("MediaTypes"), d.str("ConnectedVia")
	if image := d.str("Image"); !strings.EqualFold(image, "none") && !strings.EqualFold(image, "null") {
		s.Image = image
	}
	is, shown := d.truth("Inserted")
	s.Inserted = is || !shown && s.Image != "" // where nothing says otherwise, what is named is in
	s.TakesURL = c.s.takesURL(s)
	return s, nil
}

// takesURL reports whether an image can be inserted by URL: there is an action,
// or the fields that it would have are shown to be written. Drives for uploads
// look the same on some; their names tell.
func (s *Session) takesURL(one slot) bool {
	if s.has(SlotsByName) {
		for _, prefix := range []string{"RDOC", "Remote"} {
			if strings.HasPrefix(one.doc.str("Id"), prefix) {
				return false
			}
		}
	}
	return one.action("InsertMedia") != "" || one.doc.shows("Image") && one.doc.shows("TransferProtocolType")
}

// takesCD reports whether a drive is one for CDs; one that lists no types is
// known by its name.
func (s slot) takesCD() bool {
	if len(s.Types) == 0 {
		return strings.HasPrefix(strings.ToUpper(s.doc.str("Id")), "CD")
	}
	return slices.Contains(s.Types, "CD") || slices.Contains(s.Types, "DVD")
}

// pick finds the drive that id names; an empty id the first for CDs by URL.
func (c *call) pick(ctx context.Context, id string) (slot, error) {
	list, err := c.slots(ctx)
	if err != nil {
		return slot{}, err
	}
	var known []string
	for _, s := range list {
		if id == "" && s.TakesURL && s.takesCD() || id != "" && (s.ID == id || same(s.path, id)) {
			return s, nil
		}
		known = append(known, s.ID)
	}
	if id == "" {
		return slot{}, c.fail(bmc.Unsupports, bmc.SentNo, "no virtual drive takes a CD by URL", "drives are: "+quoteOr(strings.Join(known, ", "), "none"))
	}
	return slot{}, c.fail(bmc.NotFound, bmc.SentNo, "no virtual drive is named "+id, "drives are: "+quoteOr(strings.Join(known, ", "), "none"))
}

// InsertMedia ejects what is in the drive, or what the BMC still believes to be,
// waits until it is gone, inserts, and reads back.
func (s *Session) InsertMedia(ctx context.Context, spec bmc.MediaSpec) (bmc.MediaSlot, error) {
	c := s.call("insert media", mediaBudget)
	u, err := url.Parse(spec.Image)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return bmc.MediaSlot{}, c.fail(bmc.InvalidOption, bmc.SentNo, "the image is no http or https URL, or names a user", "want a URL that the BMC can reach")
	}
	one, err := c.pick(ctx, spec.Slot)
	if err != nil {
		return bmc.MediaSlot{}, unsent(err)
	}
	switch {
	case !one.TakesURL:
		return one.MediaSlot, c.fail(bmc.Unsupports, bmc.SentNo, "the drive "+one.ID+" takes no URL", "leave the drive open, or name another")
	case one.Inserted && one.Image == spec.Image:
		return one.MediaSlot, nil
	}
	emptied := one.Inserted || one.Image != ""
	if emptied {
		if one, err = c.empty(ctx, one, spec.Running); err != nil {
			return one.MediaSlot, err
		}
	}
	if err := c.insert(ctx, one, spec.Image, u.Scheme, emptied); err != nil {
		return one.MediaSlot, partly(emptied, err)
	}
	one, err = c.until(ctx, one, "the image is not in the drive "+one.ID, func(s slot) bool { return s.Inserted && s.Image == spec.Image })
	return one.MediaSlot, err
}

// EjectMedia empties a drive and waits until the BMC says that it is empty.
func (s *Session) EjectMedia(ctx context.Context, id string, running bool) error {
	c := s.call("eject media", mediaBudget)
	one, err := c.pick(ctx, id)
	if err != nil {
		return unsent(err)
	}
	if !one.Inserted && one.Image == "" {
		return nil
	}
	_, err = c.empty(ctx, one, running)
	return err
}

// empty ejects and waits. A medium is not taken from a machine that runs, or may,
// unless the caller says that it knows: what boots from it would be damaged.
func (c *call) empty(ctx context.Context, one slot, running bool) (slot, error) {
	if one.Inserted && !running {
		o, err := c.s.ReadPower(ctx)
		if err != nil {
			return one, unsent(err)
		}
		if !o.Idle() {
			e := c.fail(bmc.Conflict, bmc.SentNo, "the machine runs, and may run from what is in the drive "+one.ID, "turn it off, or say that the medium may go")
			e.State = o.State
			if o.State == bmc.Off {
				e.Why = "the system says off and its chassis does not, and the machine may run from what is in the drive " + one.ID
			}
			return one, e
		}
	}
	if err := c.eject(ctx, one); err != nil {
		return one, err
	}
	return c.until(ctx, one, "the drive "+one.ID+" does not become empty", func(s slot) bool { return !s.Inserted })
}

func (c *call) eject(ctx context.Context, one slot) error {
	var a *wire.Response
	var err error
	if target := one.action("EjectMedia"); target != "" {
		a, err = c.post(ctx, target, struct{}{})
	} else {
		fields := map[string]any{"Image": nil}
		if one.doc.shows("Inserted") {
			fields["Inserted"] = false
		}
		a, err = c.patch(ctx, one.path, one.tag, fields)
	}
	if err != nil {
		return err
	}
	if task := c.taskOf(a); task != "" {
		return c.await(ctx, task, mediaWait)
	}
	return nil
}

// How long the BMC has to show what was done to a drive.
const (
	slotWait = time.Minute
	slotPoll = 2 * time.Second
)

// until reads a drive that was written to until it is as wanted.
func (c *call) until(ctx context.Context, was slot, why string, wanted func(slot) bool) (slot, error) {
	end := time.Now().Add(slotWait)
	for {
		one, err := c.slot(ctx, was.path)
		one.ID = was.ID
		if err != nil && !isKind(err, bmc.Busy) {
			return one, unseen(err)
		}
		if err == nil && wanted(one) {
			return one, nil
		}
		if !time.Now().Before(end) {
			return one, c.fail(bmc.NotReached, bmc.SentYes, why, "can the BMC reach the image? read its log")
		}
		if err := pause(ctx, slotPoll); err != nil {
			return one, c.fail(bmc.Indeterminate, bmc.SentYes, why+" so far", "read it again")
		}
	}
}

// afterEject is how long a drive may still be busy with its eject, and how often
// an insert that it refuses is sent again.
const (
	afterEject  = 5 * time.Second
	insertTries = 3
)

// insert sends the image with as few fields as the BMC takes.
func (c *call) insert(ctx context.Context, one slot, image, scheme string, ejected bool) error {
	fields := map[string]any{"Image": image}
	target := one.action("InsertMedia")
	if target == "" && one.doc.shows("Inserted") {
		fields["Inserted"] = true
	}
	busy := 0
	for {
		a, err := c.sendInsert(ctx, one, target, fields)
		if err == nil {
			if task := c.taskOf(a); task != "" {
				return c.await(ctx, task, mediaWait)
			}
			return nil
		}
		if status := statusOf(err); ejected && (status == http.StatusInternalServerError || status == http.StatusConflict) {
			if busy++; busy == insertTries {
				e := c.fail(bmc.Busy, bmc.SentYes, "the drive "+one.ID+" is still busy with its eject", "")
				e.After, e.Status = afterEject, status
				return e
			}
			if pause(ctx, afterEject) != nil {
				return err
			}
			continue
		}
		if a == nil || !wantsMore(err) || !more(fields, readMessages(a.Body), scheme) {
			return err
		}
	}
}

func (c *call) sendInsert(ctx context.Context, one slot, target string, fields map[string]any) (*wire.Response, error) {
	if target != "" {
		return c.post(ctx, target, fields)
	}
	return c.patch(ctx, one.path, one.tag, fields)
}

// wantsMore reports whether a refusal may be one of too few fields.
func wantsMore(err error) bool {
	return statusOf(err) == http.StatusBadRequest && (isKind(err, bmc.Protocol) || isKind(err, bmc.Unsupports))
}

// A rung is a field that BMCs were seen to demand of an insert.
type rung struct {
	field string
	value any
}

// rungs are the fields, from the one that most demand to the one that fewest do.
// They follow openstack/sushy's reports. The user is none: it is for BMCs that
// want the fields and not what is in them.
func rungs(scheme string) []rung {
	return []rung{
		{"TransferProtocolType", strings.ToUpper(scheme)},
		{"TransferMethod", "Stream"},
		{"Inserted", true},
		{"WriteProtected", true},
		{"UserName", "none"},
		{"Password", "none"},
	}
}

// more adds to fields those that the messages name, else the next rung. It
// returns false where there is nothing to add.
func more(fields map[string]any, list []message, scheme string) bool {
	added := false
	for _, r := range rungs(scheme) {
		if _, has := fields[r.field]; !has && tells(list, r.field) {
			fields[r.field], added = r.value, true
		}
	}
	if added {
		return true
	}
	for _, r := range rungs(scheme) {
		if _, has := fields[r.field]; !has {
			fields[r.field] = r.value
			if r.field == "UserName" {
				fields["Password"] = "none"
			}
			return true
		}
	}
	return false
}

// tells reports whether a message is about a field.
func tells(list []message, field string) bool {
	return slices.ContainsFunc(list, func(m message) bool {
		return strings.Contains(m.text, field) || slices.ContainsFunc(m.about, func(a string) bool { return strings.TrimLeft(a, "#/") == field })
	})
}
