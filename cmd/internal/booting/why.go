package booting

import (
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/dhcp4"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/internal/booting/account"
)

// Why is the account of a MAC: why its last packet was not answered, all reasons, or
// why nothing would be served to it where none came.
func (d *Desk) Why(mac booter.MAC) account.Account {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.world.boots[mac]
	a := account.Account{MAC: mac.String(), State: s.State, Mode: s.Mode, Address: s.Address, Revision: d.world.Revision, Moments: d.history.all(mac), Choices: d.shown(s.rec)}
	if a.State == "" {
		a.State = "absent"
	}
	if p := d.history.heard(mac); p != nil {
		a.Heard, a.Client = true, clientText(p.client)
		_, _, a.Silences = d.judge(s, p.packet, now)
		return a
	}
	a.Silences = []account.Silence{}
	if _, silence := d.policy.Boot(s.rec); silence != "" {
		a.Silences = d.reasons(s.rec, []booter.Silence{silence})
	} else if !s.rec.Address.IsValid() && !d.policy.Proxy {
		a.Silences = d.reasons(s.rec, []booter.Silence{booter.NoAddress})
	}
	return a
}

// judge decides a request as Answer does, and remembers nothing: a reply and what goes
// beside it, or every reason of silence.
func (d *Desk) judge(s served, r booter.Request, now time.Time) (booter.Reply, dhcp4.Fields, []account.Silence) {
	r.Recent = d.memory.Recall(d.policy, r, now)
	if why := d.policy.Why(s.rec, r, now); len(why) > 0 {
		return booter.Reply{}, dhcp4.Fields{}, d.reasons(s.rec, why)
	}
	reply, _ := d.policy.Answer(s.rec, r, now)
	fields, why := d.fields(s, reply, r.MAC)
	if why == "" {
		return reply, fields, []account.Silence{}
	}
	return booter.Reply{}, dhcp4.Fields{}, []account.Silence{{Silence: string(why), Requirement: "BOOT-8",
		Means:  "No first boot program for " + string(reply.Client.Platform) + " is staged on this booter.",
		Change: "Stage the image " + d.place.Loader + " with a loader for it."}}
}

// reasons puts reasons into words; of an image that is not whole, with what is wrong
// with it.
func (d *Desk) reasons(rec booter.Record, why []booter.Silence) []account.Silence {
	out := make([]account.Silence, len(why))
	for i, w := range why {
		r := w.Reason()
		out[i] = account.Silence{Silence: string(w), Requirement: r.Req, Means: r.Means, Change: r.Change}
		if flaw := d.flaw(rec); w == booter.ImageUnstaged && flaw != nil {
			out[i].Means, out[i].Change = flaw.Error(), "Stage it again."
		} else if b, why := d.policy.Boot(rec); w == booter.ImageUnstaged && why == "" {
			out[i].Means, out[i].Change = "The image "+b.Image+" has no program for this client's platform.", "Stage it with one, or set another image."
		}
	}
	return out
}

// flaw is what is wrong with an image that a record would boot; nil where none is
// harmed.
func (d *Desk) flaw(rec booter.Record) error {
	for _, c := range d.policy.Choices(rec) {
		_, err := d.store.Image(c.Image)
		if bad, ok := errors.AsType[*images.Harmed](err); ok && c.Why == booter.ImageUnstaged {
			return bad
		}
	}
	return nil
}

func clientText(c booter.Client) string {
	return strings.TrimSpace(string(c.Stage) + " " + string(c.Platform))
}

func (d *Desk) shown(rec booter.Record) []account.Choice {
	out := []account.Choice{}
	for _, c := range d.policy.Choices(rec) {
		out = append(out, account.Choice{Origin: string(c.Origin), Image: c.Image, Silence: string(c.Why)})
	}
	return out
}

// Try decides a packet without remembering it or sending anything, as if it had come
// by an interface; "" is the first that carries an admin network.
func (d *Desk) Try(raw []byte, how booter.Request) account.Verdict {
	p := &dhcp4.Packet{}
	p.Read(raw)
	p.BootPort, p.Source, p.Interface = how.BootPort, how.Source, how.Interface
	if t, other := otherProtocol(raw, p); other {
		return t
	}
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.Interface == "" && len(d.place.Links) > 0 {
		p.Interface = d.place.Links[0].Name
	}
	s := d.world.boots[p.MAC]
	p.Recent = d.memory.Recall(d.policy, p.Request, now)
	client, _ := d.policy.Client(&p.Request, now)
	reply, fields, why := d.judge(s, p.Request, now)
	t := account.Verdict{Protocol: "dhcp4", Message: messageName(p.Type), MAC: p.MAC.String(), Client: clientText(client), Flaw: string(p.Flaw()), Silences: why}
	if len(why) > 0 {
		return t
	}
	t.Kind, t.Address, t.Image, t.To = string(reply.Kind), addrText(reply.Address), reply.Image, reply.To.To.String()
	token := d.key.Token(p.MAC)
	t.File = strings.ReplaceAll(fields.Boot.File, token, "TOKEN")
	if out, err := dhcp4.Append(nil, p, &reply, &fields); err == nil {
		t.Reply = []byte(strings.ReplaceAll(string(out), token, strings.Repeat("T", len(token))))
	}
	return t
}

// otherProtocol names packets of what is not DHCPv4 and not answered here.
func otherProtocol(raw []byte, p *dhcp4.Packet) (account.Verdict, bool) {
	if p.Parsed == "" {
		return account.Verdict{}, false
	}
	name := ""
	switch {
	case dhcp6(raw):
		name = "dhcp6"
	case len(raw) >= 4 && raw[0] == 0 && raw[1] >= 1 && raw[1] <= 6:
		name = "tftp"
	default:
		return account.Verdict{}, false
	}
	why := account.Silence{Silence: account.Unsupported, Means: "This is no packet of DHCPv4.", Change: "DHCPv6 is not served yet; TFTP is on its own port."}
	return account.Verdict{Protocol: name, Silences: []account.Silence{why}}, true
}

// The headers of DHCPv6 (RFC 8415 sections 8 and 9), in bytes.
const (
	dhcp6Header = 4
	dhcp6Relay  = 34
)

// dhcp6 reports whether raw is a message of DHCPv6: a known type, and one or more
// options that fill it to its end.
func dhcp6(raw []byte) bool {
	if len(raw) < dhcp6Header || raw[0] < 1 || raw[0] > 36 {
		return false
	}
	rest := raw[dhcp6Header:]
	if raw[0] == 12 || raw[0] == 13 { // relays put addresses in front
		if len(raw) < dhcp6Relay {
			return false
		}
		rest = raw[dhcp6Relay:]
	}
	for first := true; first || len(rest) > 0; first = false {
		if len(rest) < 4 {
			return false
		}
		n := 4 + int(binary.BigEndian.Uint16(rest[2:]))
		if n > len(rest) {
			return false
		}
		rest = rest[n:]
	}
	return true
}
