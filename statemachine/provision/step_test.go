package provision_test

import (
	"errors"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/provision"
)

// node is a provision axis with a clock and an epoch counter of its own.
type node struct {
	provision.Record
	now  time.Time
	last uint64
}

type edit = func(*provision.Event)

func newNode() *node { return &node{Record: provision.New(), now: start} }

// usual are the facts under which every verb is legal where its state is.
const usual = provision.Capable | provision.Engine | provision.Serviced | provision.Cordoned | provision.Agents

// try steps one event; edits change what it brings. Reports name the newest
// attempt unless an edit says otherwise.
func (n *node) try(on provision.Kind, edits ...edit) error {
	e := bring(on, n.last+1)
	e.Facts = usual
	if provision.Table.Reports(on) {
		e.Epoch, e.By = n.Epoch, ""
	}
	for _, edit := range edits {
		edit(&e)
	}
	next, err := provision.Step(n.Record, e, n.now)
	n.Record, n.last = next, max(n.last, next.Epoch)
	return err
}

// do is try for steps that must succeed.
func (n *node) do(t *testing.T, on provision.Kind, edits ...edit) *node {
	t.Helper()
	if err := n.try(on, edits...); err != nil {
		t.Fatal(err)
	}
	return n
}

// refused demands a refusal with a code, by which nothing changes.
func (n *node) refused(t *testing.T, code sm.Code, on provision.Kind, edits ...edit) {
	t.Helper()
	before := n.Record
	err := n.try(on, edits...)
	if codeOf(err) != string(code) {
		t.Errorf("%s in %s: %v, want %s", on, before.State, err, code)
	}
	if n.Record != before {
		t.Errorf("%s was refused and changed the axis:\n%+v\n%+v", on, before, n.Record)
	}
}

func codeOf(err error) string {
	if coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err); ok {
		return coded.Code()
	}
	return ""
}

// The edits of this package's tests.
func facts(g sm.Guard) edit { return func(e *provision.Event) { e.Facts = usual | g } }

func without(g sm.Guard) edit { return func(e *provision.Event) { e.Facts = usual &^ g } }

func wipe(w provision.Wipe) edit { return func(e *provision.Event) { e.Wipe = w } }

func by(who string) edit { return func(e *provision.Event) { e.By = who } }

func epoch(n uint64) edit { return func(e *provision.Event) { e.Epoch = n } }

func text(why string) edit { return func(e *provision.Event) { e.Why = why } }

// expire lets the open attempt's time run out.
func (n *node) expire(t *testing.T) *node {
	t.Helper()
	n.now = n.Deadline
	return n.do(t, provision.Expired)
}

// The usual ways to a state. Ready machines have a quick wipe behind them.
func enrolling(t *testing.T) *node { t.Helper(); return newNode().do(t, provision.Enroll) }

func inspecting(t *testing.T) *node { t.Helper(); return enrolling(t).do(t, provision.Succeeded) }

func commissioning(t *testing.T) *node { t.Helper(); return inspecting(t).do(t, provision.Succeeded) }

func ready(t *testing.T) *node {
	t.Helper()
	return commissioning(t).do(t, provision.Wiped).do(t, provision.Succeeded)
}

func deploying(t *testing.T) *node { t.Helper(); return ready(t).do(t, provision.Deploy) }

func deployed(t *testing.T) *node { t.Helper(); return deploying(t).do(t, provision.Succeeded) }

func releasing(t *testing.T, w provision.Wipe) *node {
	t.Helper()
	return deployed(t).do(t, provision.Undeploy, wipe(w))
}

func booting(t *testing.T) *node { t.Helper(); return deployed(t).do(t, provision.ToRescue) }

func rescued(t *testing.T) *node { t.Helper(); return booting(t).do(t, provision.Succeeded) }

func returning(t *testing.T) *node { t.Helper(); return rescued(t).do(t, provision.Unrescue) }

func adopting(t *testing.T) *node { t.Helper(); return newNode().do(t, provision.Join) }

func adopted(t *testing.T) *node { t.Helper(); return adopting(t).do(t, provision.Succeeded) }

func retiring(t *testing.T) *node { t.Helper(); return ready(t).do(t, provision.Retire) }

func retired(t *testing.T) *node {
	t.Helper()
	return retiring(t).do(t, provision.Wiped).do(t, provision.Succeeded, facts(provision.Off))
}

// is demands that the axis has exactly these values beside its attempt.
func (n *node) is(t *testing.T, want provision.Record) {
	t.Helper()
	want.Epoch, want.Deadline, want.Ended, want.Before = n.Epoch, n.Deadline, n.Ended, n.Before
	if n.Record != want {
		t.Errorf("got  %+v\nwant %+v", n.Record, want)
	}
}

