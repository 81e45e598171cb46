package lifecycle_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/netip"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// bstep is one step with all that is known of it.
type bstep struct {
	was, is lifecycle.State
	in      lifecycle.Input
	facts   []lifecycle.Fact
	err     error
	now     time.Time
}

// bstarts are the states from which sequences begin: all reached by Step.
func bstarts(t testing.TB) []lifecycle.State {
	return []lifecycle.State{newHost(t).State, approved(t).State, awaiting(t).State, drained(t).State, adopted(t).State, enrolledMetal(t).State,
		bunnamed(t).do(lifecycle.Sighted{MAC: nicA, Product: netboot.ServerID(uuid)}).State, ready(t).State, approved(t).do(lifecycle.Listed{Device: "dev-1"}).State, retiredMetal(t).State, retiredDevice(t).State}
}

// TestSequences steps any inputs from many beginnings, and holds each step to
// every law.
func TestSequences(t *testing.T) {
	starts := bstarts(t)
	took := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		g := &bgen{T: t, now: dawn.Add(time.Hour)}
		s := starts[rapid.IntRange(0, len(starts)-1).Draw(t, "start")]
		g.s = &s
		t.Repeat(map[string]func(*rapid.T){
			"step": func(t *rapid.T) {
				g.T = t
				for range 8 {
					st := bdo(g, g.input())
					if err := bobey(st); err != nil {
						t.Fatalf("%s %+v\nin %s\n: %v", btype(st.in), st.in, picture(st.was), err)
					}
					if s = st.is; st.err == nil && len(st.facts) > 0 {
						took[btype(st.in)]++
					}
				}
			},
			"wait": func(t *rapid.T) {
				g.T = t
				g.now = g.now.Add(bone(g, time.Second, 20*time.Minute, 2*time.Hour, 25*time.Hour))
			},
			"due": func(t *rapid.T) { // the sweeper comes on time
				if at, in, ok := lifecycle.Due(&s.Node); ok {
					if at.After(g.now) {
						g.now = at
					}
					g.T = t
					st := bdo(g, in)
					if err := bobey(st); err != nil || st.err != nil || len(st.facts) == 0 {
						t.Fatalf("due, and not ended: %v, %v\nin %s", err, st.err, picture(st.was))
					}
					s = st.is
				}
			},
			"forget": func(t *rapid.T) { // the store finds rows and records, and no node
				if !s.Node.Deleted.IsZero() {
					n := lifecycle.Fresh()
					n.Reg, n.NICs = s.Node.Reg, s.Node.NICs
					s.Node = n
				}
			},
		})
	})
	t.Logf("accepted with effect: %v", took)
}

func bdo(g *bgen, in lifecycle.Input) bstep {
	was := *g.s
	before := picture(was)
	out, err := lifecycle.Step(was, in, g.now)
	if picture(was) != before {
		g.T.Fatalf("%s changed the state before it in place", btype(in))
	}
	return bstep{was, out.Next, in, out.Facts, err, g.now}
}

// TestInputsAreListed holds binputs to the package: each type with a method
// apply is an input.
func TestInputsAreListed(t *testing.T) {
	listed := map[string]bool{}
	for _, in := range binputs() {
		listed[btype(in)] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Name.Name == "apply" {
				if name := fn.Recv.List[0].Type.(*ast.Ident).Name; !listed[name] {
					t.Errorf("input %s is not listed", name)
				}
				found++
			}
		}
	}
	if found != len(listed) {
		t.Errorf("%d inputs in the package, %d listed", found, len(listed))
	}
}

// bobey holds a step to every law.
func bobey(s bstep) error {
	for _, l := range blaws {
		if err := l.check(&s); err != nil {
			return fmt.Errorf("%s (%s): %w", l.name, l.req, err)
		}
	}
	return nil
}

// blaw is what holds for every step.
type blaw struct {
	name, req string
	check     func(*bstep) error
}

