package redfish

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/wire"
)

var _ bmc.Power = (*Session)(nil)

// ReadPower reads the system and, where one holds it alone and reports power, its
// chassis. A chassis that has vanished counts as unknown.
func (s *Session) ReadPower(ctx context.Context) (bmc.PowerObservation, error) {
	c := s.call("read power", 2*maxOpen)
	o := bmc.PowerObservation{State: bmc.Unknown, Source: bare(s.host.path), Began: time.Now()}
	raw, err := c.powerOf(ctx, s.host.path)
	if err != nil {
		return o, err
	}
	o.Raw, o.State = raw, stateOf(raw)
	if o.Chassis, err = c.chassisState(ctx, o.State); err != nil {
		return o, err
	}
	o.Ended = time.Now()
	return o, nil
}

// powerOf reads one PowerState. It decodes nothing else: this is what is asked
// of every machine all the time.
func (c *call) powerOf(ctx context.Context, path string) (string, error) {
	a, err := c.do(ctx, wire.Request{Path: path})
	if err != nil {
		return "", err
	}
	if a.Status != http.StatusOK { // else there is nothing to judge, and much to read
		return "", c.judge(a)
	}
	return decodePower(a)
}

// stateOf knows the values of PowerState (Resource schema).
func stateOf(raw string) bmc.State {
	for _, s := range []struct {
		raw string
		is  bmc.State
	}{{"On", bmc.On}, {"Off", bmc.Off}, {"PoweringOn", bmc.PoweringOn}, {"PoweringOff", bmc.PoweringOff}, {"Paused", bmc.Paused}} {
		if s.raw == raw {
			return s.is
		}
	}
	return bmc.Unknown
}

// A reset is how an action is sent.
type reset struct {
	target string
	as     string // ResetType
	why    string // of one that is not the action's own
	shown  []string
}

// wanted are the ResetTypes of an action, best first. GracefulRestart and
// PowerCycle are never sent: some reset hard at the one and do nothing at the
// other, and neither shows that power was lost.
func (s *Session) wanted(a bmc.Action) []string {
	switch a {
	case bmc.SendOn:
		return []string{"On", "ForceOn"}
	case bmc.SendOff:
		return []string{"ForceOff"}
	case bmc.SendReset:
		return []string{"ForceRestart"}
	case bmc.SendNMI:
		return []string{"Nmi"}
	case bmc.SendGraceful:
		if s.has(OffIsGraceful) {
			return []string{"GracefulShutdown", "Off"}
		}
		return []string{"GracefulShutdown"}
	}
	return nil
}

// assumed are the types taken for granted where a BMC lists none: services of
// the first schemas do not.
func assumed() []string { return []string{"On", "ForceOff", "ForceRestart", "GracefulShutdown"} }

// resetFor finds how to send an action, without sending it.
func (s *Session) resetFor(ctx context.Context, c *call, a bmc.Action) (reset, error) {
	action := s.host.doc.at("Actions").sub("#ComputerSystem.Reset")
	r := reset{target: checked(action.str("target"))}
	if r.target == "" {
		return r, c.fail(bmc.Unsupports, bmc.SentNo, "the system has no Reset action", "")
	}
	shown, err := c.allowable(ctx, action, "ResetType")
	if err != nil {
		return r, err
	}
	if r.shown = shown; len(shown) == 0 {
		r.shown = assumed()
	}
	for i, t := range s.wanted(a) {
		if slices.Contains(r.shown, t) {
			if r.as = t; i > 0 {
				r.why = s.wanted(a)[0] + " is not listed"
			}
			return r, nil
		}
	}
	e := c.fail(bmc.Unsupports, bmc.SentNo, "no ResetType for "+string(a)+" is listed", "listed are: "+strings.Join(r.shown, ", "))
	return r, e
}

// allowable are the values that an action takes for a parameter: those in the
// action itself, else those of its ActionInfo. It returns none where none are
// listed.
func (c *call) allowable(ctx context.Context, action doc, parameter string) ([]string, error) {
	if list := action.strs(parameter + "@Redfish.AllowableValues"); len(list) > 0 {
		return list, nil
	}
	info, err := c.actionInfo(ctx, action)
	if err != nil {
		return nil, err
	}
	for _, p := range info.docs("Parameters") {
		if p.str("Name") == parameter {
			return p.strs("AllowableValues"), nil
		}
	}
	return nil, nil
}

// actionInfo reads the ActionInfo of an action, once in a session.
func (c *call) actionInfo(ctx context.Context, action doc) (doc, error) {
	path := checked(action.str("@Redfish.ActionInfo"))
	if path == "" {
		return nil, nil
	}
	c.s.mu.Lock()
	known, ok := c.s.info[path]
	c.s.mu.Unlock()
	if ok {
		return known, nil
	}
	d, _, err := c.get(ctx, path)
	if isKind(err, bmc.NotFound) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.s.info == nil {
		c.s.info = map[string]doc{}
	}
	c.s.info[path] = d
	return d, nil
}

// SendPower posts one ResetType that the machine lists. A task that the BMC
// starts for a reset or NMI is waited for, for some seconds, since nothing else
// will tell; of the others it is in the receipt.
func (s *Session) SendPower(ctx context.Context, a bmc.Action) (bmc.Receipt, error) {
	c := s.call("power "+string(a), 64)
	receipt := bmc.Receipt{Action: a}
	if !slices.Contains(bmc.Actions(), a) {
		return receipt, c.fail(bmc.InvalidOption, bmc.SentNo, "no such action", "")
	}
	r, err := s.resetFor(ctx, c, a)
	if err != nil {
		return receipt, unsent(err)
	}
	receipt.As, receipt.Why = r.as, r.why
	answer, err := c.post(ctx, r.target, map[string]string{"ResetType": r.as})
	once := a == bmc.SendReset || a == bmc.SendNMI
	if err != nil {
		if once && isKind(err, bmc.Busy) && statusOf(err) < http.StatusMultipleChoices {
			return receipt, unseen(err) // it was accepted, whatever the body says
		}
		return receipt, s.powerError(ctx, a, err)
	}
	receipt.At, receipt.Task = time.Now(), c.taskOf(answer)
	if receipt.Task != "" && once {
		return receipt, c.await(ctx, receipt.Task, actionWait)
	}
	return receipt, nil
}

// powerError adds the machine's state to a conflict.
func (s *Session) powerError(ctx context.Context, a bmc.Action, err error) error {
	e, ok := errors.AsType[*bmc.Error](err)
	if !ok || e.Kind != bmc.Conflict {
		return err
	}
	if a == bmc.SendOn && e.Status == http.StatusConflict && s.has(BusyAfterOff) {
		e.Kind, e.After = bmc.Busy, 5*time.Second
		return e
	}
	if o, blind := s.ReadPower(ctx); blind == nil {
		e.State = o.State
	}
	return e
}

// isKind reports whether err is an error of ours of a kind.
func isKind(err error, kind bmc.Kind) bool {
	e, ok := errors.AsType[*bmc.Error](err)
	return ok && e.Kind == kind
}
