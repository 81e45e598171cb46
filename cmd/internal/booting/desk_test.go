package booting

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/api"
)

const known = "02:00:00:00:00:01"

// enrolling is the record of a machine that is served.
func enrolling() api.ServedBoot { return boot(known, "enrolling", "10.78.0.9") }

// A silentCase is a packet that is not answered, and what is said of it.
type silentCase struct {
	why    booter.Silence
	boots  []api.ServedBoot
	place  func(*Place)
	policy func(*api.Policy)
	raw    []byte
	via    string // another interface
	before func(d *Desk)
	seen   bool // it is a sighting
	told   bool // the control plane hears of it
	forgot bool // nothing is remembered
}

func silentCases() []silentCase {
	m, discover := mac(known), message(mac(known), 1, pxe...)
	often := func(n int, raw []byte) func(*Desk) {
		return func(d *Desk) {
			for range n {
				d.Answer(came(raw))
			}
		}
	}
	return []silentCase{
		{why: booter.Malformed, raw: discover[:200], forgot: true},
		{why: booter.Malformed, raw: append(discover[:250:250], 60, 200), forgot: true},
		{why: booter.RateMAC, raw: discover, boots: []api.ServedBoot{enrolling()}, before: often(20, discover), told: true},
		{why: booter.RateSite, raw: message(numbered(9), 1, pxe...), boots: []api.ServedBoot{enrolling()}, place: func(p *Place) { p.Limits.Site.Max = 1 }, before: often(1, discover), forgot: true},
		{why: booter.TypeNotServed, raw: message(m, 7, pxe...), boots: []api.ServedBoot{enrolling()}, told: true},
		{why: booter.NotPXE, raw: message(m, 1), boots: []api.ServedBoot{enrolling()}},
		{why: booter.NotPXE, raw: message(m, 1)},
		{why: booter.UnknownArch, raw: message(m, 1, pxe[0], opt(93, 0, 99)), boots: []api.ServedBoot{enrolling()}, told: true},
		{why: booter.ForeignNetwork, raw: discover, via: "eth9", boots: []api.ServedBoot{enrolling()}, told: true},
		{why: booter.OtherServer, raw: message(m, 3, append(pxe, opt(54, 10, 78, 0, 2), opt(50, 10, 78, 0, 9))...), boots: []api.ServedBoot{enrolling()}, told: true},
		{why: booter.NoRecord, raw: discover, seen: true},
		{why: booter.StateDiscovered, raw: discover, boots: []api.ServedBoot{boot(known, "discovered", "")}, seen: true},
		{why: booter.StateDecommissioned, raw: discover, boots: []api.ServedBoot{boot(known, "decommissioned", "10.78.0.9")}, told: true},
		{why: booter.StateUnknown, raw: discover, boots: []api.ServedBoot{boot(known, "x-new", "10.78.0.9")}, told: true},
		{why: booter.NoAddress, raw: discover, boots: []api.ServedBoot{boot(known, "enrolling", "")}, told: true},
		{why: booter.WrongAddress, raw: message(m, 3, append(pxe, opt(54, 10, 78, 0, 1), opt(50, 10, 78, 0, 77))...), boots: []api.ServedBoot{enrolling()}, told: true},
		{why: booter.ImageUnset, raw: discover, boots: []api.ServedBoot{enrolling()}, policy: func(p *api.Policy) { p.EnrollmentImage = "" }, told: true},
		{why: booter.ImageRefused, raw: discover, boots: []api.ServedBoot{enrolling()}, policy: func(p *api.Policy) { p.EnrollmentImage = "../x" }, told: true},
		{why: booter.ImageUnstaged, raw: discover, boots: []api.ServedBoot{enrolling()}, policy: func(p *api.Policy) { p.EnrollmentImage = "gone" }, told: true},
		{why: booter.ImageUnstaged, raw: message(m, 1, opt(60, []byte("PXEClient:Arch:00011:UNDI:003000")...), opt(93, 0, 11)), boots: []api.ServedBoot{enrolling()}, told: true}, // no first boot program
		{why: booter.BootLoop, raw: discover, boots: []api.ServedBoot{enrolling()}, place: func(p *Place) { p.Limits.Boots.Max = 2 }, before: func(d *Desk) {
			ack := message(m, 3, append(pxe, opt(54, 10, 78, 0, 1), opt(50, 10, 78, 0, 9))...)
			often(3, ack)(d)
		}, told: true},
	}
}

