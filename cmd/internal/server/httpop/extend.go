package httpop

import (
	"errors"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/identity/claim"
	"github.com/ingotmetal/ingot/identity/keys"
	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// extend adds the facts that the house's errors carry.
func extend(p *api.Problem, err error, now time.Time) {
	if e, ok := errors.AsType[*statemachine.Refused](err); ok {
		p.State, p.Legal, p.Requirement = e.From, e.Legal, e.Req
	}
	if e, ok := errors.AsType[*lifecycle.Detailed](err); ok {
		p.Holder, p.Count = holder(e.Holder), e.Count
	}
	if e, ok := errors.AsType[*lifecycle.Refused](err); ok {
		p.Reason, p.Holder, p.Count = e.Reason, holder(e.Holder), e.Count
		p.Next, p.Requirement = e.Next, e.Req
	}
	if e, ok := errors.AsType[*keys.Denied](err); ok {
		p.Requirement, p.Next = e.Req, holders(e)
	}
	if e, ok := errors.AsType[*disklayout.Refused](err); ok {
		p.Reason, p.Next, p.Requirement = string(e.Reason), e.Next, e.Req
	}
	if e, ok := errors.AsType[*operators.RateLimited](err); ok {
		p.RetryAfter = seconds(now, e.Until)
	}
	if e, ok := errors.AsType[*claim.RateLimited](err); ok {
		p.RetryAfter = seconds(now, e.Until)
	}
	if e, ok := errors.AsType[interface {
		error
		RetryAt() time.Time
	}](err); ok {
		p.RetryAfter = seconds(now, e.RetryAt())
	}
	if e, ok := errors.AsType[interface {
		error
		Next() string
	}](err); ok {
		p.Next = e.Next()
	}
	if e, ok := errors.AsType[interface {
		error
		Holder() lifecycle.Slot
	}](err); ok {
		p.Holder = holder(e.Holder())
	}
	if p.Next != "" { // what to do is said once
		p.Detail = strings.TrimSuffix(p.Detail, "; "+p.Next)
	}
}

func holder(s lifecycle.Slot) *api.Attempt {
	if s.Holder == lifecycle.Free {
		return nil
	}
	return &api.Attempt{Holder: string(s.Holder), State: s.State, Epoch: s.Epoch, Deadline: s.Deadline}
}

// holders says who may do instead what was denied.
func holders(e *keys.Denied) string {
	if len(e.Holders) == 0 {
		return ""
	}
	names := make([]string, len(e.Holders))
	for i, s := range e.Holders {
		names[i] = string(s)
	}
	return "ask with one of: " + strings.Join(names, ", ")
}
