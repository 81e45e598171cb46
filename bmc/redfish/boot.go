package redfish

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

var _ bmc.Boot = (*Session)(nil)

// Fields of Boot (ComputerSystem schema).
const (
	fieldEnabled = "BootSourceOverrideEnabled"
	fieldTarget  = "BootSourceOverrideTarget"
	fieldMode    = "BootSourceOverrideMode"
	fieldURI     = "HttpBootUri"
	listed       = "@Redfish.AllowableValues"
)

// A place is a resource that holds a Boot object: the system, or its settings
// object, which waits for the next start of the machine.
type place struct {
	path    string
	tag     string
	boot    doc
	pending bool
}

// lists reports whether the place says what it takes.
func (p place) lists() bool { return len(p.boot.strs(fieldTarget+listed)) > 0 }

// takes reports whether the place shows an override at all.
func (p place) takes() bool { return p.lists() || p.boot.shows(fieldTarget) }

// active reports whether an override stands in the place.
func (p place) active() bool {
	t, e := p.boot.str(fieldTarget), p.boot.str(fieldEnabled)
	return t != "" && t != "None" && e != "Disabled" && e != ""
}

// An override is what was read of a system's boot.
type override struct {
	system   place
	settings place // path empty: there is none that takes overrides
	byOther  bool  // the system was seen to refuse what it lists
}

// place is where an override is written: the system, unless only the settings
// object says what it takes.
func (o override) place() place {
	if o.settings.path != "" && (o.byOther || !o.system.lists()) {
		return o.settings
	}
	return o.system
}

// applies reports whether what the settings object shows is known to apply at the
// next start: it says what it takes, or the system takes nothing. Others leave
// there what stood once.
func (o override) applies() bool {
	return o.settings.path != "" && (o.settings.lists() || o.byOther || !o.system.lists())
}

// standing is where what stands is read: the settings object where the system
// has no override and the object has one, whoever wrote it.
func (o override) standing() place {
	if !o.system.active() && o.settings.active() && o.applies() {
		return o.settings
	}
	return o.system
}

func (c *call) readOverride(ctx context.Context) (override, error) {
	d, a, err := c.get(ctx, c.s.host.path)
	if err != nil {
		return override{}, err
	}
	o := override{system: place{path: c.s.host.path, tag: tagOf(a, d), boot: d.sub("Boot")}}
	settings := d.link("@Redfish.Settings", "SettingsObject")
	if settings == "" || same(settings, c.s.host.path) {
		return o, nil
	}
	d, a, err = c.get(ctx, settings)
	if isKind(err, bmc.NotFound) {
		return o, nil // links dangle
	}
	if err != nil {
		return o, err
	}
	if p := (place{path: settings, tag: tagOf(a, d), boot: d.sub("Boot"), pending: true}); p.takes() {
		o.settings = p
		c.s.mu.Lock()
		o.byOther = c.s.bootBySettings
		c.s.mu.Unlock()
	}
	return o, nil
}

// state says what stands.
func (s *Session) state(o override) bmc.BootState { return s.stateOf(o.standing()) }

// stateOf says what a place holds.
func (s *Session) stateOf(p place) bmc.BootState {
	b := bmc.BootState{Target: bmc.BootNone, Source: bare(p.path)}
	target, enabled, mode := p.boot.str(fieldTarget), p.boot.str(fieldEnabled), p.boot.str(fieldMode)
	b.Raw = strings.TrimSpace(target + " " + enabled + " " + mode)
	switch strings.ToLower(mode) {
	case "uefi":
		b.Mode = bmc.UEFI
	case "legacy":
		b.Mode = bmc.Legacy
	}
	if !p.active() {
		return b
	}
	b.Target, b.Pending, b.URI = s.ours(target), p.pending, p.boot.str(fieldURI)
	if i := slices.IndexFunc(bootNames(), func(n bootName) bool { return n.old && n.raw == target }); i >= 0 && b.Mode == "" && s.has(OldBootNames) {
		b.Mode = bootNames()[i].in
	}
	switch enabled {
	case "Once":
		b.Life = bmc.Once
	case "Continuous":
		b.Life = bmc.Persistent
	}
	if b.Target != bmc.BootURI {
		b.URI = ""
	}
	return b
}