var blaws = []blaw{
	{"a refusal has a code and changes nothing", "API-3", brefusal},
	{"no fact, no change; else one version", "EVENT-1", bversion},
	{"at most one attempt, with an end", "MACH-3", battempts},
	{"each epoch is used once, upwards", "EDGE-7", bepochs},
	{"keys and bundle live where they may", "SET-11", bkeys},
	{"enrolled records have owner and image", "BOOT-3", benrolled},
	{"retired machines have no identity and do not come back", "JOINT-6", bretired},
	{"tombstones claim nothing", "PROV-8", btombstone},
	{"grants are the writing attempt's", "MACH-7", bgrants},
	{"ready is earned", "PROV-2", bready},
	{"failures set maintenance, and only people clear it", "SCHED-4", bmaintenance},
	{"addresses are free or one record's", "BOOT-7", baddresses},
	{"strangers are counted", "REG-10", bcounts},
	{"reports are of their attempt, and repeat without effect", "MACH-4", breports},
	{"needs and due are pure, and attempts need something", "MACH-4", bpure},
	{"sessions are of members", "REG-11", bsessions},
	{"facts have names and no secrets", "EVENT-2", bfacts},
	{"rows carry it all", "MACH-1", brows},
}

func brefusal(s *bstep) error {
	if s.err == nil {
		return nil
	}
	if codeOf(s.err) == "" || s.err.Error() == "" {
		return fmt.Errorf("%v has no code", s.err)
	}
	if len(s.facts) > 0 || !reflect.DeepEqual(s.is, s.was) {
		return fmt.Errorf("%v, and a change", s.err)
	}
	return nil
}

func bversion(s *bstep) error {
	same := reflect.DeepEqual(s.is, s.was)
	if same == (len(s.facts) > 0) {
		return fmt.Errorf("same is %t with facts %v\n%s", same, s.facts, picture(s.is))
	}
	if grew := s.is.Node.Version - s.was.Node.Version; s.is.Node.ID != "" && (grew == 1) != (len(s.facts) > 0) {
		return fmt.Errorf("version grew by %d with facts %v", grew, s.facts)
	}
	return nil
}

func battempts(s *bstep) error {
	n := &s.is.Node
	open := 0
	for _, is := range []bool{registration.Table.Open(n.Reg.At), provision.Table.Open(n.Prov.At), run.Table.Open(n.Run.At), n.Run.Retiring()} {
		if is {
			open++
		}
	}
	_, _, due := lifecycle.Due(n)
	slot := lifecycle.SlotOf(n)
	waits := slot.State == string(run.Interrupting) || slot.State == string(run.AwaitingOff) || slot.State == string(run.Cleaning)
	switch {
	case open > 1:
		return fmt.Errorf("%d are open", open)
	case (open == 1) != (slot.Holder != lifecycle.Free):
		return fmt.Errorf("slot is %+v with %d open", slot, open)
	case open == 1 && !due && !waits:
		return fmt.Errorf("%+v never ends", slot)
	case open == 1 && slot.Epoch == 0 && !waits:
		return fmt.Errorf("%+v has no epoch", slot)
	}
	return nil
}

func bepochs(s *bstep) error {
	was, is := &s.was, &s.is
	if is.Site.Epoch < was.Site.Epoch || is.Site.Epoch > was.Site.Epoch+1 {
		return fmt.Errorf("the counter went from %d to %d", was.Site.Epoch, is.Site.Epoch)
	}
	for _, e := range [...][2]uint64{{was.Node.Reg.Epoch, is.Node.Reg.Epoch}, {was.Node.Prov.Epoch, is.Node.Prov.Epoch},
		{was.Node.Run.Epoch, is.Node.Run.Epoch}, {was.Node.Run.Retire.Epoch, is.Node.Run.Retire.Epoch}} {
		if e[0] != e[1] && e[1] != 0 && (e[1] != is.Site.Epoch || e[1] == was.Site.Epoch) {
			return fmt.Errorf("an attempt took %d; the counter is %d", e[1], is.Site.Epoch)
		}
	}
	return nil
}

