package bmcsim

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The power states that are shown.
const (
	stateOn          = "On"
	stateOff         = "Off"
	statePoweringOn  = "PoweringOn"
	statePoweringOff = "PoweringOff"
)

// A system is one that has power.
type system struct {
	key     string
	path    string
	backend Backend
	busy    chan struct{} // held by who gives orders

	// What is shown; BMC.mu guards it.
	running bool      // as it was last seen
	changed time.Time // when it was seen to change
	want    string    // On or Off, since the order to be so; "" once it is
	before  string    // what was shown before the last order
	stale   time.Time // until when that is still shown
	off     time.Time // when Off was first shown since it was on
	ordered time.Time // when it was last turned off
	since   time.Time // when want was ordered
	restart func()    // ends the wait for off of an order to restart; nil: none
	pending bool      // the settings object holds an override that no start has taken
}

// addSystems makes the machines behind the systems.
func (b *BMC) addSystems() {
	b.systems, b.chassis = map[string]*system{}, map[string][]*system{}
	for _, k := range b.tree.systems {
		n := b.tree.nodes[k]
		on := strings.Contains(text(n.body, "PowerState"), stateOn)
		s := &system{key: k, path: n.path, busy: make(chan struct{}, 1), running: on}
		if b.o.Backend != nil {
			s.backend = b.o.Backend(n.path, on)
		}
		if s.backend == nil {
			s.backend = NewMemory(on, b.o.Power)
		}
		b.systems[k] = s
		for _, c := range linksOf(dig(n.body, "Links")["Chassis"]) {
			if slices.Contains(b.tree.chassis, key(c)) {
				b.chassis[key(c)] = append(b.chassis[key(c)], s)
			}
		}
		b.tellTypes(n)
		b.dropMode(n)
		b.addSettings(n)
	}
	for _, c := range b.tree.chassis {
		for _, l := range linksOf(dig(b.tree.nodes[c].body, "Links")["ComputerSystems"]) {
			if s := b.systems[key(l)]; s != nil && !slices.Contains(b.chassis[c], s) {
				b.chassis[c] = append(b.chassis[c], s)
			}
		}
	}
}

// Backend is the machine behind a system, by its path; nil where there is none.
func (b *BMC) Backend(system string) Backend {
	s := b.systems[key(system)]
	if s == nil {
		return nil
	}
	return s.backend
}

// look asks the machine whether it runs, and notes a change.
func (b *BMC) look(ctx context.Context, s *system) (bool, error) {
	running, err := s.backend.Running(ctx)
	if err != nil {
		return false, err
	}
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if running != s.running {
		s.running, s.changed = running, now
		if running {
			s.off = time.Time{}
		}
		b.tellPower(s, running, now)
	}
	if running == (s.want == stateOn) {
		s.want = ""
	}
	return running, nil
}

// shown is a system's PowerState, as the BMC tells it now. An error of the backend is
// null, as BMCs show what they do not know.
func (b *BMC) shown(ctx context.Context, s *system) any {
	running, err := b.look(ctx, s)
	if err != nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shownLocked(s, running, time.Now())
}

func (b *BMC) shownLocked(s *system, running bool, now time.Time) string {
	if now.Before(s.stale) {
		return s.before
	}
	if !b.o.Power.HideTransitions {
		switch {
		case running && s.want == stateOff:
			return statePoweringOff
		case !running && s.want == stateOn:
			return statePoweringOn
		}
	}
	switch {
	case running, !running && s.want == stateOn && s.before == stateOn: // a restart that hides its transition
		return stateOn
	case s.off.IsZero():
		s.off = now
	}
	if f := b.o.Power.Flicker; f > 0 && now.Sub(s.off) >= f && now.Sub(s.off) < 2*f {
		return stateOn
	}
	return stateOff
}

// chassisShown is a chassis' PowerState: on as long as one of its systems is.
func (b *BMC) chassisShown(ctx context.Context, list []*system) any {
	if r := b.o.Power.ChassisReads; r != "" {
		return r
	}
	out := stateOff
	for _, s := range list {
		running, err := b.look(ctx, s)
		if err != nil {
			return nil
		}
		b.mu.Lock()
		if lag := b.o.Power.ChassisLag; lag > 0 && !s.changed.IsZero() && time.Since(s.changed) < lag {
			running = !running
		}
		b.mu.Unlock()
		if running {
			out = stateOn
		}
	}
	return out
}

