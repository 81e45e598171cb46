package lifecycle_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// browsOf are the rows of a state, by key.
func browsOf(s lifecycle.State) map[string]string {
	rows := map[string]string{}
	for key, val := range lifecycle.Rows(s) {
		rows[key] = string(val)
	}
	return rows
}

// byKey yields rows in the order of their keys, as a store does.
func byKey(rows map[string]string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, key := range slices.Sorted(maps.Keys(rows)) {
			if !yield(key, []byte(rows[key])) {
				return
			}
		}
	}
}

// bfill sets every field that can be set to a value that is not its zero.
func bfill(v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)))
		return
	case reflect.TypeFor[netip.Addr]():
		v.Set(reflect.ValueOf(netip.MustParseAddr("10.7.0.4")))
		return
	case reflect.TypeFor[netip.Prefix]():
		v.Set(reflect.ValueOf(netip.MustParsePrefix("10.7.0.0/28")))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x1")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(4)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				bfill(v.Field(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			bfill(v.Index(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		bfill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, val := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		bfill(key)
		bfill(val)
		v.SetMapIndex(key, val)
	default:
		panic("a kind that no field had: " + v.Kind().String())
	}
}

// Every field of a state survives its rows: whoever adds one that does not
// fails here.
func TestNoFieldIsLost(t *testing.T) {
	var s lifecycle.State
	bfill(reflect.ValueOf(&s).Elem())
	got, err := lifecycle.Load(lifecycle.Rows(s))
	if err != nil {
		t.Fatal(err)
	}
	if d := bdiffer(got, s); d != "" {
		t.Errorf("lost: %s", d)
	}
	if !reflect.DeepEqual(got.Node, s.Node) {
		t.Errorf("%+v\n%+v", got.Node, s.Node)
	}
}

// Rows read back in any order give the same rows, for every life.
func TestRowsRoundTrip(t *testing.T) {
	for way, life := range bways() {
		h := life(t)
		rows := browsOf(h.State)
		got, err := lifecycle.Load(byKey(rows))
		if err != nil {
			t.Fatalf("%s: %v", way, err)
		}
		if again := browsOf(got); !maps.Equal(again, rows) {
			t.Errorf("%s: rows differ", way)
		}
		if d := bdiffer(got, h.State); d != "" {
			t.Errorf("%s lost %s", way, d)
		}
	}
	for range lifecycle.Rows(ready(t).State) {
		break // a consumer may stop
	}
	if got, err := lifecycle.Load(func(func(string, []byte) bool) {}); err != nil || !reflect.DeepEqual(got.Node, lifecycle.Fresh()) {
		t.Errorf("no rows are no node: %+v, %v", got, err)
	}
	// A policy is usable at once: what it admits is read from its rows.
	site := newHost(t, func(p *lifecycle.Policy) { p.Allow = []string{"52:54:00:00:00:0a"} })
	got, err := lifecycle.Load(lifecycle.Rows(site.State))
	if err != nil {
		t.Fatal(err)
	}
	site.State = got
	site.do(lifecycle.Sighted{MAC: nicA}, lifecycle.Sighted{MAC: nicB})
	site.boot(nicA, netboot.Enrolling)
	site.boot(nicB, netboot.Discovered)
}

// MACH-1: each claim has one index row that names its holder; what is void has
// none.
func TestIndexRows(t *testing.T) {
	h := bjoined(t).do(lifecycle.Listed{Device: "dev-1"}, lifecycle.Sighted{MAC: nicA})
	node, key := string(aNode), uuid.Key().String()
	wants := func(rows map[string]string, want map[string]string) {
		t.Helper()
		for k, v := range want {
			if got, ok := rows[lifecycle.RowBy+k]; !ok || got != v {
				t.Errorf("row %s is %q, %t; want %q", k, got, ok, v)
			}
		}
		for k := range rows {
			if rest, ok := strings.CutPrefix(k, lifecycle.RowBy); ok {
				if _, wanted := want[rest]; !wanted {
					t.Errorf("row %s is one too many", k)
				}
			}
		}
	}
	wants(browsOf(h.State), map[string]string{"server/" + key: node, "ek/ek-1": node, "hardware-key/hw-1": node, "device/dev-1": node,
		"address/10.7.0.3": nicA.String()})

	m := newHost(t).do(lifecycle.EnrollMetal{Call: ops, NewID: aNode, Request: "req-1", Metal: lifecycle.Metal{BMC: "10.9.0.1", MACs: []netboot.MAC{nicA}}})
	wants(browsOf(m.State), map[string]string{"bmc/10.9.0.1": node, "request/req-1": node, "node-mac/" + node + "/" + nicA.String(): ""})
	c := bunnamed(t).do(lifecycle.Sighted{MAC: nicA, Spoken: true, Product: netboot.ServerID(uuid)}, lifecycle.Propose{Proposal: lifecycle.Proposal{MAC: nicA, Cycled: true}})
	wants(browsOf(c.State), map[string]string{"bmc/10.9.0.1": node, "server/" + key: node, "candidate/" + node + "/" + nicA.String(): ""})

	secrets := func(h *host) (n int) {
		for k, v := range browsOf(h.State) {
			for _, what := range []string{"claim/", "poll/", "key/"} {
				if strings.HasPrefix(k, lifecycle.RowBy+what) {
					if n++; v != key {
						t.Errorf("%s leads to %s", k, v)
					}
				}
			}
		}
		return n
	}
	for name, c := range map[string]struct {
		h    *host
		want int
	}{"pending": {pending(t), 2}, "approved": {approved(t), 3}, "disabled": {disabled(t), 0}, "setting up": {settingUpHost(t), 4}, "installed": {installed(t), 4}, "awaiting": {awaiting(t), 0}} {
		if got := secrets(c.h); got != c.want {
			t.Errorf("%s has %d secrets' rows, want %d", name, got, c.want)
		}
	}
	gone := h.do(lifecycle.DeleteNode{Call: ops, World: idle})
	wants(browsOf(gone.State), map[string]string{"address/10.7.0.3": nicA.String()})
}

