package bmctest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/bmc"
)

func (t *try) refuses(options string) error {
	err := t.Driver.ValidateOptions(json.RawMessage(options))
	if err := kinded(err, bmc.InvalidOption); err != nil {
		return fmt.Errorf("options of %d bytes, %.60s: %w", len(options), options, err)
	}
	return nil
}

func optionsSize(_ context.Context, t *try) error {
	return errors.Join(t.refuses(strings.Repeat(" ", bmc.MaxOptions)+"{}"), t.refuses(`{"x":"`+strings.Repeat("y", bmc.MaxOptions)+`"}`))
}

func optionsUnknown(_ context.Context, t *try) error {
	if err := t.Driver.ValidateOptions(t.Options); err != nil {
		return fmt.Errorf("the subject's own options are refused: %w", err)
	}
	return errors.Join(t.refuses(`{"noDriverHasThisOption":1}`), t.refuses(`[]`), t.refuses(`{`), t.refuses(`{} {}`))
}

func optionsSecret(_ context.Context, t *try) error {
	var errs []error
	for _, form := range []string{`{"password":"hunter2"}`, `{"PassWord":"hunter2"}`, `{"a":{"b":[{"API_Key":"hunter2"}]}}`, `{"x":{"token":"hunter2"}}`, `{"secret":"hunter2"}`, `{"user":"hunter2"}`} {
		errs = append(errs, t.refuses(form))
		if err := t.Driver.ValidateOptions(json.RawMessage(form)); err != nil && strings.Contains(err.Error(), "hunter2") {
			errs = append(errs, fmt.Errorf("the refusal of %s quotes the value", form))
		}
	}
	return errors.Join(errs...)
}

func optionsOffline(_ context.Context, t *try) error {
	sim, err := t.sim()
	if err != nil {
		return err
	}
	for _, o := range []string{string(t.Options), `{"url":"` + t.stage.Endpoint().URL + `"}`} {
		_ = t.Driver.ValidateOptions(json.RawMessage(o))
	}
	if n := sim.Tally().Requests; n != 0 {
		return fmt.Errorf("%d requests were sent", n)
	}
	return nil
}

// faces are the interfaces of a session, and the features that declare each.
func faces(s bmc.Session) map[string]bool {
	has := map[string]bool{}
	_, has["power"] = bmc.As[bmc.Power](s)
	_, has["boot"] = bmc.As[bmc.Boot](s)
	_, has["media"] = bmc.As[bmc.Media](s)
	_, has["inventory"] = bmc.As[bmc.Inventory](s)
	_, has["health"] = bmc.As[bmc.Health](s)
	_, has["firmware"] = bmc.As[bmc.Firmware](s)
	_, has["accounts"] = bmc.As[bmc.Accounts](s)
	_, has["events"] = bmc.As[bmc.Events](s)
	return has
}

func infoStable(ctx context.Context, t *try) error {
	info := t.Driver.Info()
	switch {
	case !reflect.DeepEqual(info, t.Driver.Info()):
		return errors.New("what Info says differs from call to call")
	case info.Name == "" || len(info.Protocols) == 0 || len(info.Declares) == 0:
		return fmt.Errorf("there is no name, protocol or feature in Info: %+v", info)
	}
	return t.with(ctx, func(s bmc.Session) error {
		p, err := s.Probe(ctx)
		if err != nil {
			return fmt.Errorf("probe: %w", err)
		}
		var errs []error
		for name, has := range faces(s) {
			declared := slices.ContainsFunc(info.Declares, func(f bmc.Feature) bool { return strings.HasPrefix(string(f), name+".") })
			if has != declared {
				errs = append(errs, fmt.Errorf("%s: declared %t, in the session %t", name, declared, has))
			}
		}
		for f, support := range p.Supports {
			if support.Level != bmc.Unsupported && !slices.Contains(info.Declares, f) {
				errs = append(errs, fmt.Errorf("%s is found and not declared", f))
			}
			if !slices.Contains(bmc.Features(), f) {
				errs = append(errs, fmt.Errorf("%s is no feature", f))
			}
		}
		return errors.Join(errs...)
	})
}
