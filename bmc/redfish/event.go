package redfish

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ingotmetal/ingot/bmc"
)

var _ bmc.Events = (*Session)(nil)

const (
	eventBudget = 256
	maxEvents   = 200 // that one call returns
)

// logNames are the logs that tell of a machine, best first. What vendors call
// theirs differs.
func logNames() []string {
	return []string{"EventLog", "Sel", "IML", "Event", "Log1", "Log", "PlatformLog", "ActiveLog", "StandardLog"}
}

// Events reads the machine's log: the system's, else the manager's. Entries are
// in the order of their Ids. A log that was cleared is read from its start.
func (s *Session) Events(ctx context.Context, after string) ([]bmc.Event, string, error) {
	c := s.call("read events", eventBudget)
	list, err := c.log(ctx)
	if err != nil {
		return nil, after, err
	}
	if after == "" {
		last, err := c.lastOf(ctx, list)
		return nil, last, err
	}
	fresh, err := c.newer(ctx, list, after)
	if err != nil {
		return nil, after, err
	}
	var out []bmc.Event
	for _, e := range fresh {
		if len(out) == maxEvents {
			break
		}
		full, err := c.load(ctx, e)
		if isKind(err, bmc.NotFound) {
			continue // cleared meanwhile
		}
		if err != nil {
			return out, after, err
		}
		out, after = append(out, full.event), full.cursor()
	}
	return out, after, nil
}

// An entry is one of a log; without event where it was only linked.
type entry struct {
	path, id string
	loaded   bool
	event    bmc.Event
	created  string
}

// cursor names an entry: its Id, and when it was made, since a log that is
// cleared uses its Ids again.
func (e entry) cursor() string { return e.id + "@" + e.created }

// log reads the best log that has entries to show.
func (c *call) log(ctx context.Context) ([]entry, error) {
	for _, from := range []string{c.s.host.doc.link("LogServices"), c.s.bmc.doc.link("LogServices")} {
		if from == "" {
			continue
		}
		paths, err := c.members(ctx, from)
		if err != nil && !isKind(err, bmc.NotFound) {
			return nil, err
		}
		for _, name := range logNames() {
			i := slices.IndexFunc(paths, func(p string) bool { return strings.EqualFold(lastOf(p), name) })
			if i < 0 {
				continue
			}
			list, err := c.logAt(ctx, paths[i])
			if !isKind(err, bmc.NotFound) {
				return list, err
			}
		}
	}
	return nil, c.fail(bmc.Unsupports, bmc.SentYes, "the BMC shows no log of the machine", "")
}

// logAt reads the entries of one log service.
func (c *call) logAt(ctx context.Context, service string) ([]entry, error) {
	d, _, err := c.get(ctx, service)
	if err != nil {
		return nil, err
	}
	place := d.link("Entries")
	if place == "" {
		return nil, c.fail(bmc.NotFound, bmc.SentYes, "the log has no entries to read", "")
	}
	return c.entries(ctx, place)
}

// lastOf is the last segment of a path.
func lastOf(path string) string {
	path = bare(path)
	return path[strings.LastIndexByte(path, '/')+1:]
}

// entries are those of a collection in the order of their Ids. Most BMCs send
// them whole; of others only the links are known.
func (c *call) entries(ctx context.Context, path string) ([]entry, error) {
	var out []entry
	seen := map[string]bool{}
	for next := path; next != "" && !seen[next] && len(seen) < maxPages && len(out) < maxMembers; {
		seen[next] = true
		d, _, err := c.get(ctx, next)
		if err != nil {
			return nil, err
		}
		for _, m := range d.docs("Members") {
			e := entry{path: m.link(), id: m.str("Id")}
			if e.path != "" {
				e.id = lastOf(e.path) // Ids repeat on some
			}
			if m.shows("Message") || m.shows("Created") {
				e.loaded, e.created = true, m.str("Created")
				e.event = eventOf(e.id, m.str("Severity"), m.str("Message"), e.created)
			}
			if e.id != "" {
				out = append(out, e)
			}
		}
		next = checked(d.str("Members@odata.nextLink"))
	}
	slices.SortFunc(out, func(a, b entry) int { return natural(a.id, b.id) })
	return out, nil
}

// load reads an entry that was only linked.
func (c *call) load(ctx context.Context, e entry) (entry, error) {
	if e.loaded || e.path == "" {
		return e, nil
	}
	_, a, err := c.get(ctx, e.path)
	if err != nil {
		return e, err
	}
	one, err := decode[schemas.LogEntry](a)
	if err != nil {
		return e, err
	}
	e.loaded, e.created = true, one.Created
	e.event = eventOf(e.id, string(one.Severity), one.Message, one.Created)
	return e, nil
}

func eventOf(id, severity, text, created string) bmc.Event {
	at, _ := time.Parse(time.RFC3339, created) // zero where it is none
	return bmc.Event{ID: id, Severity: severity, Message: bmc.Quote(text), At: at}
}

// lastOf is the cursor of a log's end. An empty log has one of its own.
func (c *call) lastOf(ctx context.Context, list []entry) (string, error) {
	if len(list) == 0 {
		return entry{}.cursor(), nil
	}
	e, err := c.load(ctx, list[len(list)-1])
	return e.cursor(), err
}

// newer are the entries after a cursor; all of them where the log was cleared.
func (c *call) newer(ctx context.Context, list []entry, after string) ([]entry, error) {
	id, created, _ := strings.Cut(after, "@")
	i, found := slices.BinarySearchFunc(list, id, func(e entry, id string) int { return natural(e.id, id) })
	if found {
		e, err := c.load(ctx, list[i])
		if err != nil || e.created == created {
			return list[i+1:], err
		}
		return list, nil
	}
	if i == len(list) {
		return list, nil // all Ids are before it: they began again
	}
	return list[i:], nil // it was dropped, as logs that are full do
}

// natural compares Ids: runs of digits by their number.
func natural(a, b string) int {
	for a != "" && b != "" {
		na, nb := digits(a), digits(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if d := len(x) - len(y); d != 0 {
				return d
			}
			if d := strings.Compare(x, y); d != 0 {
				return d
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

// digits is the length of the number that s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
