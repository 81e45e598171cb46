package control

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// A Target is what a call is about: a machine by one of its names, or the site.
// The first name that is set counts. MACs are boot records that the input names
// besides.
type Target struct {
	Node   lifecycle.NodeID
	Server registration.ServerID
	// By is an index row whose value is a server UUID, such as by/claim/<hash>.
	By   string
	MAC  netboot.MAC
	MACs []netboot.MAC
	// Rowless leaves a registration row out that has no node: it is for inputs
	// that make a node of their own (PROV-20).
	Rowless bool
}

// loader gathers the rows of one machine and its site.
type loader struct {
	store.Reader
	rows []row
}

type row struct {
	key string
	val []byte
}

func (l *loader) add(key string) ([]byte, bool) {
	val, ok := l.Get(key)
	if ok {
		l.rows = append(l.rows, row{key, val})
	}
	return val, ok
}

func (l *loader) all() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, r := range l.rows {
			if !yield(r.key, r.val) {
				return
			}
		}
	}
}

// Beyond is the key after all that begin with prefix: the end of their range.
func Beyond(prefix string) string {
	return prefix[:len(prefix)-1] + string(prefix[len(prefix)-1]+1)
}

// load reads the state that a call on t may read and change: the machine, the
// boot records in its reach, and the site, whose rows are kept beside it.
func (d *Door) load(r store.Reader, t Target) (lifecycle.State, *siteRows, error) {
	l := &loader{Reader: r}
	node, server, err := l.find(t)
	if err != nil {
		return lifecycle.State{}, nil, err
	}
	l.machine(node, server, t.Rowless)
	l.boots(node, t)
	s, err := lifecycle.Load(l.all())
	if err != nil {
		return lifecycle.State{}, nil, err
	}
	if err := l.announced(&s.Node); err != nil {
		return lifecycle.State{}, nil, err
	}
	site, err := d.site.load(r)
	if err != nil {
		return lifecycle.State{}, nil, err
	}
	s.Site = site.site
	return s, site, nil
}

// find is the machine that t names; both are zero for the site alone, and for a
// name that nobody has.
func (l *loader) find(t Target) (lifecycle.NodeID, registration.ServerID, error) {
	switch {
	case t.Node != "":
		return t.Node, registration.ServerID{}, nil
	case t.Server != registration.ServerID{}:
		return l.holder(t.Server), t.Server, nil
	case t.By != "":
		raw, ok := l.Get(t.By)
		if !ok {
			return "", registration.ServerID{}, nil
		}
		server, err := registration.ParseServerID(string(raw))
		if err != nil {
			return "", registration.ServerID{}, fmt.Errorf("%s: %w", t.By, err)
		}
		return l.holder(server), server, nil
	case t.MAC != netboot.MAC{}:
		return l.owner(t.MAC)
	}
	return "", registration.ServerID{}, nil
}

// holder is the live node that has a UUID.
func (l *loader) holder(s registration.ServerID) lifecycle.NodeID {
	raw, _ := l.Get(lifecycle.RowBy + "server/" + s.Key().String())
	return lifecycle.NodeID(raw)
}

// owner is the live node that a boot record belongs to.
func (l *loader) owner(mac netboot.MAC) (lifecycle.NodeID, registration.ServerID, error) {
	raw, ok := l.Get(lifecycle.RowBoot + mac.String())
	if !ok {
		return "", registration.ServerID{}, nil
	}
	var boot struct {
		Record struct {
			State netboot.State
			Owner netboot.Owner
		}
	}
	if err := json.Unmarshal(raw, &boot); err != nil {
		return "", registration.ServerID{}, &lifecycle.RowError{Key: lifecycle.RowBoot + mac.String(), Err: err}
	}
	if boot.Record.State == netboot.Decommissioned { // a claim no more
		return "", registration.ServerID{}, nil
	}
	return lifecycle.NodeID(boot.Record.Owner.Node), registration.ServerID{}, nil
}

// machine gathers the node's row and its registration row.
func (l *loader) machine(node lifecycle.NodeID, server registration.ServerID, rowless bool) {
	var claims struct{ Claims lifecycle.Claims }
	if node != "" {
		if raw, ok := l.add(lifecycle.RowNode + string(node)); ok && server == (registration.ServerID{}) {
			// A row that cannot be read is reported by Load.
			_ = json.Unmarshal(raw, &claims)
			server = claims.Claims.Server
		}
	}
	if server == (registration.ServerID{}) || rowless && node == "" {
		return
	}
	l.add(lifecycle.RowRegistration + server.Key().String())
}

// boots gathers the node's own boot records, those it is a candidate for, and
// those that the call names.
func (l *loader) boots(node lifecycle.NodeID, t Target) {
	seen := map[string]bool{}
	add := func(mac string) {
		if !seen[mac] {
			seen[mac] = true
			l.add(lifecycle.RowBoot + mac)
		}
	}
	if node != "" {
		for _, index := range []string{"node-mac/", "candidate/"} {
			prefix := lifecycle.RowBy + index + string(node) + "/"
			var macs []string // reading on while a range is open would disturb it
			for key := range l.Range(prefix, Beyond(prefix)) {
				macs = append(macs, strings.TrimPrefix(key, prefix))
			}
			for _, mac := range macs {
				add(mac)
			}
		}
	}
	if t.MAC != (netboot.MAC{}) {
		add(t.MAC.String())
	}
	for _, mac := range t.MACs {
		add(mac.String())
	}
}

// announced adds the boot records of the MACs that the machine announced, or that
// its approval covers: joints reach them (SET-10, SET-18, REG-13).
func (l *loader) announced(n *lifecycle.Node) error {
	more := &loader{Reader: l.Reader}
	has := map[netboot.MAC]bool{}
	for i := range n.NICs {
		has[n.NICs[i].MAC] = true
	}
	for _, macs := range [][]registration.MAC{n.Reg.Inventory.MACs, n.Reg.Plan.MACs} {
		for _, m := range macs {
			if mac := netboot.MAC(m); !has[mac] {
				has[mac] = true
				more.add(lifecycle.RowBoot + mac.String())
			}
		}
	}
	if len(more.rows) == 0 {
		return nil
	}
	s, err := lifecycle.Load(more.all())
	if err != nil {
		return err
	}
	n.NICs = append(n.NICs, s.Node.NICs...)
	n.Schema = max(n.Schema, s.Node.Schema)
	return nil
}
