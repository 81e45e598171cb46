package lifecycle_test

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// someLives are lives that between them accept every input.
func someLives(t testing.TB) map[string]*host {
	t.Helper()
	lives := inFlight(t)
	for s, h := range ways(t) {
		lives[string(s)] = h
	}
	lives["ready"], lives["deployed"], lives["adopted"], lives["by UUID"], lives["device"] = ready(t), deployed(t), adopted(t), byUUID(t), retirableDevice(t)
	lives["retired"], lives["offline"] = retiredMetal(t), retiredDevice(t)
	return lives
}

// The zero value of every input, and every input at no time at all: an answer
// or a coded refusal, never a panic.
func TestZeroInputs(t *testing.T) {
	for name, h := range someLives(t) {
		t.Run(name, func(t *testing.T) {
			h.t = t
			for _, in := range everything(h) {
				m := *h
				m.try(reflect.Zero(reflect.TypeOf(in)).Interface().(lifecycle.Input))
				m = *h
				if m.now = (time.Time{}); m.try(in) == nil && len(m.facts) > 0 {
					t.Errorf("%s was accepted at no time", in.Name())
				}
			}
		})
	}
}

// No input at all is refused like any other nonsense.
func TestNoInput(t *testing.T) {
	h := approved(t)
	out, err := lifecycle.Step(h.State, nil, h.now)
	if codeOf(err) != string(sm.InvalidInput) || !reflect.DeepEqual(out.Next, h.State) {
		t.Errorf("%v", err)
	}
}

// wild are values that no caller should send, by the kind of a field.
func wild(v reflect.Value) []any {
	switch v.Interface().(type) {
	case time.Time:
		return []any{time.Time{}, time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(1<<60, 0)}
	case netip.Addr:
		return []any{netip.Addr{}, addr("::1%eth0"), addr("255.255.255.255")}
	case netip.Prefix:
		return []any{netip.Prefix{}, netip.MustParsePrefix("::/0"), netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("10.7.0.9/28")}
	}
	switch v.Kind() {
	case reflect.String:
		return []any{"", strings.Repeat("x", 20_000), "a\nb", "\x00", "\xff\xfe", "../../etc/passwd", "node_", "$(reboot)", "żółw"}
	case reflect.Int, reflect.Int64:
		return []any{-1, -1 << 63, 1<<63 - 1}
	case reflect.Uint64:
		return []any{uint64(0), uint64(1<<64 - 1)}
	case reflect.Bool:
		return []any{!v.Bool()}
	}
	return nil
}

// wilder are wild values of what holds many: 10,000 of them, or none.
func wilder(typ reflect.Type) []reflect.Value {
	var many reflect.Value
	switch typ.Kind() {
	case reflect.Slice:
		many = reflect.MakeSlice(typ, 10_000, 10_000)
	case reflect.Map:
		many = reflect.MakeMap(typ)
		for i := range 10_000 {
			many.SetMapIndex(reflect.ValueOf(fmt.Sprint("k", i)), reflect.ValueOf("v"))
		}
	case reflect.Array:
		many = reflect.New(typ).Elem()
		for i := range many.Len() {
			if e := many.Index(i); e.Kind() == reflect.Uint8 {
				e.SetUint(0xff)
			}
		}
	default:
		return nil
	}
	return []reflect.Value{many, reflect.Zero(typ)}
}

// corrupt calls use with v holding each wild value in turn, in each of its
// fields, and puts the old value back.
func corrupt(v reflect.Value, path string, use func(what string)) {
	was := reflect.New(v.Type()).Elem()
	was.Set(v)
	for _, x := range wild(v) {
		v.Set(reflect.ValueOf(x).Convert(v.Type()))
		use(fmt.Sprintf("%s=%.20q", path, fmt.Sprint(x)))
	}
	for i, x := range wilder(v.Type()) {
		v.Set(x)
		use(fmt.Sprintf("%s wild %d", path, i))
	}
	v.Set(was)
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				corrupt(f, path+"."+v.Type().Field(i).Name, use)
			}
		}
	}
}

// Bounds on what any one input may leave behind, so that nonsense cannot grow
// a node or the log.
const (
	maxGrowth = 18 << 10 // bytes of rows
	maxFact   = 1 << 10  // bytes of a fact's words
)

// Every field of every input, one at a time, with values that make no sense:
// refused with a code and nothing changed; or accepted, and then bounded, and
// read back as it was written.
func TestWildInputs(t *testing.T) {
	lives := someLives(t)
	for _, name := range []string{"absent", "pending", "approved", "awaiting_setup", "drained", "ready", "commissioning", "adopted", "by UUID", "run", "wiping"} {
		t.Run(name, func(t *testing.T) {
			h := lives[name]
			h.t = t
			size := len(picture(h.State))
			for _, in := range everything(h) {
				v := reflect.New(reflect.TypeOf(in)).Elem()
				v.Set(reflect.ValueOf(in))
				corrupt(v, in.Name(), func(what string) {
					out, err := lifecycle.Step(h.State, v.Interface().(lifecycle.Input), h.now)
					if err != nil {
						refusedWhole(t, what, &h.State, &out, err)
						return
					}
					if len(out.Facts) > 0 {
						bounded(t, what, &out, size)
					}
				})
			}
		})
	}
}