// Every reason of silence is counted under its name, remembered for people, and told to
// the control plane of machines that it knows; a MAC that nobody knows is a sighting
// only where it asks to boot.
func TestEverySilenceIsCounted(t *testing.T) {
	covered := map[booter.Silence]bool{}
	for _, c := range silentCases() {
		covered[c.why] = true
		p := place()
		if c.place != nil {
			c.place(&p)
		}
		d := newDesk(t, p, still, c.boots...)
		if c.policy != nil {
			d.Change(func(w *World) *World { c.policy(&w.Policy); return w })
		}
		if c.before != nil {
			c.before(d)
		}
		was, taken := d.Counts(), d.served.Take()
		packet := came(c.raw)
		if c.via != "" {
			packet.Interface = c.via
		}
		reply, _, ok := d.Answer(packet)
		if ok || reply.Kind != "" {
			t.Errorf("%s: answered %+v", c.why, reply)
		}
		if key := "dhcp/" + string(c.why); d.Counts()[key] != was[key]+1 {
			t.Errorf("%s is not counted: %v", c.why, d.Counts())
		}
		if got := d.seen.Len() == 1; got != c.seen {
			t.Errorf("%s: a sighting: %t", c.why, got)
		}
		told := d.served.Take()
		if c.why == booter.RateMAC { // the packets before it
			told = taken
		}
		if got := len(told) > 0; got != c.told {
			t.Errorf("%s: told: %+v", c.why, told)
		}
		if c.forgot && d.history.by[packet.MAC] != nil {
			t.Errorf("%s: it is remembered", c.why)
		}
	}
	for _, r := range booter.Reasons() {
		if !covered[r.Silence] {
			t.Errorf("no case is silent for %s", r.Silence)
		}
	}
}

// A packet that is no whole request may name any MAC, and is held against nobody.
func TestMalformedPacketsLeaveNoTrace(t *testing.T) {
	d := newDesk(t, place(), still, enrolling())
	whole := message(mac(known), 1, pxe...)
	for n := range len(whole) - 1 { // the last is the END option, which may be missing
		p := came(whole[:n])
		if p.Flaw() == "" {
			continue
		}
		if _, _, ok := d.Answer(p); ok {
			t.Fatalf("%d bytes are answered", n)
		}
	}
	if len(d.history.by) != 0 || d.seen.Len() != 0 || len(d.served.Take()) != 0 {
		t.Errorf("%d machines are remembered, %d seen", len(d.history.by), d.seen.Len())
	}
	if d.Counts()["dhcp/malformed"] == 0 {
		t.Error("nothing was malformed: this test cannot fail")
	}
}

// An answer has what the policy and the record say, is counted, and wakes the reporter.
func TestAnswer(t *testing.T) {
	d := newDesk(t, place(), still, enrolling())
	reply, fields, ok := d.Answer(came(message(mac(known), 1, pxe...)))
	if !ok || reply.Address.String() != "10.78.0.9" || fields.Mask != network || fields.Router.String() != "10.78.0.254" {
		t.Fatalf("%t %+v %+v", ok, reply, fields)
	}
	if !strings.Contains(fields.Boot.File, d.key.Token(mac(known))) {
		t.Errorf("%+v", fields.Boot)
	}
	if d.Counts()["dhcp/answered"] != 1 {
		t.Errorf("%v", d.Counts())
	}
	select {
	case <-d.Wake():
	default:
		t.Error("nobody is told")
	}
	got := d.served.Take()
	if len(got) != 1 || got[0].Image != "enroll" || got[0].Stage != "dhcp" || got[0].Silence != "" {
		t.Errorf("%+v", got)
	}
	for text := range strings.SplitSeq(textOf(d.history.all(mac(known))), "\n") {
		if strings.Contains(text, d.key.Token(mac(known))) {
			t.Errorf("the token is in the history: %s", text)
		}
	}
}

func textOf(v any) string { return text(v) }

