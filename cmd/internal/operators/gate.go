package operators

import (
	"errors"
	"net/netip"
	"time"
)

// Limits say how many sign-ins may fail: for one account, from one source and in
// all. A zero Rate takes its default. Who is on the host itself (see [Peer]) need
// not pass here, so that a flood from outside locks nobody out there.
type Limits struct {
	Account Rate // default 10 in 15m, under the 100 of NIST SP 800-63B section 3.2.2
	Source  Rate // of one IPv4 address or IPv6 /64; default 20 in 15m
	Total   Rate // default 300 in 15m
}

func (l Limits) filled() Limits {
	or := func(r Rate, burst int) Rate {
		if r == (Rate{}) {
			return Rate{burst, 15 * time.Minute}
		}
		return r
	}
	return Limits{or(l.Account, 10), or(l.Source, 20), or(l.Total, 300)}
}

// Validate reports every field that is out of range, joined.
func (l Limits) Validate() error {
	l = l.filled()
	return errors.Join(l.Account.Validate(), l.Source.Validate(), l.Total.Validate())
}

// Take counts a try for the account name from a source, before anything of it is
// checked. Give it back by Return where it signed in, or where nothing was checked
// ([*Busy], an ended context). The error is [*RateLimited]; it is the same whether
// there is such an account or not.
func (l Limits) Take(on Ledger, name string, from netip.Addr, now time.Time) (Ledger, error) {
	return on.Take(now, l.claims(name, from)...)
}

// Return gives a try back.
func (l Limits) Return(on Ledger, name string, from netip.Addr, now time.Time) Ledger {
	return on.Return(now, l.claims(name, from)...)
}

func (l Limits) claims(name string, from netip.Addr) []Claim {
	l = l.filled()
	if checkName(name) != nil {
		name = "-" // no account has such a name; one bucket for all of them
	}
	return []Claim{{"account", name, l.Account}, {"source", Source(from), l.Source}, {"total", "", l.Total}}
}

// Source returns what counts as one source: an IPv4 address, also where it is
// mapped into IPv6, the /64 of an IPv6 address, without its zone, or "unknown".
func Source(from netip.Addr) string {
	from = from.Unmap().WithZone("")
	bits := 64
	switch {
	case !from.IsValid():
		return "unknown"
	case from.Is4():
		bits = 32
	}
	prefix, err := from.Prefix(bits)
	if err != nil {
		return "unknown"
	}
	return prefix.String()
}
