package cli

import (
	"context"
	"reflect"

	"github.com/ingotmetal/ingot/cmd/api"
)

// overlay makes a replacement of the policy by flags into a change of what they say:
// the rest stays as it is on the server, and the change is refused when somebody
// else changed it in between.
func (v *verb) overlay(ctx context.Context, c *connection, in reflect.Value) error {
	if v.def.Name != api.PolicySet.Name || v.file != "" {
		return nil
	}
	now, err := api.PolicyShow.Call(ctx, c.Client, &api.Empty{})
	if err != nil {
		return v.met(err, c.where, reflect.Value{})
	}
	set := in.Interface().(*api.SetPolicy)
	set.Body = now.Policy
	if set.Version == 0 {
		set.Version = now.Version
	}
	for _, p := range v.params {
		if p.field.In == api.InBody && p.given() {
			p.field.At(in.Interface()).Set(p.made)
		}
	}
	return nil
}

// saysSomething refuses to set a policy to nothing.
func (v *verb) saysSomething() error {
	if v.def.Name != api.PolicySet.Name || v.file != "" {
		return nil
	}
	for _, p := range v.params {
		if p.field.In == api.InBody && p.given() {
			return nil
		}
	}
	return usage("nothing of the policy is given").then("flags change what they name; --file FILE replaces it whole: ingot policy show -q .policy > policy.json")
}