// What has no program for the client's platform is not offered, since its script could
// not be opened; people are told which image it is.
func TestOffersOnlyWhatCanBeOpened(t *testing.T) {
	d := newDesk(t, place(), still, enrolling())
	stage(t, d.store, images.Manifest{Name: "efi-only", Boots: map[booter.Platform]images.Boots{images.Any: {EFI: "uki.efi"}}}, "uki.efi")
	if _, err := d.Restage(); err != nil {
		t.Fatal(err)
	}
	d.Change(func(w *World) *World { w.Policy.EnrollmentImage = "efi-only"; return w })
	bios := message(mac(known), 1, opt(60, []byte("PXEClient:Arch:00000:UNDI:002001")...), opt(93, 0, 0))
	if _, _, ok := d.Answer(came(bios)); ok || d.Counts()["dhcp/image-unstaged"] != 1 {
		t.Errorf("BIOS is offered a program of UEFI's: %v", d.Counts())
	}
	if a := d.Why(mac(known)); len(a.Silences) != 1 || !strings.Contains(a.Silences[0].Means, "efi-only has no program") {
		t.Errorf("%+v", a.Silences)
	}
	if _, _, ok := d.Answer(came(message(mac(known), 1, pxe...))); !ok {
		t.Error("x64 is not answered")
	}
}

// The words of a site are no longer than what is kept for them: what is staged boots.
func TestWordsFit(t *testing.T) {
	p, at, pin := place(), strings.Repeat("h", 253)+":65535", "sha256/"+strings.Repeat("P", 44)
	p.Session, p.Server, p.SessionPin, p.ServerPin = at, at, pin, pin
	long := netip.MustParseAddr("255.255.255.255")
	words, err := p.words(mac(known), booter.Boot{Networking: true}, served{rec: booter.Record{Address: long}}, netip.PrefixFrom(long, 32), long)
	if n := len(strings.Join(words, " ")); err != nil || len(words) != 7 || n > bootscript.SiteArgs {
		t.Errorf("%d words of %d bytes, %v", len(words), n, err)
	}
	p.Proxy = true // of a lease iPXE makes up to five bytes more
	words, err = p.words(mac(known), booter.Boot{Networking: true}, served{}, netip.Prefix{}, netip.Addr{})
	if n := len(strings.Join(words, " ")) + 5; err != nil || len(words) != 6 || n > bootscript.SiteArgs {
		t.Errorf("%d words of %d bytes, %v", len(words), n, err)
	}
}

// A MAC that has a record with an address is no sighting any more.
func TestAdmittedMACsAreForgotten(t *testing.T) {
	d := newDesk(t, place(), still)
	d.Answer(came(message(mac(known), 1, pxe...)))
	d.Answer(came(message(numbered(5), 1, pxe...)))
	if d.seen.Len() != 2 {
		t.Fatalf("%d seen", d.seen.Len())
	}
	d.Change(func(w *World) *World {
		w.Take(api.BootDelta{Incarnation: "i1", Revision: 8, Put: []api.ServedBoot{enrolling(), boot(numbered(5).String(), "discovered", "")}})
		return w
	})
	if _, ok := d.seen.by[mac(known)]; ok || d.seen.Len() != 1 {
		t.Errorf("%d seen", d.seen.Len())
	}
	if _, _, ok := d.Answer(came(message(mac(known), 1, pxe...))); !ok {
		t.Error("the retry is not answered")
	}
}

// Another booter's address on the policy is one of ours as well (BOOT-6, option 54).
func TestAnswerByRelayAndProxy(t *testing.T) {
	p := place()
	p.Proxy = true
	d := newDesk(t, p, still, boot(known, "enrolling", ""))
	reply, _, ok := d.Answer(came(message(mac(known), 1, pxe...)))
	if !ok || reply.Address.IsValid() && !reply.Address.IsUnspecified() {
		t.Errorf("proxy: %t %+v", ok, reply)
	}
	d = newDesk(t, place(), still, enrolling())
	relayed := came(message(mac(known), 1, pxe...))
	relayed.Interface, relayed.RelayIP, relayed.Source = "eth9", netip.MustParseAddr("10.78.0.250"), netip.MustParseAddrPort("10.78.0.250:67")
	if _, _, ok := d.Answer(relayed); !ok {
		t.Error("a relay in the admin network is not served")
	}
}

// What waits to be said of machines never grows beyond its bounds.
func TestAFloodIsBounded(t *testing.T) {
	c := &clock{at: noon}
	p := place()
	p.Limits.Site.Max = 1 << 20
	d := newDesk(t, p, c.now)
	for n := range 3 * historyMACs {
		d.Answer(came(message(booter.MAC{2, 1, 0, byte(n >> 16), byte(n >> 8), byte(n)}, 1, pxe...)))
		c.add(time.Millisecond)
	}
	if d.seen.Len() != seenMACs || len(d.history.by) != historyMACs {
		t.Errorf("%d seen, %d remembered", d.seen.Len(), len(d.history.by))
	}
}
