package booter

import "time"

// Answer decides the reply to req. If the silence is not "", nothing may be
// sent, and the reply is zero.
//
// rec must be the record from before the packet's sighting, so that a packet
// that leads to an admission is not answered but its retry is (BOOT-22).
func (p *Policy) Answer(rec Record, req Request, now time.Time) (Reply, Silence) {
	d := consider(p, rec, req, now)
	for _, why := range d.silences() {
		if why != "" {
			return Reply{}, why
		}
	}
	return d.reply(), ""
}

// Why lists every reason that keeps req from an answer, first the one that
// [Policy.Answer] gives: whoever mends that one meets the next. It is empty
// where req is answered.
func (p *Policy) Why(rec Record, req Request, now time.Time) []Silence {
	d := consider(p, rec, req, now)
	var out []Silence
	for _, why := range d.silences() {
		if why != "" {
			out = append(out, why)
		}
	}
	return out
}

// decision is one packet under consideration.
type decision struct {
	*Policy
	rec    Record
	req    Request
	client Client
	shaped bool
	offer  bool // an offer of ours is outstanding, and still holds
	choice Choice
	image  Silence // why there is no choice
}

func consider(p *Policy, rec Record, req Request, now time.Time) (d decision) {
	d.Policy, d.rec, d.req = p, rec, req
	d.client, d.shaped = p.Client(&d.req, now)
	offer := req.Recent.Offer
	d.offer = offer.Address == rec.Address && offer.outstanding(now, p.Limits.offer())
	d.choice, d.image = p.pick(&d.rec)
	if d.image == "" {
		d.image = d.forPlatform()
	}
	return d
}

// forPlatform says why the image that was picked is not served to a client that boots:
// what it was offered could not be opened. An unknown platform is no fault of the image.
func (d *decision) forPlatform() Silence {
	platforms, known := d.Boots[d.choice.Image]
	return when(known && d.client.Stage != Plain && d.client.Platform != "" && !platforms[d.client.Platform], ImageUnstaged)
}

// silences judges each line of BOOT-21 by itself, in its order. None leans on
// one before it, so the first that is not "" decides, and all of them together
// are the answer to "what else".
func (d *decision) silences() [12]Silence {
	return [...]Silence{
		when(d.req.Flaw() != "", Malformed),
		d.rate(),
		when(!d.typeServed(), TypeNotServed),
		when(!d.shaped && !d.answersAny(), NotPXE),
		when(d.client.Platform == "" && d.client.Stage != Plain, UnknownArch),
		when(d.foreign(&d.req), ForeignNetwork),
		when(d.req.ServerID.IsValid() && !d.ours(d.req.ServerID, &d.req), OtherServer),
		d.rec.closed(),
		when(d.givesAddress() && !host(d.rec.Address), NoAddress),
		when(d.wrongAddress(), WrongAddress),
		d.image,
		when(d.looping(), BootLoop),
	}
}

// when is why if it applies, else "".
func when(applies bool, why Silence) Silence {
	if applies {
		return why
	}
	return ""
}

// rate looks at the MAC before the site: the client that floods learns of its
// own limit, whatever the others do.
func (d *decision) rate() Silence {
	switch {
	case d.req.Recent.Packets >= d.Limits.mac().Max:
		return RateMAC
	case d.req.Recent.Site >= d.Limits.site().Max:
		return RateSite
	}
	return ""
}

// typeServed leaves DECLINE and RELEASE out: what they do to a record is done
// elsewhere, and neither has a reply (RFC 2131 section 4.3.3, 4.3.4).
func (d *decision) typeServed() bool {
	switch d.req.Type {
	case TypeDiscover:
		return !d.req.BootPort
	case TypeRequest, TypeInform:
		return true
	}
	return false
}

// answersAny reports whether even a client that does not boot is answered.
// What carries boot fields alone has nothing for it: a proxy, port 4011, the
// ACK of an INFORM (BOOT-24).
func (d *decision) answersAny() bool {
	return d.AnswerAny && d.givesAddress() && d.req.Type != TypeInform
}

// givesAddress reports whether the address is ours to give: not as a proxy,
// and not on 4011 (BOOT-24). An INFORM on 67 asks for none, but its sender must
// have the one that is reserved, as BOOT-24 lets off 4011 alone.
func (d *decision) givesAddress() bool { return !d.Proxy && !d.req.BootPort }

// wrongAddress reports whether the client holds on to an address that is not
// the reserved one. In a DISCOVER option 50 is a wish that may be passed over
// (RFC 2131 section 4.3.1). A REQUEST that names no address takes up an offer,
// if there is one. A proxy has no address to confirm: every REQUEST on 67 is
// for the server that gave it.
func (d *decision) wrongAddress() bool {
	r, reserved := &d.req, d.rec.Address
	switch {
	case r.BootPort:
		return false
	case d.Proxy:
		return r.Type == TypeRequest
	case set(r.ClientIP) && r.ClientIP != reserved:
		return true
	case r.Type == TypeDiscover:
		return false
	case r.Requested.IsValid():
		return r.Requested != reserved
	}
	return r.Type == TypeRequest && !set(r.ClientIP) && !d.offer
}

// looping reports whether this stage was reached too often. A client on 4011
// is on its way already: the answer that led it there was counted.
func (d *decision) looping() bool {
	return d.client.Stage != Plain && !d.req.BootPort && d.req.Recent.Boots >= d.Limits.boots().Max
}