// tellTypes shows the ResetTypes as options want them.
func (b *BMC) tellTypes(n *node) {
	of := dig(n.body, "Actions", "#ComputerSystem.Reset")
	if of == nil || b.o.Power.ResetTypes == nil && !b.o.Power.ActionInfo {
		return
	}
	k := key(n.path)
	list := []any{}
	for _, t := range b.types(action{k, "ComputerSystem.Reset"}) {
		list = append(list, t)
	}
	told := map[string]any{"target": of["target"], "ResetType@Redfish.AllowableValues": list}
	if b.o.Power.ActionInfo {
		path := n.path + "/ResetActionInfo"
		told = map[string]any{"target": of["target"], "@Redfish.ActionInfo": path}
		b.set(path, map[string]any{
			"@odata.id": path, "@odata.type": "#ActionInfo.v1_1_2.ActionInfo", "Id": "ResetActionInfo", "Name": "Reset Action Info",
			"Parameters": []any{map[string]any{"Name": "ResetType", "Required": true, "DataType": "String", "AllowableValues": list}},
		})
	}
	b.edit(k, func(body map[string]any) { own(body, "Actions")["#ComputerSystem.Reset"] = told })
}

// types are the ResetTypes that an action allows.
func (b *BMC) types(a action) []string {
	if b.o.Power.ResetTypes != nil && a.name == "ComputerSystem.Reset" {
		return b.o.Power.ResetTypes
	}
	of := dig(b.tree.nodes[a.on].body, "Actions", "#"+a.name)
	if list := texts(of["ResetType@Redfish.AllowableValues"]); list != nil {
		return list
	}
	if n := b.tree.nodes[key(text(of, "@Redfish.ActionInfo"))]; n != nil {
		params, _ := n.body["Parameters"].([]any)
		for _, p := range params {
			if p, _ := p.(map[string]any); text(p, "Name") == "ResetType" {
				return texts(p["AllowableValues"])
			}
		}
	}
	return nil
}

// resetType reads and judges the parameter.
func (b *BMC) resetType(q *request, a action) (string, answer) {
	v, ok := q.body["ResetType"]
	if !ok {
		return "", missingParameter(a.name, "ResetType")
	}
	kind, ok := v.(string)
	if !ok {
		return "", badType("ResetType")
	}
	if a.name == "ComputerSystem.Reset" {
		b.mu.Lock()
		if b.stats.Resets == nil {
			b.stats.Resets = map[string]int{}
		}
		if len(b.stats.Resets) < maxKinds {
			b.stats.Resets[kind]++
		}
		b.mu.Unlock()
	}
	if !slices.Contains(b.types(a), kind) {
		return "", badParameter(a.name, "ResetType", kind)
	}
	return kind, answer{}
}

func (b *BMC) resetSystem(q *request, a action) answer {
	s := b.systems[a.on]
	if s == nil {
		return absent(q.URL.Path)
	}
	kind, no := b.resetType(q, a)
	if kind == "" {
		return no
	}
	return b.order(q, s, kind)
}

// resetChassis gives the order to every system of a chassis.
func (b *BMC) resetChassis(q *request, a action) answer {
	kind, no := b.resetType(q, a)
	if kind == "" {
		return no
	}
	for _, s := range b.chassis[a.on] {
		if out := b.order(q, s, kind); out.status >= 300 {
			return out
		}
	}
	return done()
}

// order gives one order, when no other is being given.
func (b *BMC) order(q *request, s *system, kind string) answer {
	ctx := q.Context()
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	case <-ctx.Done():
		panic(http.ErrAbortHandler)
	}
	running, err := b.look(ctx, s)
	if err != nil {
		return backendFailed(err)
	}
	b.mu.Lock()
	before, refused := b.shownLocked(s, running, q.now), q.now.Before(s.ordered.Add(b.o.Power.OnRefused))
	up := running || s.goesOn(q.now)
	b.mu.Unlock()
	does, no := b.judge(kind, up, refused)
	if does == "" {
		if !up && no.status < 300 && kind != "Nmi" { // it is to stay off
			b.dropRestart(s)
		}
		return no
	}
	if err := b.carryOut(ctx, s, does, before); err != nil {
		return backendFailed(err)
	}
	if _, err := b.look(ctx, s); err != nil {
		return backendFailed(err)
	}
	return done()
}

// goesOn reports whether it was told to be on and is on its way. BMC.mu is held.
func (s *system) goesOn(now time.Time) bool {
	return s.want == stateOn && now.Before(s.since.Add(watchFor))
}

// What orders come to.
const (
	doOn      = "on"
	doOff     = "off"
	doPress   = "press"
	doReset   = "reset"
	doRestart = "restart" // press, and on when it is off
	doCycle   = "cycle"   // off, and on
	doNMI     = "nmi"
)