// A bootName is one of our targets and how BMCs call it.
type bootName struct {
	is  bmc.BootTarget
	raw string
	old bool         // of before the schema had a name; see [OldBootNames]
	in  bmc.BootMode // of an old name that implies the mode
}

// bootNames are the names, preferred first.
func bootNames() []bootName {
	return []bootName{
		{bmc.BootNone, "None", false, ""},
		{bmc.BootPXE, "Pxe", false, ""},
		{bmc.BootURI, "UefiHttp", false, bmc.UEFI},
		{bmc.BootDisk, "Hdd", false, ""},
		{bmc.BootCD, "Cd", false, ""},
		{bmc.BootUSB, "Usb", false, ""},
		{bmc.BootSetup, "BiosSetup", false, ""},
		{bmc.BootCD, "CD/DVD", true, bmc.Legacy},
		{bmc.BootCD, "UefiCd", true, bmc.UEFI},
		{bmc.BootUSB, "UsbKey", true, bmc.Legacy},
		{bmc.BootUSB, "UefiUsbKey", true, bmc.UEFI},
		{bmc.BootDisk, "UefiHdd", true, bmc.UEFI},
	}
}

// ours is our name of a BMC's target, else the BMC's.
func (s *Session) ours(raw string) bmc.BootTarget {
	for _, n := range bootNames() {
		if n.raw == raw && (!n.old || s.has(OldBootNames)) {
			return n.is
		}
	}
	return bmc.BootTarget(raw)
}

// theirs are the BMC's names of a target, preferred first. Where the BMC shows no
// mode, an old name that implies the wanted one goes first.
func (s *Session) theirs(t bmc.BootTarget, mode bmc.BootMode) []string {
	var out []string
	for _, n := range bootNames() {
		switch {
		case n.is != t || n.old && !s.has(OldBootNames) || n.old && mode != "" && n.in != mode:
		case n.old && mode != "":
			out = slices.Insert(out, 0, n.raw)
		default:
			out = append(out, n.raw)
		}
	}
	if len(out) == 0 {
		return []string{string(t)}
	}
	return out
}

const bootBudget = 64

// BootTargets are those that the machine lists.
func (s *Session) BootTargets(ctx context.Context) ([]bmc.BootTarget, error) {
	o, err := s.call("read boot targets", bootBudget).readOverride(ctx)
	if err != nil {
		return nil, err
	}
	return s.targetsOf(o), nil
}