// What each way writes, and that nothing of what was before is left.
func TestWhatEachWayWrites(t *testing.T) {
	at := func(s provision.State) provision.At { return provision.At{State: s} }
	trouble := provision.Trouble{Code: provision.WorkflowFailed, Why: "no boot"}
	for name, c := range map[string]struct {
		node *node
		want provision.Record
	}{
		"enrolled":         {enrolling(t), provision.Record{At: at(provision.Enrolling), Approver: "ada"}},
		"inspecting":       {inspecting(t), provision.Record{At: at(provision.Inspecting), Approver: "ada"}},
		"commissioning":    {commissioning(t), provision.Record{At: at(provision.Commissioning), Approver: "ada", Wipe: provision.WipeQuick}},
		"wiped":            {commissioning(t).do(t, provision.Wiped), provision.Record{At: at(provision.Commissioning), Approver: "ada", Wipe: provision.WipeQuick, Proof: proof}},
		"ready":            {ready(t), provision.Record{At: at(provision.Ready)}},
		"deploying":        {deploying(t), provision.Record{At: at(provision.Deploying), Approver: "ada", Profile: profile}},
		"deployed":         {deployed(t), provision.Record{At: at(provision.Deployed), Profile: profile, Role: "hypervisor"}},
		"released":         {releasing(t, "").do(t, provision.Wiped).do(t, provision.Succeeded), provision.Record{At: at(provision.Ready)}},
		"rescue boots":     {booting(t), provision.Record{At: at(provision.Rescue), Profile: profile, Role: "hypervisor", Activity: provision.RescueBoot}},
		"rescue":           {rescued(t), provision.Record{At: at(provision.Rescue), Profile: profile, Role: "hypervisor"}},
		"rescue ends":      {returning(t), provision.Record{At: at(provision.Rescue), Profile: profile, Role: "hypervisor", Activity: provision.Return}},
		"back from rescue": {returning(t).do(t, provision.Succeeded), provision.Record{At: at(provision.Deployed), Profile: profile, Role: "hypervisor"}},
		"released from rescue": {rescued(t).do(t, provision.Undeploy, wipe("")), provision.Record{At: at(provision.Releasing), Approver: "ada",
			Wipe: provision.WipeQuick}},
		"failed rescue": {booting(t).do(t, provision.Fail), provision.Record{At: at(provision.Failed), Profile: profile, Role: "hypervisor",
			FailedFrom: provision.Rescue, LastError: trouble}},
		"recovered rescue": {returning(t).do(t, provision.Fail).do(t, provision.Recover), provision.Record{At: at(provision.Deployed), Profile: profile, Role: "hypervisor"}},
		"joined":           {adopting(t), provision.Record{At: at(provision.Adopting), Activity: provision.Acceptance}},
		"joined when held": {newNode().do(t, provision.Join, facts(provision.Held)), provision.Record{At: at(provision.Adopting), Queued: true}},
		"accepted":         {adopted(t), provision.Record{At: at(provision.Adopted)}},
		"ended red":        {adopting(t).do(t, provision.Fail), provision.Record{At: at(provision.Adopting)}},
		"adopted again":    {adopted(t).do(t, provision.Adopt), provision.Record{At: at(provision.Adopting), Activity: provision.Acceptance}},
		"retiring":         {retiring(t), provision.Record{At: at(provision.Retiring), Approver: "ada", Wipe: provision.CryptoErase}},
		"retired":          {retired(t), provision.Record{At: at(provision.Retired)}},
		"deleted":          {retired(t).do(t, provision.Delete), provision.New()},
		"ended by reset":   {deployed(t).do(t, provision.End), provision.New()},
	} {
		t.Run(name, func(t *testing.T) { c.node.is(t, c.want) })
	}
}

// A zero Record has no axis, and a refusal leaves even that as it was.
func TestZeroRecordIsNone(t *testing.T) {
	n := &node{now: start}
	n.refused(t, sm.NotFound, provision.Deploy)
	if n.do(t, provision.Enroll); n.State != provision.Enrolling {
		t.Errorf("enroll made %s", n.State)
	}
}