func refusedWhole(t *testing.T, what string, was *lifecycle.State, out *lifecycle.Outcome, err error) {
	t.Helper()
	if codeOf(err) == "" || len(err.Error()) > 4*maxFact {
		t.Errorf("%s: no code, or %d bytes: %.200v", what, len(err.Error()), err)
	}
	if len(out.Facts) > 0 || !reflect.DeepEqual(out.Next, *was) {
		t.Errorf("%s: refused (%.200v) and changed something", what, err)
	}
}

func bounded(t *testing.T, what string, out *lifecycle.Outcome, size int) {
	t.Helper()
	text := picture(out.Next)
	if len(text) > size+maxGrowth {
		t.Errorf("%s was accepted and grew the state to %d bytes from %d", what, len(text), size)
	}
	for _, f := range out.Facts {
		if len(f.Why)+len(f.Key)+len(f.Name) > maxFact {
			t.Errorf("%s: fact %.40s has %d bytes", what, f.Name, len(f.Why)+len(f.Key))
		}
	}
	back, err := lifecycle.Load(lifecycle.Rows(out.Next))
	if err != nil {
		t.Errorf("%s was accepted and cannot be read back: %v", what, err)
		return
	}
	if got := picture(back); got != text {
		t.Errorf("%s was accepted and reads back as another state:\n%.2000s\n%.2000s", what, text, got)
	}
}

// MACH-8: what a newer version wrote is never written, whatever comes.
// EDGE-18: nor is a node with a state that this version does not know, on any
// axis. An announce is answered with success all the same.
func TestUnknown(t *testing.T) {
	for name, alter := range map[string]func(*lifecycle.Node){
		"schema":       func(n *lifecycle.Node) { n.Schema = lifecycle.Schema + 1 },
		"registration": func(n *lifecycle.Node) { n.Reg.State = "quarantined" },
		"provision":    func(n *lifecycle.Node) { n.Prov.State = "warming" },
		"run":          func(n *lifecycle.Node) { n.Run.State = "paused" },
		"retirement":   func(n *lifecycle.Node) { n.Run.Retire.State = "shredding" },
		"scheduling":   func(n *lifecycle.Node) { n.Sched.State = "fenced" },
		"maintenance":  func(n *lifecycle.Node) { n.Sched.Service = "on-loan" },
		"connectivity": func(n *lifecycle.Node) { n.Conn.Link = "satellite" },
	} {
		t.Run(name, func(t *testing.T) {
			for _, h := range []*host{installed(t), ready(t), retirableDevice(t), awaiting(t)} {
				alter(&h.Node)
				h.t = t
				for _, in := range everything(h) {
					m := *h
					err := m.try(in)
					switch {
					case reflect.TypeOf(in) == reflect.TypeFor[lifecycle.Announce]():
						if err != nil || len(m.facts) > 0 {
							t.Errorf("announce: %v, facts %v", err, m.facts)
						}
					case err == nil && len(m.facts) > 0 && !siteOnly(in):
						t.Errorf("%s was accepted: %v", in.Name(), m.facts)
					case err != nil && !siteOnly(in) && codeOf(err) != string(sm.InvalidState) && codeOf(err) != string(sm.Denied):
						t.Errorf("%s: %v (%s)", in.Name(), err, codeOf(err))
					}
				}
			}
		})
	}
}

// EDGE-18: a boot record in an unknown state is never moved; what is about it
// is refused, and what need not write it goes on.
func TestUnknownBootRecord(t *testing.T) {
	for _, h := range []*host{installed(t), ready(t), awaiting(t), drained(t), enrolledMetal(t)} {
		odd := netboot.Record{At: netboot.At{State: "adrift"}, MAC: nicA, Owner: netboot.Owner{Node: string(aNode)}, Entry: netboot.Entry{Epoch: 1, Image: image}}
		h.t, h.Node.NICs = t, []netboot.Record{odd}
		for _, in := range everything(h) {
			m := *h
			err := m.try(in)
			if m.record(nicA) != odd {
				t.Errorf("%s changed it: %+v", in.Name(), m.record(nicA))
			}
			switch in.(type) {
			case lifecycle.BootVerb, lifecycle.Sighted:
				if codeOf(err) != string(sm.InvalidState) || !strings.Contains(err.Error(), "adrift") {
					t.Errorf("%s: %v", in.Name(), err)
				}
			}
		}
	}
}

// siteOnly are the inputs that touch no node.
func siteOnly(in lifecycle.Input) bool {
	switch in.(type) {
	case lifecycle.SetPolicy, lifecycle.SetWindow:
		return true
	}
	return false
}