// MACH-8, EDGE-18: what this version does not know survives and is refused,
// whatever comes; an announce answers success.
func TestUnknownIsKeptAndRefused(t *testing.T) {
	foreign := map[string]func(*lifecycle.Node){
		"schema":       func(n *lifecycle.Node) { n.Schema = lifecycle.Schema + 1 },
		"registration": func(n *lifecycle.Node) { n.Reg.State = "quarantined" },
		"provision":    func(n *lifecycle.Node) { n.Prov.State = "reimaging" },
		"run":          func(n *lifecycle.Node) { n.Run.State = "paused" },
		"retirement":   func(n *lifecycle.Node) { n.Run.Retire.State = "shredding" },
		"scheduling":   func(n *lifecycle.Node) { n.Sched.State = "reserved" },
		"maintenance":  func(n *lifecycle.Node) { n.Sched.Service = "recalled" },
		"connectivity": func(n *lifecycle.Node) { n.Conn.Link = "asleep" },
	}
	for name, change := range foreign {
		t.Run(name, func(t *testing.T) {
			start := approved(t).do(lifecycle.Listed{Device: "dev-1"}).State
			change(&start.Node)
			s, err := lifecycle.Load(byKey(browsOf(start)))
			if err != nil || bdiffer(s, start) != "" {
				t.Fatalf("%v; lost %s", err, bdiffer(s, start))
			}
			rapid.Check(t, func(t *rapid.T) {
				g := &bgen{T: t, s: &s, now: dawn}
				in := g.input()
				out, err := lifecycle.Step(s, in, dawn)
				_, relayed := in.(lifecycle.Announce)
				if len(out.Facts) > 0 || !reflect.DeepEqual(out.Next, s) || relayed != (err == nil) || err != nil && codeOf(err) != string(sm.InvalidState) {
					t.Fatalf("%s: %v, %v", btype(in), out.Facts, err)
				}
			})
		})
	}
	// A row of a newer schema marks the node, whichever row it is.
	for _, prefix := range []string{lifecycle.RowNode, lifecycle.RowRegistration, lifecycle.RowBoot} {
		rows := browsOf(awaiting(t).State)
		for key, val := range rows {
			if strings.HasPrefix(key, prefix) {
				rows[key] = strings.Replace(val, `"Schema":1`, `"Schema":2`, 1)
			}
		}
		s, err := lifecycle.Load(byKey(rows))
		if err != nil || s.Node.Schema != 2 {
			t.Errorf("%s: schema %d, %v", prefix, s.Node.Schema, err)
		}
	}
}