// PROV-2, PROV-11: every failure says where and why; recover forgets it.
func TestFailure(t *testing.T) {
	const unverified = "success was reported without wipe evidence that counts"
	const overdue = "the attempt did not end before its deadline"
	for name, c := range map[string]struct {
		node *node
		from provision.State
		want provision.Trouble
	}{
		"workflow":            {deploying(t).do(t, provision.Fail), provision.Deploying, provision.Trouble{Code: "FAILED", Why: "no boot"}},
		"abort":               {inspecting(t).do(t, provision.Abort), provision.Inspecting, provision.Trouble{Code: "ABORTED", Why: "no boot"}},
		"abort, no reason":    {enrolling(t).do(t, provision.Abort, text("")), provision.Enrolling, provision.Trouble{Code: "ABORTED"}},
		"deadline":            {commissioning(t).expire(t), provision.Commissioning, provision.Trouble{Code: "DEADLINE", Why: overdue}},
		"acceptance deadline": {adopting(t).expire(t), provision.Adopting, provision.Trouble{Code: "DEADLINE", Why: overdue}},
		"rescue deadline":     {booting(t).expire(t), provision.Rescue, provision.Trouble{Code: "DEADLINE", Why: overdue}},
		"unrescue deadline":   {returning(t).expire(t), provision.Rescue, provision.Trouble{Code: "DEADLINE", Why: overdue}},
		"release unproven":    {releasing(t, "").do(t, provision.Succeeded), provision.Releasing, provision.Trouble{Code: "UNVERIFIED_WIPE", Why: unverified}},
		"commission unproven": {commissioning(t).do(t, provision.Succeeded), provision.Commissioning, provision.Trouble{Code: "UNVERIFIED_WIPE", Why: unverified}},
		"retire unproven":     {retiring(t).do(t, provision.Succeeded, facts(provision.Off)), provision.Retiring, provision.Trouble{Code: "UNVERIFIED_WIPE", Why: unverified}},
	} {
		if c.node.State != provision.Failed || c.node.FailedFrom != c.from || c.node.LastError != c.want {
			t.Errorf("%s: %s from %s, %+v", name, c.node.State, c.node.FailedFrom, c.node.LastError)
		}
		if c.node.do(t, provision.Recover); c.node.FailedFrom != "" || c.node.LastError != (provision.Trouble{}) {
			t.Errorf("%s: recover keeps %s, %+v", name, c.node.FailedFrom, c.node.LastError)
		}
	}
}

// PROV-3: recover's target, by where it failed.
func TestRecover(t *testing.T) {
	for want, all := range map[provision.State][]*node{
		provision.Enrolling: {enrolling(t).do(t, provision.Fail), inspecting(t).do(t, provision.Fail), commissioning(t).do(t, provision.Fail)},
		provision.Releasing: {deploying(t).do(t, provision.Fail), releasing(t, "").do(t, provision.Fail)},
		provision.Deployed:  {booting(t).do(t, provision.Fail), returning(t).do(t, provision.Fail)},
		provision.Retiring:  {retiring(t).do(t, provision.Fail)},
		provision.Adopting:  {adopting(t).expire(t)},
	} {
		for _, n := range all {
			from := n.FailedFrom
			if n.do(t, provision.Recover); n.State != want {
				t.Errorf("after %s: %s, want %s", from, n.State, want)
			}
		}
	}
}

// PROV-5, EDGE-21: quick by default, after deploying too; else as recorded,
// however often it fails, and never less.
func TestWipeModes(t *testing.T) {
	for _, c := range []struct{ ask, want provision.Wipe }{
		{"", provision.WipeQuick}, {provision.WipeQuick, provision.WipeQuick}, {provision.WipeNone, provision.WipeNone},
		{provision.SecureErase, provision.SecureErase}, {provision.CryptoErase, provision.CryptoErase},
	} {
		n := releasing(t, c.ask)
		for range 3 {
			if n.State != provision.Releasing || n.Wipe != c.want {
				t.Errorf("asked for %q: %s with %s, want %s", c.ask, n.State, n.Wipe, c.want)
			}
			n.do(t, provision.Fail)
			if n.Wipe != c.want {
				t.Errorf("asked for %q: failed keeps %q", c.ask, n.Wipe)
			}
			n.do(t, provision.Recover, wipe(provision.WipeNone)) // recover takes no mode
		}
	}
	if n := deploying(t).do(t, provision.Fail).do(t, provision.Recover, wipe(provision.WipeNone)); n.Wipe != provision.WipeQuick {
		t.Errorf("after deploying: %s", n.Wipe)
	}
	n := retiring(t).do(t, provision.Fail)
	if n.Wipe != "" {
		t.Errorf("a failed retirement keeps %s", n.Wipe)
	}
	if n.do(t, provision.Recover); n.Wipe != provision.CryptoErase {
		t.Errorf("retirement recovered: %s", n.Wipe)
	}
	// A release that failed and was then retired is wiped as a retirement.
	if n := releasing(t, provision.WipeNone).do(t, provision.Fail).do(t, provision.Retire); n.Wipe != provision.CryptoErase {
		t.Errorf("retired after a failed release: %s", n.Wipe)
	}
}

