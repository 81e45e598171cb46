package booting

import (
	"strings"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/dhcp4"
)

// An Account is all that a booter can say of a MAC: what its record is, what it would
// boot, what its last packet came to and why, and what came before.
type Account struct {
	MAC      string        `json:"mac"`
	State    string        `json:"state"`
	Mode     string        `json:"mode,omitempty"`
	Address  string        `json:"address,omitempty"`
	Revision uint64        `json:"revision"`
	Heard    bool          `json:"heard" doc:"a packet of it came since the booter started"`
	Client   string        `json:"client,omitempty"`
	Silences []Explained   `json:"silences"`
	Choices  []ChoiceShown `json:"choices"`
	Moments  []Moment      `json:"moments"`
}

// Explained is a reason of silence in words.
type Explained struct {
	Silence     string `json:"silence"`
	Requirement string `json:"requirement"`
	Means       string `json:"means"`
	Change      string `json:"change"`
}

// ChoiceShown is an image that was considered.
type ChoiceShown struct {
	Origin  string `json:"origin"`
	Image   string `json:"image,omitempty"`
	Silence string `json:"silence,omitempty"`
}

// Why is the account of a MAC: why its last packet was not answered, all reasons, or
// why nothing would be served to it where none came.
func (d *Desk) Why(mac booter.MAC) Account {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.world.boots[mac]
	a := Account{MAC: mac.String(), State: s.State, Mode: s.Mode, Address: s.Address, Revision: d.world.Revision, Moments: d.history.all(mac), Silences: []Explained{}, Choices: d.shown(s.rec)}
	if a.State == "" {
		a.State = "absent"
	}
	var why []booter.Silence
	if e, ok := d.history.by[mac]; ok && e.Value.(*past).packet.MAC == mac {
		p := e.Value.(*past)
		p.packet.Recent = d.memory.Recall(d.policy, p.packet, now)
		a.Heard, a.Client, why = true, strings.TrimSpace(string(p.client.Stage)+" "+string(p.client.Platform)), d.policy.Why(s.rec, p.packet, now)
	} else if _, silence := d.policy.Boot(s.rec); silence != "" {
		why = []booter.Silence{silence}
	}
	a.Silences = explain(why)
	return a
}

func explain(why []booter.Silence) []Explained {
	out := make([]Explained, len(why))
	for i, w := range why {
		r := w.Reason()
		out[i] = Explained{string(w), r.Req, r.Means, r.Change}
	}
	return out
}

func (d *Desk) shown(rec booter.Record) []ChoiceShown {
	out := []ChoiceShown{}
	for _, c := range d.policy.Choices(rec) {
		out = append(out, ChoiceShown{string(c.Origin), c.Image, string(c.Why)})
	}
	return out
}

// Tried is what a packet would come to.
type Tried struct {
	Protocol string      `json:"protocol"` // dhcp4, or what else it is
	Message  string      `json:"message,omitempty"`
	MAC      string      `json:"mac,omitempty"`
	Client   string      `json:"client,omitempty"`
	Flaw     string      `json:"flaw,omitempty"`
	Silences []Explained `json:"silences"`
	Kind     string      `json:"kind,omitempty"`
	Address  string      `json:"address,omitempty"`
	Image    string      `json:"image,omitempty"`
	To       string      `json:"to,omitempty"`
	File     string      `json:"file,omitempty"` // without its token
	Reply    []byte      `json:"reply,omitempty"`
}

// Try decides a packet without remembering it or sending anything, as if it had come
// by an interface; "" is the first that carries an admin network.
func (d *Desk) Try(raw []byte, how booter.Request) Tried {
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
	t := Tried{Protocol: "dhcp4", Message: messageName(p.Type), MAC: p.MAC.String(), Client: strings.TrimSpace(string(client.Stage) + " " + string(client.Platform)), Flaw: string(p.Flaw()), Silences: explain(d.policy.Why(s.rec, p.Request, now))}
	if len(t.Silences) > 0 {
		return t
	}
	reply, _ := d.policy.Answer(s.rec, p.Request, now)
	fields, why := d.fields(s, reply, p.MAC)
	if why != "" {
		t.Silences = explain([]booter.Silence{why})
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
func otherProtocol(raw []byte, p *dhcp4.Packet) (Tried, bool) {
	if p.Parsed == "" || len(raw) < 4 {
		return Tried{}, false
	}
	unsupported := []Explained{{Silence: "unsupported", Means: "This is no packet of DHCPv4.", Change: "DHCPv6 is not served yet; TFTP is on its own port."}}
	switch {
	case raw[0] == 0 && raw[1] >= 1 && raw[1] <= 6 && len(raw) < 600:
		return Tried{Protocol: "tftp", Silences: unsupported}, true
	case raw[0] >= 1 && raw[0] <= 36 && (len(raw) < 240 || string(raw[236:240]) != "\x63\x82\x53\x63"):
		return Tried{Protocol: "dhcp6", Silences: unsupported}, true
	}
	return Tried{}, false
}