func bkeys(s *bstep) error {
	r := &s.is.Node.Reg
	live := r.Bound.ID != "" || r.Tickets[0].ID != "" || r.Waiting != ""
	switch {
	case live && r.State != registration.SettingUp && r.State != registration.Approved:
		return fmt.Errorf("a key lives in %s", r.State)
	case r.Bundle != registration.Bundle{} && r.State != registration.SettingUp:
		return fmt.Errorf("a bundle in %s", r.State)
	case r.State == registration.SettingUp && s.was.Node.Reg.State != registration.SettingUp && btype(s.in) != "ApproveSetup":
		return errors.New("a setup that nobody approved (SET-1)")
	case r.State != registration.Absent && r.State != registration.Pending && r.OnceApproved != (r.OnceApproved || s.was.Node.Reg.OnceApproved):
		return errors.New("once approved was forgotten (EDGE-8)")
	}
	return nil
}

func benrolled(s *bstep) error {
	for _, b := range s.is.Node.NICs {
		if b.State == netboot.Enrolled && (b.Image == "" || b.Owner.Node == "") {
			return fmt.Errorf("%+v", b)
		}
		if b.Entry.Epoch != 0 && b.Owner.Node == string(s.is.Node.ID) && b.Entry.Epoch != lifecycle.SlotOf(&s.is.Node).Epoch {
			return fmt.Errorf("the entry %+v outlived its attempt", b.Entry)
		}
	}
	return nil
}

func bgone(n *lifecycle.Node) bool {
	return n.Prov.State == provision.Retired || n.Run.Retire.State == run.Offline
}

func bretired(s *bstep) error {
	n := &s.is.Node
	if n.Live() && bgone(&s.was.Node) && !bgone(n) {
		return errors.New("it came back")
	}
	if !bgone(n) {
		return nil
	}
	if len(n.Identity.Live) > 0 || n.Reg.Bound.ID != "" || n.Conn.Link == lifecycle.Connected || lifecycle.SlotOf(n).Holder != lifecycle.Free {
		return fmt.Errorf("identity %+v, key %q, link %s, slot %+v", n.Identity, n.Reg.Bound.ID, n.Conn.Link, lifecycle.SlotOf(n))
	}
	return nil
}

func btombstone(s *bstep) error {
	n := &s.is.Node
	if n.Deleted.IsZero() {
		return nil
	}
	if n.Claims != (lifecycle.Claims{}) || n.Prov != provision.New() || n.Run != run.New() || len(n.Commands)+len(n.Identity.Live) > 0 || len(n.MACs()) > 0 {
		return fmt.Errorf("%+v", n)
	}
	for key, val := range lifecycle.Rows(s.is) {
		secret := strings.HasPrefix(key, lifecycle.RowBy+"address/")
		if strings.HasPrefix(key, lifecycle.RowBy) && !secret && (string(val) == string(n.ID) || strings.Contains(key, string(n.ID))) || strings.HasPrefix(key, lifecycle.RowDue) {
			return fmt.Errorf("it has the index row %s", key)
		}
	}
	return nil
}

func bgrants(s *bstep) error {
	n := &s.is.Node
	slot, g := lifecycle.SlotOf(n), n.Grant
	writing := slot.Holder == lifecycle.Setup ||
		slot.Holder == lifecycle.Workflow && bwrites(n) ||
		slot.Holder == lifecycle.OwnerRun && n.Run.Action != run.Attest ||
		slot.Holder == lifecycle.Retirement && n.Run.Retire.State == run.Wiping
	switch {
	case writing != (g.Writing != ""):
		return fmt.Errorf("grant %+v with slot %+v", g, slot)
	case writing && (g.Approver == "" || g.Epoch != slot.Epoch):
		return fmt.Errorf("grant %+v with slot %+v", g, slot)
	case writing && (slot.Holder == lifecycle.OwnerRun || slot.Holder == lifecycle.Retirement) && len(g.Serials) != 1:
		return fmt.Errorf("a run's grant names %v (RUN-4)", g.Serials)
	}
	return nil
}