func (s *Session) targetsOf(o override) []bmc.BootTarget {
	var out []bmc.BootTarget
	for _, raw := range o.place().boot.strs(fieldTarget + listed) {
		out = append(out, s.ours(raw))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ReadBoot reads the system's override, or the one that waits in its settings
// object.
func (s *Session) ReadBoot(ctx context.Context) (bmc.BootState, error) {
	o, err := s.call("read boot", bootBudget).readOverride(ctx)
	if err != nil {
		return bmc.BootState{}, err
	}
	return s.state(o), nil
}

// SetBoot writes the fields that the resource shows and no other: the target, its
// life, and the mode where it is asked for or the BMC drops it when left out. A
// BMC that refuses them in the system and has a settings object gets them there.
func (s *Session) SetBoot(ctx context.Context, spec bmc.BootSpec) (bmc.BootState, error) {
	c := s.call("set boot", bootBudget)
	if spec.Life == "" {
		spec.Life = bmc.Once
	}
	if err := c.checkSpec(spec); err != nil {
		return bmc.BootState{}, err
	}
	if spec.Target == bmc.BootNone {
		return s.ClearBoot(ctx)
	}
	o, err := c.readOverride(ctx)
	if err != nil {
		return bmc.BootState{}, unsent(err)
	}
	p := o.place()
	for {
		fields, err := c.fields(p, spec)
		if err != nil {
			return s.state(o), err
		}
		err = c.writeBoot(ctx, p, fields)
		if err == nil {
			break
		}
		if p.pending || o.settings.path == "" || !isKind(err, bmc.Unsupports) {
			return s.state(o), err
		}
		p = o.settings
		s.refusesBoot()
	}
	return c.stands(ctx, p.pending, "the override does not stand", spec.Stands)
}

// refusesBoot notes that the system takes no override that its settings object
// may take.
func (s *Session) refusesBoot() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bootBySettings = true
}

// checkSpec looks at what needs no BMC.
func (c *call) checkSpec(spec bmc.BootSpec) error {
	switch {
	case spec.Target == "":
		return c.fail(bmc.InvalidOption, bmc.SentNo, "no target", "want one of the machine's boot targets, or none")
	case spec.Life != bmc.Once && spec.Life != bmc.Persistent:
		return c.fail(bmc.InvalidOption, bmc.SentNo, "no such life: "+string(spec.Life), "want once or persistent")
	case spec.Mode != "" && spec.Mode != bmc.UEFI && spec.Mode != bmc.Legacy:
		return c.fail(bmc.InvalidOption, bmc.SentNo, "no such mode: "+string(spec.Mode), "want uefi or legacy")
	case spec.URI != "" && spec.Target != bmc.BootURI:
		return c.fail(bmc.InvalidOption, bmc.SentNo, "a URI is for the target http alone", "")
	}
	return nil
}

// fields are what is sent for spec, or why it cannot be.
func (c *call) fields(p place, spec bmc.BootSpec) (map[string]any, error) {
	no := func(why, key string) error {
		do := "the BMC lists none"
		if l := p.boot.strs(key + listed); len(l) > 0 {
			do = "listed are: " + strings.Join(l, ", ")
		}
		return c.fail(bmc.Unsupports, bmc.SentNo, why, do)
	}
	if !p.takes() {
		return nil, c.fail(bmc.Unsupports, bmc.SentNo, "the system takes no boot override", "")
	}
	names, list := c.s.theirs(spec.Target, spec.Mode), p.boot.strs(fieldTarget+listed)
	i := slices.IndexFunc(names, func(n string) bool { return len(list) == 0 || slices.Contains(list, n) })
	if i < 0 {
		return nil, no("the target "+string(spec.Target)+" is not listed", fieldTarget)
	}
	out := map[string]any{fieldTarget: names[i]}
	life := map[bmc.BootLife]string{bmc.Once: "Once", bmc.Persistent: "Continuous"}[spec.Life]
	if list := p.boot.strs(fieldEnabled + listed); len(list) > 0 && !slices.Contains(list, life) {
		return nil, no("the life "+string(spec.Life)+" is not listed", fieldEnabled)
	}
	out[fieldEnabled] = life
	if err := c.modeField(p, spec, names[i], out, no); err != nil {
		return nil, err
	}
	if spec.URI != "" {
		if !p.boot.shows(fieldURI) {
			return nil, c.fail(bmc.Unsupports, bmc.SentNo, "the BMC shows no "+fieldURI, "give the URI by DHCP")
		}
		out[fieldURI] = spec.URI
	}
	return out, nil
}

// modeField adds the mode: the wanted one, else the one that stands where the
// BMC drops it otherwise.
func (c *call) modeField(p place, spec bmc.BootSpec, name string, out map[string]any, no func(why, key string) error) error {
	want := map[bmc.BootMode]string{bmc.UEFI: "UEFI", bmc.Legacy: "Legacy"}[spec.Mode]
	shown := p.boot.shows(fieldMode) || len(p.boot.strs(fieldMode+listed)) > 0
	implied := slices.ContainsFunc(bootNames(), func(n bootName) bool { return n.raw == name && n.old && n.in == spec.Mode })
	list := p.boot.strs(fieldMode + listed)
	switch {
	case want == "" && c.s.has(SendMode) && p.boot.str(fieldMode) != "":
		out[fieldMode] = p.boot.str(fieldMode)
	case want == "" || implied && !shown:
	case !shown:
		return no("the BMC shows no boot mode", fieldMode)
	case len(list) > 0 && !slices.Contains(list, want):
		return no("the mode "+string(spec.Mode)+" is not listed", fieldMode)
	default:
		out[fieldMode] = want
	}
	return nil
}

// writeBoot writes fields of Boot and waits for the task that a BMC may make of
// it.
func (c *call) writeBoot(ctx context.Context, p place, fields map[string]any) error {
	a, err := c.patch(ctx, p.path, p.tag, map[string]any{"Boot": fields})
	if err != nil {
		return err
	}
	if task := c.taskOf(a); task != "" && !p.pending {
		return c.await(ctx, task, actionWait) // a pending one ends at the next start alone
	}
	return nil
}

// How often what was written is read back, and how long between: BMCs show it
// late.
const (
	readsBack = 4
	readPause = 2 * time.Second
)

// stands reads back until what stands is wanted. What was written to the settings
// object may stand there, while the system still shows what it replaces. What
// stands in the end is returned with the error too.
func (c *call) stands(ctx context.Context, pending bool, why string, wanted func(bmc.BootState) bool) (bmc.BootState, error) {
	for i := 1; ; i++ {
		o, err := c.readOverride(ctx)
		if err != nil {
			return bmc.BootState{}, unseen(err)
		}
		b := c.s.state(o)
		if wanted(b) {
			return b, nil
		}
		if later := c.s.stateOf(o.settings); pending && o.settings.path != "" && wanted(later) {
			later.Pending = true
			return later, nil
		}
		if i == readsBack {
			return b, c.fail(bmc.NotReached, bmc.SentYes, why+", the BMC shows "+quoteOr(b.Raw, "nothing"), "read it again, or set it by the firmware's setup")
		}
		if err := pause(ctx, readPause); err != nil {
			return b, c.fail(bmc.Indeterminate, bmc.SentYes, "what was written was not read back", "read it again")
		}
	}
}

func quoteOr(s, none string) string {
	if s == "" {
		return none
	}
	return s
}

// ClearBoot disables what stands in the system, and what waits in its settings
// object. A system that refuses it is cleared by its settings object.
func (s *Session) ClearBoot(ctx context.Context) (bmc.BootState, error) {
	c := s.call("clear boot", bootBudget)
	o, err := c.readOverride(ctx)
	if err != nil {
		return bmc.BootState{}, unsent(err)
	}
	sent, bySettings := false, false
	if o.system.active() && !(o.byOther && o.settings.path != "") {
		switch err := c.disable(ctx, o.system); {
		case err == nil:
			sent = true
		case o.settings.path == "" || !isKind(err, bmc.Unsupports):
			return s.state(o), err
		default:
			bySettings = true
			s.refusesBoot()
		}
	}
	bySettings = bySettings || o.system.active() && !sent
	if o.settings.active() || bySettings {
		err := c.disable(ctx, o.settings)
		idle := isKind(err, bmc.Unsupports) && !bySettings && !o.applies() // what is left there does nothing
		if err != nil && !idle {
			return s.state(o), partly(sent, err)
		}
		sent = sent || !idle
	}
	if !sent {
		return s.state(o), nil
	}
	return c.stands(ctx, bySettings, "the override is still there", func(b bmc.BootState) bool { return b.Target == bmc.BootNone })
}

// disable disables an override and keeps its target: some refuse the target None.
// Where that is refused, None is tried.
func (c *call) disable(ctx context.Context, p place) error {
	err := c.writeBoot(ctx, p, map[string]any{fieldEnabled: "Disabled"})
	if isKind(err, bmc.Unsupports) || isKind(err, bmc.Protocol) && statusOf(err) == http.StatusBadRequest {
		err = c.writeBoot(ctx, p, map[string]any{fieldEnabled: "Disabled", fieldTarget: "None"})
	}
	return err
}

// bootSupport says what a Probe reports of the boot.
func (s *Session) bootSupport(o override, out map[bmc.Feature]bmc.Support) {
	p := o.place()
	lives := p.boot.strs(fieldEnabled + listed)
	say := func(f bmc.Feature, is bool, why string) {
		out[f] = bmc.Support{Level: bmc.Native}
		if !is {
			out[f] = bmc.Support{Level: bmc.Unsupported, Why: why}
		}
	}
	say(bmc.BootOnce, p.takes() && (len(lives) == 0 || slices.Contains(lives, "Once")), "not listed")
	say(bmc.BootPersistent, p.takes() && (len(lives) == 0 || slices.Contains(lives, "Continuous")), "not listed")
	say(bmc.BootHTTP, p.boot.shows(fieldURI) && slices.Contains(p.boot.strs(fieldTarget+listed), "UefiHttp"), "no "+fieldURI)
}