// judge says what an order comes to in a state. Where it is "", the answer is given
// already.
func (b *BMC) judge(kind string, running, refused bool) (string, answer) {
	senseless := func(otherwise string) (string, answer) {
		if status := b.o.Power.WrongState; status != 0 {
			return "", wrongState(status, map[bool]string{true: "on", false: "off"}[running])
		}
		return otherwise, done()
	}
	switch kind {
	case "On", "ForceOn":
		switch {
		case running:
			return senseless("")
		case refused:
			return "", wrongState(http.StatusConflict, "turning off")
		}
		return doOn, answer{}
	case "ForceOff":
		if !running {
			return senseless("")
		}
		return doOff, answer{}
	case "GracefulShutdown", "Off":
		if !running {
			return senseless("")
		}
		return doPress, answer{}
	case "PushPowerButton":
		if !running {
			return doOn, answer{}
		}
		return doPress, answer{}
	case "Nmi":
		if !running {
			return senseless("")
		}
		return doNMI, answer{}
	}
	does := map[string]string{"ForceRestart": doReset, "GracefulRestart": doRestart, "PowerCycle": doCycle, "FullPowerCycle": doCycle}[kind]
	switch {
	case does == "":
		return "", badParameter("ComputerSystem.Reset", "ResetType", kind)
	case !running:
		return senseless(doOn)
	case does == doRestart && b.o.Power.HardGraceful:
		return doReset, answer{}
	}
	return does, answer{}
}

// carryOut has the machine do it.
func (b *BMC) carryOut(ctx context.Context, s *system, does, before string) error {
	var err error
	want := ""
	switch does {
	case doOn:
		want, err = stateOn, s.backend.On(ctx, b.start(s))
	case doReset:
		want, err = stateOn, s.backend.Reset(ctx, b.start(s))
	case doOff, doCycle:
		want, err = stateOff, s.backend.Off(ctx)
	case doPress, doRestart:
		err = s.backend.Press(ctx)
	case doNMI:
		err = s.backend.NMI(ctx)
	}
	if err != nil {
		return err
	}
	b.ordered(s, does, want, before)
	if does == doCycle || does == doRestart {
		b.after(s)
	}
	return nil
}

// ordered notes an order that the machine took. One that says nothing of what the
// machine is to be leaves that as it was.
func (b *BMC) ordered(s *system, does, want, before string) {
	if does != doNMI {
		b.dropRestart(s)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if want != "" {
		s.want, s.since = want, now
	}
	s.before = before
	switch does {
	case doNMI:
		b.stats.NMIs++
		return
	case doOff, doCycle:
		s.ordered = now
	}
	s.stale = now.Add(b.o.Power.Stale)
}

// dropRestart ends the wait of an order to restart, which a later order has overtaken.
// The caller holds s.busy.
func (b *BMC) dropRestart(s *system) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.restart != nil {
		s.restart()
		s.restart = nil
	}
}

// How a machine is watched that is to be turned on when it is off.
const (
	watchEvery = 500 * time.Millisecond
	watchFor   = 10 * time.Minute
	cyclePause = time.Second // without power
)

// after turns a machine on once it is off, unless that takes longer than watchFor or
// another order comes. The caller holds s.busy.
func (b *BMC) after(s *system) {
	if !b.begin() {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, watchFor)
	b.mu.Lock()
	s.restart = cancel
	b.mu.Unlock()
	go func() {
		defer b.work.Done()
		defer cancel()
		if err := b.turnOnWhenOff(ctx, s); err != nil && ctx.Err() == nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.tell(s.path, "Warning", "ResourceEvent.1.3.ResourceErrorsDetected", fmt.Sprintf("The resource %s has errors: %v", s.path, err))
		}
	}()
}

func (b *BMC) turnOnWhenOff(ctx context.Context, s *system) error {
	for {
		up, err := b.isUp(ctx, s)
		if err != nil {
			return err
		}
		if !up {
			break
		}
		if err := b.sleep(ctx, watchEvery); err != nil {
			return err
		}
	}
	if err := b.sleep(ctx, cyclePause); err != nil {
		return err
	}
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if up, err := b.isUp(ctx, s); err != nil || up || ctx.Err() != nil { // others have been here
		return err
	}
	err := s.backend.On(ctx, b.start(s))
	if err == nil {
		b.mu.Lock()
		s.want, s.since = stateOn, time.Now()
		b.mu.Unlock()
	}
	_, seen := b.look(ctx, s)
	return errors.Join(err, seen)
}

// isUp reports whether a machine runs, or is on its way.
func (b *BMC) isUp(ctx context.Context, s *system) (bool, error) {
	running, err := b.look(ctx, s)
	b.mu.Lock()
	defer b.mu.Unlock()
	return running || s.goesOn(time.Now()), err
}
