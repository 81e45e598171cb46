package bmcsim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// What a tree may be at most.
const (
	MaxTree      = 32 << 20 // bytes of JSON
	MaxResources = 20_000
)

// root is the path of every service.
const root = "/redfish/v1"

// A Tree is the resources of one machine, as JSON bodies by path. It is read once and
// shared by all BMCs that show it, none of which changes it.
type Tree struct {
	name, machine string

	nodes   map[string]*node  // by key
	actions map[string]action // by the key of their target
	systems []string          // keys of systems that can be reset, or that have a power state
	chassis []string          // keys of chassis with a power state
	slots   []string          // keys of slots of virtual media
	logs    []string          // keys of services of logs
}

// A node is one resource as it was read.
type node struct {
	path string
	raw  []byte
	body map[string]any // never changed
}

// An action is what a resource lets do.
type action struct {
	on   string // key of the resource
	name string // such as ComputerSystem.Reset
}

// A TreeError says why a text is no tree.
type TreeError struct{ Name, Why string }

// Error names the tree.
func (e *TreeError) Error() string { return fmt.Sprintf("bmcsim: tree %s: %s", e.Name, e.Why) }

// Code is the error's wire name.
func (*TreeError) Code() string { return "INVALID_INPUT" }

// key is what two spellings of a path have in common: letters of any case are the same,
// and a slash at the end says nothing.
func key(path string) string { return strings.ToLower(strings.TrimRight(path, "/")) }

// ParseTree reads a tree of the form of the package trees: one JSON object, with bodies
// by path, and perhaps _meta. A path may have a query, such as that of a collection's next
// page. Of two spellings of one path the first in order is taken. The errors are a *[TreeError], or r's.
func ParseTree(name string, r io.Reader) (*Tree, error) {
	raw, err := io.ReadAll(io.LimitReader(r, MaxTree+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("bmcsim: tree %s: %w", name, err)
	case len(raw) > MaxTree:
		return nil, &TreeError{name, fmt.Sprintf("larger than %d bytes", MaxTree)}
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, &TreeError{name, err.Error()}
	}
	t := &Tree{name: name, machine: machineOf(all["_meta"]), nodes: map[string]*node{}, actions: map[string]action{}}
	delete(all, "_meta")
	if len(all) > MaxResources {
		return nil, &TreeError{name, fmt.Sprintf("%d resources, at most %d", len(all), MaxResources)}
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if err := t.add(path, all[path]); err != nil {
			return nil, &TreeError{name, err.Error()}
		}
	}
	if t.nodes[root] == nil {
		return nil, &TreeError{name, "it has no " + root}
	}
	t.index()
	return t, nil
}

func machineOf(meta json.RawMessage) string {
	var m struct{ Machine string }
	_ = json.Unmarshal(meta, &m) // a tree need not say what it is
	return m.Machine
}

func (t *Tree) add(path string, raw json.RawMessage) error {
	k := key(path)
	if k != root && !strings.HasPrefix(k, root+"/") {
		return fmt.Errorf("%q is not below %s", path, root)
	}
	if t.nodes[k] != nil {
		return nil // some BMCs show a resource at two spellings
	}
	body, err := object(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	t.nodes[k] = &node{path: strings.TrimRight(path, "/"), raw: raw, body: body}
	return nil
}

// object reads one JSON object, and nothing behind it. Numbers stay as they are written.
func object(raw []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var body map[string]any
	if err := d.Decode(&body); err != nil {
		return nil, err
	}
	if body == nil {
		return nil, errors.New("no object")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one JSON document")
	}
	return body, nil
}

// index finds what is alive in a tree.
func (t *Tree) index() {
	for _, k := range slices.Sorted(maps.Keys(t.nodes)) {
		n := t.nodes[k]
		for name, a := range dig(n.body, "Actions") {
			a, _ := a.(map[string]any)
			if target := text(a, "target"); target != "" && strings.HasPrefix(name, "#") {
				t.actions[key(target)] = action{k, strings.TrimPrefix(name, "#")}
			}
		}
		kind := text(n.body, "@odata.type")
		switch {
		case strings.HasPrefix(kind, "#ComputerSystem.") && isMember(k, "systems") && text(n.body, "PowerState") != "":
			t.systems = append(t.systems, k)
		case strings.HasPrefix(kind, "#Chassis.") && isMember(k, "chassis") && text(n.body, "PowerState") != "":
			t.chassis = append(t.chassis, k)
		case strings.HasPrefix(kind, "#VirtualMedia."):
			t.slots = append(t.slots, k)
		case strings.HasPrefix(kind, "#LogService."):
			t.logs = append(t.logs, k)
		}
	}
}

// isMember reports whether a key is a direct member of one of the collections at the top.
func isMember(k, collection string) bool {
	rest, ok := strings.CutPrefix(k, root+"/"+collection+"/")
	return ok && !strings.Contains(rest, "/")
}

// Name is what ParseTree was told.
func (t *Tree) Name() string { return t.name }

// Machine says in words what was recorded, where the tree says it.
func (t *Tree) Machine() string { return t.machine }

// Systems are the paths of the systems that have a power state, sorted.
func (t *Tree) Systems() []string { return t.paths(t.systems) }

// Slots are the paths of the slots of virtual media, sorted. Two of them may be one slot,
// shown in two places.
func (t *Tree) Slots() []string { return t.paths(t.slots) }

func (t *Tree) paths(keys []string) []string {
	out := make([]string, 0, len(keys))
	for _, k := range keys {
		out = append(out, t.nodes[k].path)
	}
	return out
}