// bwrites reports whether a workflow may write a disk now (MACH-7, EDGE-5,
// EDGE-10).
func bwrites(n *lifecycle.Node) bool {
	wipes := n.Prov.Wipe != "" && n.Prov.Wipe != provision.WipeNone
	switch n.Prov.State {
	case provision.Deploying:
		return true
	case provision.Commissioning, provision.Releasing:
		return wipes
	case provision.Retiring:
		return wipes && !n.Prov.AwaitOff && n.Inventory.Digest != provision.Hash{}
	}
	return false
}

func bready(s *bstep) error {
	was, is := &s.was.Node.Prov, &s.is.Node.Prov
	if is.State != provision.Ready || was.State == provision.Ready {
		return nil
	}
	r, ok := s.in.(lifecycle.Report)
	switch {
	case !ok || !r.OK || r.World.Missing != "":
		return errors.New("without a report of success")
	case was.Proof != provision.Hash{}, was.State == provision.Releasing && was.Wipe == provision.WipeNone,
		was.State == provision.Commissioning && r.World.Agentless:
		return nil
	}
	return fmt.Errorf("from %s without evidence", was.State)
}

func bmaintenance(s *bstep) error {
	was, is := &s.was.Node, &s.is.Node
	_, person := s.in.(lifecycle.Maintain)
	switch {
	case is.Prov.State == provision.Failed && was.Prov.State != provision.Failed && is.Sched.Service != schedule.Maintenance:
		return errors.New("a failure did not set it")
	case is.Live() && was.Sched.Service == schedule.Maintenance && is.Sched.Service != schedule.Maintenance && !person:
		return errors.New("it was cleared")
	}
	return nil
}

func baddresses(s *bstep) error {
	p := s.is.Site.Policy
	all, err := lifecycle.NewPool(p.Network, append([]netip.Addr{p.Gateway, p.Server}, p.Exclude...)...)
	if err != nil {
		return err
	}
	pool := s.is.Site.Pool
	held := 0
	for i, b := range s.is.Node.NICs {
		if !b.Address.IsValid() {
			continue
		}
		if slices.ContainsFunc(s.is.Node.NICs[:i], func(o netboot.Record) bool { return o.Address == b.Address }) {
			return fmt.Errorf("two records hold %s", b.Address)
		}
		if _, err := pool.Take(b.Address); err == nil {
			return fmt.Errorf("%s is held and free", b.Address)
		}
		if _, err := all.Take(b.Address); err == nil {
			held++
		}
	}
	if pool.Count()+held != all.Count() {
		return fmt.Errorf("%d free and %d held of %d", pool.Count(), held, all.Count())
	}
	return nil
}

func bcounts(s *bstep) error {
	unapproved, discovered := 0, 0
	if r := &s.is.Node.Reg; r.State != registration.Absent && !r.OnceApproved {
		unapproved++
	}
	for _, b := range s.is.Node.NICs {
		if b.State == netboot.Discovered {
			discovered++
		}
	}
	if unapproved != s.is.Site.Unapproved || discovered != s.is.Site.Discovered {
		return fmt.Errorf("counted %d and %d, are %d and %d", s.is.Site.Unapproved, s.is.Site.Discovered, unapproved, discovered)
	}
	return nil
}

// bnamed is the epoch that a report names, and its axis's own.
func bnamed(s *bstep) (named, own uint64, ok bool) {
	was := &s.was.Node
	switch in := s.in.(type) {
	case lifecycle.Drain:
		return in.Epoch, was.Reg.Epoch, true
	case lifecycle.SetupReport:
		return in.Epoch, was.Reg.Epoch, true
	case lifecycle.Report:
		return in.Epoch, was.Prov.Epoch, true
	case lifecycle.WipeEvidence:
		return in.Epoch, was.Prov.Epoch, true
	case lifecycle.RunReport:
		return in.Epoch, was.Run.Epoch, true
	case lifecycle.RetireReport:
		return in.Epoch, was.Run.Retire.Epoch, in.On != run.Cleaned
	}
	return 0, 0, false
}

func breports(s *bstep) error {
	named, own, ok := bnamed(s)
	if !ok || s.err != nil {
		return nil
	}
	if named == 0 || named != own && len(s.facts) > 0 {
		return fmt.Errorf("epoch %d had effect; the attempt is %d", named, own)
	}
	if _, drain := s.in.(lifecycle.Drain); drain {
		return nil // it is given once
	}
	out, err := lifecycle.Step(s.is, s.in, s.now)
	if err != nil || len(out.Facts) > 0 {
		return fmt.Errorf("repeated: %v, %v", out.Facts, err)
	}
	return nil
}

