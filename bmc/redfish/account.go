package redfish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/wire"
)

var _ bmc.Accounts = (*Session)(nil)

// maxPassword is taken for a BMC that reports no MaxPasswordLength: IPMI keeps 20
// bytes, and firmware has cut or refused more (openbmc/openbmc#3550).
const maxPassword = 20

// An account is the session's own, as it was read.
type account struct{ path, tag string }

// RotatePassword sets the password of the session's account. Nobody else logs in
// meanwhile: polls wait, since a login with the old password would count as a
// wrong one. The session goes on with the new password, also while its source of
// credentials still gives the old version.
func (s *Session) RotatePassword(ctx context.Context, next bmc.Secret) error {
	c := s.call("rotate password", 256).hiding(next)
	if s.source == nil {
		return c.fail(bmc.InvalidOption, bmc.SentNo, "the session has no credentials", "")
	}
	old, err := s.resolve(ctx, c.name)
	if err != nil {
		return err
	}
	c.hiding(old.Password)
	mine, err := c.findAccount(ctx, old.Username, next)
	if err != nil {
		return unsent(err)
	}
	if err := s.takeTurn(ctx, c.name); err != nil {
		return err
	}
	defer s.endTurn()
	doubt, err := c.setPassword(ctx, mine, next)
	if err != nil {
		return err
	}
	return c.prove(ctx, old, next, doubt)
}

// findAccount finds the account of a user, and holds next to the service's limits.
func (c *call) findAccount(ctx context.Context, user string, next bmc.Secret) (account, error) {
	place := c.s.root.link("AccountService")
	if place == "" {
		return account{}, c.fail(bmc.Unsupports, bmc.SentNo, "the BMC has no account service", "")
	}
	service, _, err := c.get(ctx, place)
	if err != nil {
		return account{}, err
	}
	if err := c.checkLength(service, len(next.Show())); err != nil {
		return account{}, err
	}
	paths, err := c.members(ctx, service.link("Accounts"))
	if err != nil {
		return account{}, err
	}
	for _, p := range paths {
		d, a, err := c.get(ctx, p)
		if isKind(err, bmc.NotFound) || isKind(err, bmc.Forbidden) {
			continue
		}
		if err != nil {
			return account{}, err
		}
		if one, err := decode[schemas.ManagerAccount](a); err == nil && one.UserName == user {
			return account{p, tagOf(a, d)}, nil
		}
	}
	return account{}, c.fail(bmc.NotFound, bmc.SentYes, "the BMC shows no account of the session's user", "give the account the privilege to configure itself")
}

// checkLength refuses a password that the BMC would cut or refuse. Lengths are
// in bytes.
func (c *call) checkLength(service doc, n int) error {
	longest, shortest := int(service.num("MaxPasswordLength")), int(service.num("MinPasswordLength"))
	if longest <= 0 {
		longest = maxPassword
	}
	if n == 0 || n < shortest || n > longest {
		return c.fail(bmc.InvalidOption, bmc.SentNo, "the new password has the wrong length", fmt.Sprintf("want %d to %d bytes", max(shortest, 1), longest))
	}
	return nil
}

// setPassword writes the password with the session's present key and never logs
// in. An error says that the old password stands. Doubt says why nobody knows
// whether it does: all but a success and a plain refusal leave doubt, since BMCs
// were seen to answer what they carried out by a failure.
func (c *call) setPassword(ctx context.Context, mine account, next bmc.Secret) (doubt, err error) {
	body, err := json.Marshal(map[string]string{"Password": next.Show()})
	if err != nil {
		return nil, err
	}
	now, ok := c.s.current()
	if !ok {
		return nil, c.fail(bmc.Auth, bmc.SentNo, "the session has ended", "try again")
	}
	for _, tag := range ladder(mine.tag) {
		h := http.Header{}
		now.put(h)
		if tag != "" {
			h.Set("If-Match", tag)
		}
		a, err := c.s.wire.Do(ctx, wire.Request{Op: c.name, Method: http.MethodPatch, Path: mine.path, Header: h, Body: body})
		if err == nil && a.Status == http.StatusPreconditionFailed {
			continue
		}
		if err == nil {
			err = c.judge(a)
		}
		if err == nil {
			return c.inner(a), nil
		}
		if refuses(err) {
			return nil, err
		}
		return err, nil
	}
	return nil, c.fail(bmc.Conflict, bmc.SentYes, "the BMC takes no ETag of its account", "report it to the BMC's vendor")
}

// refuses reports whether an error says that a write was not carried out: it was
// not sent, or its status is one of the client's fault.
func refuses(err error) bool {
	e, ok := errors.AsType[*bmc.Error](err)
	if !ok {
		return false
	}
	unsent := e.Sent != bmc.SentYes && e.Sent != bmc.SentMaybe
	return unsent && e.Kind != bmc.Indeterminate || e.Status >= 400 && e.Status < 500
}

// prove logs in with the new password, once, and takes it into use. Where that
// fails either password may stand.
func (c *call) prove(ctx context.Context, old bmc.Credentials, next bmc.Secret, doubt error) error {
	s := c.s
	s.mu.Lock()
	was := s.auth
	s.mu.Unlock()
	fresh := old
	fresh.Password = next
	a, err := s.enter(ctx, fresh)
	if err != nil {
		why := "the BMC accepted the new password, and does not let it in"
		if doubt != nil {
			why = "whether the BMC took the new password is not known, and it does not get in: " + doubt.Error()
		}
		e := c.fail(bmc.Indeterminate, bmc.SentYes, why, "keep both, and try each once")
		e.Err = err
		return e
	}
	s.mu.Lock()
	s.auth.rotated = &rotation{version: old.Version, next: next}
	s.mu.Unlock()
	s.keep(a)
	if was.token.Show() != "" {
		_ = s.drop(ctx, was.token, was.location) // the BMC may have ended it itself
	}
	return nil
}

// enter gets in with credentials: by a login, or by one read with Basic.
func (s *Session) enter(ctx context.Context, c bmc.Credentials) (auth, error) {
	if place := s.sessions(); place != "" && s.opts.Scheme != SchemeBasic {
		token, location, err := s.login(ctx, place, c)
		return auth{token: token, location: location, version: c.Version}, err
	}
	in := s.call("log in", 1).hiding(c.Password)
	a := auth{basic: basicHeader(c), version: c.Version}
	h := http.Header{"Authorization": {a.basic.Show()}}
	answer, err := s.wire.Do(ctx, wire.Request{Op: in.name, Path: s.host.path, Header: h})
	if err != nil {
		return a, err
	}
	return a, in.judge(answer)
}