// PROV-2, PROV-19, EDGE-10: only evidence of this attempt leads to ready or
// retired, but for wipe none and pools without agents.
func TestWipeEvidence(t *testing.T) {
	old := releasing(t, "").do(t, provision.Wiped).do(t, provision.Fail).do(t, provision.Recover)
	if old.Proof != (provision.Hash{}) {
		t.Error("evidence outlives its attempt")
	}
	if old.do(t, provision.Succeeded); old.State != provision.Failed {
		t.Errorf("evidence of the last attempt led to %s", old.State)
	}
	for name, c := range map[string]struct {
		node *node
		edit edit
		want provision.State
	}{
		"none":                    {releasing(t, provision.WipeNone), facts(0), provision.Ready},
		"quick without agents":    {releasing(t, provision.WipeQuick), without(provision.Agents), provision.Failed},
		"commission, no agents":   {unwiped(commissioning(t)), without(provision.Agents), provision.Ready},
		"retire, no agents":       {unwiped(retiring(t)), func(e *provision.Event) { e.Facts = provision.Off }, provision.Retired},
		"commission, agents gone": {commissioning(t), without(provision.Agents), provision.Failed},
		"retire, agents gone":     {retiring(t), func(e *provision.Event) { e.Facts = provision.Off }, provision.Failed},
	} {
		if c.node.do(t, provision.Succeeded, c.edit); c.node.State != c.want {
			t.Errorf("%s: %s, want %s", name, c.node.State, c.want)
		}
	}
	retiring(t).do(t, provision.Wiped).refused(t, sm.Conflict, provision.Succeeded) // not off (BMC-2)
	for _, n := range []*node{ready(t), deployed(t), deploying(t), enrolling(t), rescued(t), retired(t)} {
		n.refused(t, sm.Conflict, provision.Wiped)
	}
}

// EDGE-10: without agents nothing is wiped, so no mode claims it; a recovered
// retirement asks the pool again.
func TestNoWipeModeWithoutAgents(t *testing.T) {
	alone := without(provision.Agents)
	for name, n := range map[string]*node{
		"commissioning":         inspecting(t).do(t, provision.Succeeded, alone),
		"commissioning by hand": ready(t).do(t, provision.Provide, alone),
		"retiring":              ready(t).do(t, provision.Retire, alone),
	} {
		if n.Wipe != "" {
			t.Errorf("%s wipes by %s", name, n.Wipe)
		}
	}
	if n := ready(t).do(t, provision.Retire, alone).do(t, provision.Fail).do(t, provision.Recover); n.Wipe != provision.CryptoErase {
		t.Errorf("recovered with agents: %q", n.Wipe)
	}
}

// MACH-7: the approver of a chain is who asked for its last verb, and no
// report takes their place.
func TestApprover(t *testing.T) {
	n := newNode().do(t, provision.Enroll, by("ada")).do(t, provision.Succeeded, by("")).do(t, provision.Succeeded, by(""))
	if n.State != provision.Commissioning || n.Approver != "ada" {
		t.Errorf("%s approved by %q", n.State, n.Approver)
	}
	n.do(t, provision.Abort, by("eve")).do(t, provision.Recover, by("bob"))
	if n.Approver != "bob" {
		t.Errorf("recovered by bob, approved by %q", n.Approver)
	}
	n = ready(t).do(t, provision.Provide, by("cyd")).do(t, provision.Wiped).do(t, provision.Succeeded)
	if n.Approver != "" {
		t.Errorf("the approval of %q outlives its chain", n.Approver)
	}
}