// A row that cannot be read is an error that names it, and no state.
func TestCorruptRows(t *testing.T) {
	good := browsOf(ready(t).do(lifecycle.Sighted{MAC: nicB}).State)
	good[lifecycle.RowRegistration+uuid.Key().String()] = browsOf(approved(t).State)[lifecycle.RowRegistration+uuid.Key().String()]
	if _, err := lifecycle.Load(byKey(good)); err != nil {
		t.Fatal(err)
	}
	for key := range good {
		if strings.HasPrefix(key, lifecycle.RowBy) || strings.HasPrefix(key, lifecycle.RowDue) {
			continue
		}
		for _, val := range []string{"", "{", "[[]]", `"x"`, good[key] + "x"} {
			rows := maps.Clone(good)
			rows[key] = val
			s, err := lifecycle.Load(byKey(rows))
			bad, ok := errors.AsType[*lifecycle.RowError](err)
			if !ok || bad.Key != key || bad.Code() != string(sm.Unavailable) || errors.Unwrap(bad) == nil || !strings.Contains(bad.Error(), key) || !reflect.DeepEqual(s, lifecycle.State{}) {
				t.Errorf("%s = %.20q: %v", key, val, err)
			}
		}
	}
	for key, val := range map[string]string{
		lifecycle.RowNode + "node_other":            good[lifecycle.RowNode+string(aNode)],
		lifecycle.RowBoot + nicA.String():           good[lifecycle.RowBoot+nicB.String()],
		lifecycle.RowRegistration + "other":         good[lifecycle.RowRegistration+uuid.Key().String()],
		lifecycle.RowSite + "policy":                `{"Enrollment":".."}`,
		lifecycle.RowSite + "pool":                  `{"Network":"10.7.0.0/28","Free":[{"First":"10.7.0.9","Last":"10.7.0.3"}]}`,
		lifecycle.RowSite + "pool\x00":              "",
		lifecycle.RowBoot + netboot.MAC{}.String():  `{"Record":{"MAC":""}}`,
		lifecycle.RowBoot + "01:00:00:00:00:01":     `{"Record":{"MAC":"01:00:00:00:00:01"}}`,
		lifecycle.RowNode + string(aNode) + "\x00x": good[lifecycle.RowNode+string(aNode)],
	} {
		key, _, unread := strings.Cut(key, "\x00")
		rows := map[string]string{key: val}
		if unread && val == "" {
			rows[key] = `{"Network":"fd00::/64","Free":[{"First":"fd00::1","Last":"fd00::2"}]}`
		} else if unread {
			rows = map[string]string{key + "x": val}
		}
		if _, err := lifecycle.Load(byKey(rows)); codeOf(err) != string(sm.Unavailable) {
			t.Errorf("%s: %v", key, err)
		}
	}
	if _, err := lifecycle.Load(byKey(map[string]string{"site/later": "x", "unheard/of": "x", "by/ek/1": "x"})); err != nil {
		t.Errorf("rows of others are passed over: %v", err)
	}
}

// FuzzLoad reads rows that nobody wrote. What can be read stands: it can be
// written and read again, and stepped.
func FuzzLoad(f *testing.F) {
	for _, life := range []func(testing.TB) *host{newSite, approved, awaiting, drained, ready, retiredDevice} {
		var b bytes.Buffer
		for key, val := range lifecycle.Rows(life(f).State) {
			fmt.Fprintf(&b, "%s\t%s\n", key, val)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		s, err := lifecycle.Load(func(yield func(string, []byte) bool) {
			for line := range bytes.Lines(data) {
				key, val, _ := bytes.Cut(line, []byte("\t"))
				if !yield(string(key), val) {
					return
				}
			}
		})
		if err != nil {
			if codeOf(err) != string(sm.Unavailable) {
				t.Fatalf("%v has no code", err)
			}
			return
		}
		again, err := lifecycle.Load(lifecycle.Rows(s))
		if err != nil {
			t.Fatalf("rows of what was read cannot be read: %v", err)
		}
		if !maps.Equal(browsOf(again), browsOf(s)) {
			t.Fatalf("rows change when read again")
		}
		for _, in := range []lifecycle.Input{lifecycle.Expire{}, lifecycle.Sighted{MAC: nicA}, lifecycle.Disable{Call: ops}, lifecycle.DeleteNode{Call: ops, World: idle}, verb("retire")} {
			if out, err := lifecycle.Step(s, in, dawn); err != nil && !reflect.DeepEqual(out.Next, s) {
				t.Fatalf("%s: %v, and a change", btype(in), err)
			}
		}
		lifecycle.Due(&s.Node)
		for range lifecycle.Needs(&s.Node) {
		}
		_ = lifecycle.Reasons(&s.Node)
	})
}

func newSite(t testing.TB) *host { return newHost(t) }

// Secrets stay in rows: no print of a state, a fact or a refusal shows a
// bundle or key.
func TestPrintsHideSecrets(t *testing.T) {
	h := approved(t)
	h.do(lifecycle.Configure{Call: ops, Settings: registration.Settings{RootHash: "$6$secret"}})
	s := settingUpHost(t)
	for _, text := range []string{fmt.Sprintf("%v %+v %#v", h.State, h.State, h.State), fmt.Sprintf("%v %+v %#v", s.State, s.State, s.State), fmt.Sprint(h.facts, s.facts)} {
		for _, secret := range []string{"sealed-key", "sealed-bundle", "$6$secret"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s is printed", secret)
			}
		}
	}
	b, err := json.Marshal(h.facts)
	if err != nil || bytes.Contains(b, []byte("sealed")) {
		t.Errorf("%s, %v", b, err)
	}
}