// EDGE-7: a counter at its end opens no attempt, rather than begin again.
func TestEpochsNeverWrap(t *testing.T) {
	for name, c := range map[string]struct {
		h  *host
		in func(h *host) lifecycle.Input
	}{
		"setup": {awaiting(t), func(h *host) lifecycle.Input { return h.approveSetup() }},
		"join":  {approved(t), func(h *host) lifecycle.Input { return lifecycle.Join{Certificate: "c1"} }},
	} {
		t.Run(name, func(t *testing.T) {
			c.h.Site.Epoch = 1<<64 - 1
			c.h.refused(sm.InvalidInput, c.in(c.h))
		})
	}
}

// Nonsense by name, with the code that it gets.
func TestNonsense(t *testing.T) {
	many := make([]registration.MAC, 10_000)
	for i := range many {
		many[i] = registration.MAC{2, 0, 0, 0, byte(i >> 8), byte(i)}
	}
	for name, c := range map[string]struct {
		code sm.Code
		from func(testing.TB) *host
		in   func(h *host) lifecycle.Input
	}{
		"10,000 MACs registered": {sm.InvalidInput, newMachine, func(h *host) lifecycle.Input { in := h.register(); in.Inventory.MACs = many; return in }},
		"10,000 MACs seen":       {sm.InvalidInput, newMachine, func(h *host) lifecycle.Input { in := h.announce(); in.Inventory.Seen = many; return in }},
		"10,000 disks refreshed": {sm.InvalidInput, approved, func(h *host) lifecycle.Input {
			in := lifecycle.Refresh{Key: h.Node.Reg.Bound.Hash, Inventory: sysinfo()}
			in.Inventory.Serials = make([]string, 10_000)
			return in
		}},
		"a code without end":     {sm.InvalidInput, newMachine, func(h *host) lifecycle.Input { in := h.register(); in.Code.Until = h.now.Add(2 * time.Hour); return in }},
		"a code that is over":    {sm.InvalidInput, newMachine, func(h *host) lifecycle.Input { in := h.register(); in.Code.Until = h.now; return in }},
		"a poll without end":     {sm.InvalidInput, newMachine, func(h *host) lifecycle.Input { in := h.register(); in.Poll.Until = h.now.Add(2 * time.Hour); return in }},
		"a key of another scope": {sm.InvalidInput, newMachine, func(h *host) lifecycle.Input { in := h.register(); in.Bound.Scope = "full"; return in }},
		"no node ID":             {sm.InvalidInput, newMachine, func(h *host) lifecycle.Input { in := h.register(); in.NewID = ""; return in }},
		"a node ID of I, L, O": {sm.InvalidInput, newMachine, func(h *host) lifecycle.Input {
			in := h.announce()
			in.NewID = "node_iiiiiiiiiiiiiiiiiiiiiiiiii"
			return in
		}},
		"no boot verb":          {sm.InvalidInput, newMachine, func(h *host) lifecycle.Input { return verbOn(nicA, "complete") }},
		"the zero MAC":          {sm.InvalidInput, newMachine, func(h *host) lifecycle.Input { return lifecycle.Sighted{} }},
		"a group MAC":           {sm.InvalidInput, newMachine, func(h *host) lifecycle.Input { return verbOn(netboot.MAC{1, 0, 0x5e, 0, 0, 1}, netboot.Enroll) }},
		"arguments with a line": {sm.InvalidInput, enrolledMetal, func(h *host) lifecycle.Input { in := h.entry(nicA); in.Args = "quiet\nshell"; return in }},
		"arguments without end": {sm.InvalidInput, enrolledMetal, func(h *host) lifecycle.Input { in := h.entry(nicA); in.Args = strings.Repeat("x", 4096); return in }},
		"a reason of 257 bytes": {sm.InvalidInput, approved, func(h *host) lifecycle.Input { return lifecycle.Disable{Call: because(strings.Repeat("x", 257))} }},
		"a reason with a bell":  {sm.InvalidInput, approved, func(h *host) lifecycle.Input { return lifecycle.Disable{Call: because("\a")} }},
		"a reserved label": {sm.InvalidInput, approved, func(h *host) lifecycle.Input {
			return lifecycle.Configure{Call: ops, Settings: registration.Settings{Labels: map[string]string{"ingot.dev/driver": "x"}}}
		}},
		"a label of no form": {sm.InvalidInput, approved, func(h *host) lifecycle.Input {
			return lifecycle.Configure{Call: ops, Settings: registration.Settings{Labels: map[string]string{"-x": "y"}}}
		}},
		"a label's value of two lines": {sm.InvalidInput, approved, func(h *host) lifecycle.Input {
			return lifecycle.Configure{Call: ops, Settings: registration.Settings{Labels: map[string]string{"x": "y\nz"}}}
		}},
		"65 labels": {sm.InvalidInput, approved, func(h *host) lifecycle.Input {
			labels := map[string]string{}
			for i := range 65 {
				labels[fmt.Sprint("k", i)] = "v"
			}
			return lifecycle.Configure{Call: ops, Settings: registration.Settings{Labels: labels}}
		}},
	} {
		t.Run(name, func(t *testing.T) { h := c.from(t); h.refused(c.code, c.in(h)) })
	}
}