func bpure(s *bstep) error {
	n := s.is.Node
	before := picture(s.is)
	needs := slices.Collect(lifecycle.Needs(&n))
	at, in, ok := lifecycle.Due(&n)
	at2, in2, ok2 := lifecycle.Due(&n)
	slot := lifecycle.SlotOf(&n)
	of := slices.ContainsFunc(needs, func(v lifecycle.Need) bool { return v.Epoch == slot.Epoch })
	switch {
	case !slices.Equal(needs, slices.Collect(lifecycle.Needs(&n))), !at.Equal(at2), in != in2, ok != ok2, picture(s.is) != before:
		return errors.New("asked twice, they differ")
	case slot.Holder != lifecycle.Free && slot.Holder != lifecycle.Setup && !of:
		return fmt.Errorf("%+v needs only %v", slot, needs)
	}
	for i, v := range needs {
		if v.Node != n.ID || slices.Contains(needs[:i], v) {
			return fmt.Errorf("need %+v is keyed wrong, or twice", v)
		}
	}
	return nil
}

func bsessions(s *bstep) error {
	n := &s.is.Node
	if n.Conn.Link == lifecycle.Connected && (!n.Live() || n.Reg.State == registration.Disabled) {
		return fmt.Errorf("connected, registration %s", n.Reg.State)
	}
	if n.Conn.Session < s.was.Node.Conn.Session && n.Live() {
		return errors.New("the session's epoch went back")
	}
	return nil
}

func bfacts(s *bstep) error {
	for _, f := range s.facts {
		if f.Name == "" || strings.HasSuffix(f.Name, ".") || strings.Contains(fmt.Sprint(f), "sealed-") || strings.Contains(fmt.Sprint(f), "hunter2") {
			return fmt.Errorf("%+v", f)
		}
	}
	return nil
}

func brows(s *bstep) error {
	seen := map[string]string{}
	for key, val := range lifecycle.Rows(s.is) {
		if _, twice := seen[key]; twice {
			return fmt.Errorf("row %s twice", key)
		}
		if seen[key] = string(val); val == nil && !strings.HasPrefix(key, lifecycle.RowDue) && !strings.HasPrefix(key, lifecycle.RowBy+"node-mac/") && !strings.HasPrefix(key, lifecycle.RowBy+"candidate/") {
			return fmt.Errorf("row %s is empty", key)
		}
	}
	got, err := lifecycle.Load(lifecycle.Rows(s.is))
	if err != nil {
		return err
	}
	if d := bdiffer(got, s.is); d != "" {
		return errors.New("lost in rows: " + d)
	}
	return nil
}

// bdiffer names the parts in which two states differ, nil and empty slices
// being the same.
func bdiffer(a, b lifecycle.State) string {
	var names []string
	var walk func(path string, x, y reflect.Value)
	walk = func(path string, x, y reflect.Value) {
		switch x.Kind() {
		case reflect.Struct:
			if path != "" && reflect.TypeFor[time.Time]() == x.Type() || x.Type().PkgPath() == "net/netip" {
				if x.Interface() != y.Interface() {
					names = append(names, path)
				}
				return
			}
			for i := range x.NumField() {
				if f := x.Type().Field(i); f.IsExported() {
					walk(path+"."+f.Name, x.Field(i), y.Field(i))
				}
			}
		case reflect.Slice:
			if x.Len() != y.Len() {
				names = append(names, path)
				return
			}
			for i := range x.Len() {
				walk(fmt.Sprintf("%s[%d]", path, i), x.Index(i), y.Index(i))
			}
		default:
			if !reflect.DeepEqual(x.Interface(), y.Interface()) {
				names = append(names, path)
			}
		}
	}
	walk("", reflect.ValueOf(a), reflect.ValueOf(b))
	return strings.Join(names, ", ")
}
