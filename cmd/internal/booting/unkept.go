package booting

import (
	"github.com/ingotmetal/ingot/cmd/internal/booting/account"
)

// What a booter keeps in its state folder.
const (
	keepsSite    = "site"
	keepsBundles = "bundles"
)

// kept notes whether the state folder took what must be kept, and reports whether
// that is news: a folder that is full is told once, and once more when it has room
// again.
func (d *Desk) kept(what string, err error) (news bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unkept[what] == (err != nil) {
		return false
	}
	if d.unkept == nil {
		d.unkept = map[string]bool{}
	}
	d.unkept[what] = err != nil
	return true
}

// Tell notes a moment of a machine that nobody asked a packet about, for who asks why
// it gets no further. The same again is one moment, the newest. A MAC that is none, or
// that neither a packet nor a record is of, is passed by.
func (d *Desk) Tell(mac string, m account.Moment) {
	at, ok := parseMAC(mac)
	if !ok {
		return
	}
	m.Time = d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	_, heard := d.history.by[at]
	if _, known := d.world.boots[at]; heard || known {
		d.history.of(at).again(m)
	}
}
