package bmcsim

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxEvents a log keeps.
const maxEvents = 256

// EventLog is the path of the collection of log entries in which the power of a system
// is told; "" where the tree has no log.
func (b *BMC) EventLog(system string) string {
	log := b.logOf(key(system))
	if log == "" {
		return ""
	}
	return b.entriesOf(log)
}

// favourites are the logs in which events are looked for first.
var favourites = []string{"eventlog", "sel", "iml", "event", "log1", "log"}

// logOf is the key of a system's log: below the system, else below a manager.
func (b *BMC) logOf(sys string) string {
	for _, below := range []string{sys + "/", root + "/managers/"} {
		for _, name := range favourites {
			for _, k := range b.tree.logs {
				if strings.HasPrefix(k, below) && strings.HasSuffix(k, "/"+name) {
					return k
				}
			}
		}
	}
	return ""
}

func (b *BMC) entriesOf(log string) string {
	n := b.tree.nodes[log]
	if path := linkOf(n.body["Entries"]); path != "" {
		return strings.TrimRight(path, "/")
	}
	return n.path + "/Entries"
}

// tellPower writes that a system turned on or off. The caller holds b.mu.
func (b *BMC) tellPower(s *system, on bool, now time.Time) {
	id, word := "ResourceEvent.1.3.ResourcePoweredOff", "off"
	if on {
		id, word = "ResourceEvent.1.3.ResourcePoweredOn", "on"
	}
	b.tellAt(s.path, "OK", id, fmt.Sprintf("The resource %s has powered %s.", s.path, word), now)
}

func (b *BMC) tell(origin, severity, id, message string) {
	b.tellAt(origin, severity, id, message, time.Now())
}

func (b *BMC) tellAt(origin, severity, id, message string, now time.Time) {
	log := b.logOf(key(origin))
	if log == "" {
		return
	}
	path := b.entriesOf(log)
	b.next++
	n := strconv.Itoa(b.next)
	entry := map[string]any{
		"@odata.id": path + "/ingot" + n, "@odata.type": "#LogEntry.v1_9_0.LogEntry", "Id": "ingot" + n, "Name": "Log Entry", "EntryType": "Event",
		"Created": now.UTC().Format(time.RFC3339), "Severity": severity, "MessageId": id, "Message": message, "MessageArgs": []any{origin},
		"Links": map[string]any{"OriginOfCondition": refer(origin)},
	}
	if b.events == nil {
		b.events = map[string][]map[string]any{}
	}
	list := append(b.events[log], entry)
	if over := len(list) - maxEvents; over > 0 {
		for _, old := range list[:over] {
			delete(b.nodes, key(text(old, "@odata.id")))
		}
		list = slices.Clone(list[over:])
	}
	b.events[log] = list
	b.set(text(entry, "@odata.id"), entry)
	b.setEntries(log, path, list)
}

// setEntries makes the collection anew: the tree's entries, and then the new ones.
func (b *BMC) setEntries(log, path string, list []map[string]any) {
	var members []any
	if n := b.tree.nodes[key(path)]; n != nil {
		members, _ = deep(n.body["Members"]).([]any)
	}
	for _, e := range list {
		members = append(members, e)
	}
	b.set(path, collection(path, "LogEntry", "Log Entries", members))
}

// clearLog empties a log, of what the tree has in it too.
func (b *BMC) clearLog(log string) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	path := b.entriesOf(log)
	for _, e := range b.events[log] {
		delete(b.nodes, key(text(e, "@odata.id")))
	}
	delete(b.events, log)
	b.set(path, collection(path, "LogEntry", "Log Entries", nil))
	return answer{status: http.StatusNoContent}
}