// EDGE-5, RUN-6: a retirement that took the machine from a holder touches no
// disk before confirmed off: not in this attempt, nor in one that recovers it.
func TestAwaitOff(t *testing.T) {
	held := facts(provision.Held)
	for name, c := range map[string]struct {
		node *node
		want bool
	}{
		"free":                     {retiring(t), false},
		"held":                     {ready(t).do(t, provision.Retire, held), true},
		"its own enrolling":        {enrolling(t).do(t, provision.Retire), true},
		"its own acceptance":       {adopting(t).do(t, provision.Retire), true},
		"a queued acceptance":      {newNode().do(t, provision.Join, held).do(t, provision.Retire), false},
		"seen off":                 {ready(t).do(t, provision.Retire, held).do(t, provision.SeenOff), false},
		"failed":                   {ready(t).do(t, provision.Retire, held).do(t, provision.Fail), true},
		"overdue, then recovered":  {ready(t).do(t, provision.Retire, held).expire(t).do(t, provision.Recover), true},
		"failed, retired again":    {ready(t).do(t, provision.Retire, held).do(t, provision.Fail).do(t, provision.Retire), true},
		"failed, off, recovered":   {ready(t).do(t, provision.Retire, held).do(t, provision.Fail).do(t, provision.SeenOff).do(t, provision.Recover), false},
		"off before it is retired": {ready(t).do(t, provision.SeenOff).do(t, provision.Retire, held), true},
		"retired":                  {ready(t).do(t, provision.Retire, held).do(t, provision.SeenOff).do(t, provision.Wiped).do(t, provision.Succeeded, facts(provision.Off)), false},
	} {
		if c.node.AwaitOff != c.want {
			t.Errorf("%s: in %s it awaits off: %t", name, c.node.State, c.node.AwaitOff)
		}
	}
}

// EDGE-21, PROV-2: entering adopting queues a run, which begins when the
// machine is free; a red one leaves the node waiting for adopt.
func TestAcceptanceQueue(t *testing.T) {
	n := newNode().do(t, provision.Join, facts(provision.Held))
	if _, _, due := provision.Table.Due(n.At); due || n.Epoch != 0 {
		t.Errorf("a queued run has an attempt: %+v", n.At)
	}
	n.refused(t, sm.Conflict, provision.Begin, facts(provision.Held))
	n.refused(t, sm.Conflict, provision.Expired)
	if n.do(t, provision.Begin); n.Queued || n.Activity != provision.Acceptance || !n.Deadline.Equal(start.Add(30*time.Minute)) || n.Epoch != 1 {
		t.Errorf("begun: %+v", n.Record)
	}
	n.refused(t, sm.Conflict, provision.Adopt, facts(provision.Held)) // its own run holds the slot
	n.do(t, provision.Fail)
	if n.State != provision.Adopting || n.Activity != "" || n.Queued || !n.Deadline.IsZero() {
		t.Errorf("red: %+v", n.Record)
	}
	n.refused(t, sm.Conflict, provision.Succeeded) // that attempt was decided
	if n.do(t, provision.Adopt); n.Epoch != 2 || n.Activity != provision.Acceptance {
		t.Errorf("adopted again: %+v", n.Record)
	}
	if n.do(t, provision.Succeeded); n.State != provision.Adopted {
		t.Error(n.State)
	}
	n = adopting(t).expire(t).do(t, provision.Recover)
	if n.State != provision.Adopting || n.Activity != provision.Acceptance || n.Epoch != 2 {
		t.Errorf("recovered: %+v", n.Record)
	}
	before := n.Record
	if n.do(t, provision.Join); n.Record != before {
		t.Errorf("a later session changed the axis: %+v", n.Record)
	}
}

// PROV-12: a second unrescue changes nothing; while the ramdisk boots it is a
// conflict.
func TestUnrescue(t *testing.T) {
	booting(t).refused(t, sm.Conflict, provision.Unrescue)
	rescued(t).refused(t, sm.InvalidConfig, provision.Unrescue, without(provision.Engine))
	n := returning(t)
	before := n.Record
	if n.do(t, provision.Unrescue); n.Record != before {
		t.Errorf("the second call changed\n%+v to\n%+v", before, n.Record)
	}
	n.refused(t, sm.InvalidState, provision.PowerVerb)
	booting(t).refused(t, sm.InvalidState, provision.PowerVerb)
	rescued(t).do(t, provision.PowerVerb)
}

// PROV-18: the workflow uses exactly the profile that the deploy named.
func TestDeployRecordsProfile(t *testing.T) {
	other := provision.Profile{ID: "kvm", Version: 4, Role: "storage"}
	n := deployed(t).do(t, provision.Undeploy).do(t, provision.Wiped).do(t, provision.Succeeded)
	n.do(t, provision.Deploy, func(e *provision.Event) { e.Profile = other })
	if n.do(t, provision.Succeeded, func(e *provision.Event) { e.Profile = profile }); n.Profile != other || n.Role != "storage" {
		t.Errorf("%+v, role %q", n.Profile, n.Role)
	}
}

// EDGE-18: a state of a newer version is left alone.
func TestUnknownStateIsLeftAlone(t *testing.T) {
	for on := range provision.Table.Events() {
		n := deployed(t)
		n.State = "hibernating"
		n.refused(t, sm.InvalidState, on)
	}
}

// unwiped is an attempt that began in a pool without agents: it wipes nothing
// (EDGE-10).
func unwiped(n *node) *node {
	n.Wipe = ""
	return n
}
