package bmcsim

import (
	"net/http"
	"strings"
)

// writable reports whether a key takes PATCH.
func (b *BMC) writable(k string) bool {
	if k == key(b.where.account) || b.slots[k] != nil && b.slots[k].patch {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.node(k)
	if n == nil {
		return false
	}
	kind, _, _ := strings.Cut(strings.TrimPrefix(text(n.body, "@odata.type"), "#"), ".")
	switch kind {
	case "ComputerSystem", "Chassis", "Bios", "SecureBoot", "Manager", "ManagerNetworkProtocol", "EthernetInterface":
		return true
	}
	return false
}

// patch changes a resource.
func (b *BMC) patch(q *request) answer {
	if !b.writable(q.key) {
		return b.notAllowed(q)
	}
	body, raw := b.body(q)
	if a, ok := b.matches(q, body, raw); !ok {
		return a
	}
	switch {
	case q.key == key(b.where.account):
		return b.patchAccount(q)
	case b.slots[q.key] != nil:
		return b.patchSlot(q, b.slots[q.key])
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.patchMembers(q)
}

// patchMembers writes members that are there, whole or not at all.
func (b *BMC) patchMembers(q *request) answer {
	have := b.node(q.key).body
	for name := range q.body {
		switch _, there := have[name]; {
		case strings.HasPrefix(name, "@"):
		case name == "PowerState" || name == "Id" || name == "UUID" || name == "SerialNumber":
			return readOnlyProperty(name)
		case !there:
			return unknownProperty(name)
		}
	}
	if boot, given := q.body["Boot"]; given {
		if no := b.patchBoot(q.key, boot); no.status != 0 {
			return no
		}
	}
	b.edit(q.key, func(body map[string]any) {
		for name, v := range q.body {
			switch of := v.(type) {
			case map[string]any:
				if name != "Boot" {
					merge(own(body, name), of)
				}
			default:
				if !strings.HasPrefix(name, "@") {
					body[name] = deep(v)
				}
			}
		}
	})
	if b.o.Bios.ShowsPending {
		b.showPending(q)
	}
	return answer{status: http.StatusNoContent}
}

// applyBios has the attributes apply that waited for a start.
func (b *BMC) applyBios(s *system) {
	bios := b.node(s.key + "/bios")
	if bios == nil {
		return
	}
	settings := key(linkOf(dig(bios.body, "@Redfish.Settings")["SettingsObject"]))
	changed := b.nodes[settings]
	if changed == nil {
		return
	}
	b.edit(s.key+"/bios", func(body map[string]any) { merge(own(body, "Attributes"), dig(changed.body, "Attributes")) })
	delete(b.nodes, settings)
}

// showPending writes attributes of the BIOS beside their settings object, too.
func (b *BMC) showPending(q *request) {
	given, ok := q.body["Attributes"].(map[string]any)
	bios := q.key[:strings.LastIndex(q.key, "/")]
	if n := b.node(bios); ok && n != nil && n.body["Attributes"] != nil {
		b.edit(bios, func(body map[string]any) { merge(own(body, "Attributes"), given) })
	}
}

// merge writes what is given into what is there.
func merge(into, from map[string]any) {
	for name, v := range from {
		below, ok := v.(map[string]any)
		at, there := into[name].(map[string]any)
		if ok && there {
			merge(at, below)
			continue
		}
		into[name] = deep(v)
	}
}
