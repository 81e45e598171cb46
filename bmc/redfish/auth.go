package redfish

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/wire"
)

// auth is what a session has to show, under the session's lock.
type auth struct {
	token    bmc.Secret
	location string     // of the BMC's session, for the logout
	basic    bmc.Secret // header, where the scheme is basic
	version  string     // of the credentials in use
	serial   int        // counts what was obtained
	made     time.Time  // when
	works    bool       // a request with it was let in
	vain     bool       // it is new, and was refused like the one before
	dead     bool       // the token is kept for the logout alone

	closed bool

	rotated *rotation
}

// A rotation remembers a password that this session set, until the source of the
// credentials knows it too.
type rotation struct {
	version string // that the source still gave
	next    bmc.Secret
}

// A key is what goes with one request.
type key struct {
	header string
	value  bmc.Secret
	serial int
}

func (k key) put(h http.Header) {
	if k.header != "" {
		h.Set(k.header, k.value.Show())
	}
}

// key is what auth has; the second result is false where there is nothing yet.
func (a *auth) key() (key, bool) {
	switch {
	case a.token.Show() != "" && !a.dead:
		return key{"X-Auth-Token", a.token, a.serial}, true
	case a.basic.Show() != "":
		return key{"Authorization", a.basic, a.serial}, true
	}
	return key{}, false
}

// credentials returns what to send, and logs in where there is nothing. Of
// several callers one logs in and the others wait for it.
func (s *Session) credentials(ctx context.Context, op string) (key, error) {
	if k, ok := s.current(); ok || s.source == nil {
		return k, nil
	}
	if err := s.takeTurn(ctx, op); err != nil {
		return key{}, err
	}
	defer s.endTurn()
	if k, ok := s.current(); ok {
		return k, nil
	}
	return s.obtain(ctx, op)
}

func (s *Session) current() (key, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.auth.key()
}

func (s *Session) takeTurn(ctx context.Context, op string) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return &bmc.Error{Kind: bmc.Unreachable, Op: op, Sent: bmc.SentNo, Why: "another login did not end in time", Err: ctx.Err()}
	}
}

func (s *Session) endTurn() { <-s.turn }

// obtain resolves the credentials and logs in. The caller has the turn.
func (s *Session) obtain(ctx context.Context, op string) (key, error) {
	s.mu.Lock()
	closed := s.auth.closed
	s.mu.Unlock()
	if closed {
		return key{}, &bmc.Error{Kind: bmc.Unreachable, Op: op, Sent: bmc.SentNo, Why: "the session is closed"}
	}
	c, err := s.resolve(ctx, op)
	if err != nil {
		return key{}, err
	}
	place := s.sessions()
	if s.opts.Scheme == SchemeBasic || place == "" {
		return s.keep(auth{basic: basicHeader(c), version: c.Version}), nil
	}
	s.mu.Lock()
	was := s.auth
	s.mu.Unlock()
	token, location, err := s.login(ctx, place, c)
	if err != nil {
		if e, ok := errors.AsType[*bmc.Error](err); ok && latches(e) {
			s.latch.Refuse(c, latchError())
		}
		return key{}, err
	}
	k := s.keep(auth{token: token, location: location, version: c.Version})
	if was.token.Show() != "" {
		_ = s.drop(ctx, was.token, was.location) // it may have ended by itself
	}
	return k, nil
}

// latchError answers who comes with credentials that were refused.
func latchError() *bmc.Error {
	return &bmc.Error{Kind: bmc.Auth, Sent: bmc.SentNo, Why: "these credentials were refused before", Do: "give the right ones; nothing is tried until they change"}
}

// latches reports whether a failed login must not be tried again as it is: it
// counts towards a lockout.
func latches(e *bmc.Error) bool {
	return e.Kind == bmc.Auth || e.Kind == bmc.PasswordChange || e.Kind == bmc.Forbidden
}

// keep takes what was obtained into use.
func (s *Session) keep(a auth) key {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.serial, a.made, a.rotated = s.auth.serial+1, time.Now(), s.auth.rotated
	s.auth = a
	k, _ := s.auth.key()
	return k
}

// resolve asks the source, late, and knows of a password that this session set.
func (s *Session) resolve(ctx context.Context, op string) (bmc.Credentials, error) {
	c, err := s.latch.Resolve(ctx, s.source)
	if err != nil {
		if e, ok := errors.AsType[*bmc.Error](err); ok {
			if e.Op == "" { // the latch's own
				e.Op = op
			}
			return c, e
		}
		return c, &bmc.Error{Kind: bmc.Auth, Op: op, Sent: bmc.SentNo, Why: "the credentials cannot be resolved", Do: "look at the secret broker", Err: err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.auth.rotated; r != nil && r.version == c.Version {
		c.Password = r.next
	}
	return c, nil
}

// renewGap is how long a token that was as vain as the one before is kept, before
// another is asked for.
const renewGap = time.Minute

// works notes that k was let in.
func (s *Session) works(k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.serial == s.auth.serial {
		s.auth.works = true
	}
}

// refused tells of a 401 to a request with k, and says whether it is to be sent
// again. Anew says that its call had one before. A token that is refused though
// the login gave it is about a privilege, or the BMC's fault: the credentials were
// right, so that they are tried again by whom the next call serves.
func (s *Session) refused(k key, anew bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case k.header == "":
		return false
	case k.serial != s.auth.serial:
		return !anew // another has logged in meanwhile
	case s.auth.basic.Show() != "":
		s.latch.Refuse(bmc.Credentials{Version: s.auth.version}, latchError())
		s.auth.dead, s.auth.basic = true, bmc.Secret{}
		return false
	case s.auth.dead:
		return !anew
	case anew:
		s.auth.vain = !s.auth.works
		return false
	case s.auth.vain && !s.auth.works && time.Since(s.auth.made) < renewGap:
		return false
	}
	s.auth.dead = true // it stays for a logout
	return true
}

// sessions is where a login is posted; empty: the service has no sessions.
func (s *Session) sessions() string {
	if l := s.root.link("Links", "Sessions"); l != "" {
		return l
	}
	if l := s.root.link("SessionService"); l != "" {
		return bare(l) + "/Sessions"
	}
	return ""
}

func basicHeader(c bmc.Credentials) bmc.Secret {
	return bmc.Keep("Basic " + base64.StdEncoding.EncodeToString([]byte(c.Username+":"+c.Password.Show())))
}

// login makes a session of the BMC (DSP0266, section 13.3.4). It sends no
// Authorization: some answer 415 to that.
func (s *Session) login(ctx context.Context, place string, c bmc.Credentials) (token bmc.Secret, location string, err error) {
	in := s.call("log in", 1).hiding(c.Password)
	body, err := json.Marshal(map[string]string{"UserName": c.Username, "Password": c.Password.Show()})
	if err != nil {
		return token, "", err
	}
	a, err := s.wire.Do(ctx, wire.Request{Op: in.name, Method: http.MethodPost, Path: place, Body: body})
	if err != nil {
		return token, "", err
	}
	if err := in.judge(a); err != nil {
		return token, "", loginError(err)
	}
	token = bmc.Keep(a.Header.Get("X-Auth-Token"))
	location, _ = s.wire.Location(a) // without one there is nothing to log out from
	if location == "" {
		location = checked(read(a.Body).str("@odata.id"))
	}
	if token.Show() == "" {
		return token, "", in.fail(bmc.Protocol, bmc.SentYes, "the BMC answered a login without a token", "try the scheme basic")
	}
	if must(readMessages(a.Body)) {
		s.drop(ctx, token, location)
		return token, "", in.fail(bmc.PasswordChange, bmc.SentYes, "the account's password has to be changed first", "change it on the BMC, then give the new one")
	}
	return token, location, nil
}

// loginError takes a 400 or 403 that says nothing else for refused credentials.
func loginError(err error) error {
	e, ok := errors.AsType[*bmc.Error](err)
	if ok && (e.Status == http.StatusBadRequest || e.Status == http.StatusForbidden) && (e.Kind == bmc.Protocol || e.Kind == bmc.Forbidden) {
		e.Kind, e.Do = bmc.Auth, "give the right credentials; nothing is tried until they change"
	}
	return err
}

// must reports whether a login says that the password has to be changed first.
func must(list []message) bool {
	for _, m := range list {
		if is, ok := m.meant(); ok && is.kind == bmc.PasswordChange {
			return true
		}
	}
	return false
}

// logout ends the BMC's session. Where the BMC did not answer that, the next
// logout tries again.
func (s *Session) logout(ctx context.Context) error {
	if err := s.takeTurn(ctx, "log out"); err != nil {
		return err
	}
	defer s.endTurn()
	s.mu.Lock()
	token, location := s.auth.token, s.auth.location
	s.auth.dead, s.auth.basic, s.auth.closed = true, bmc.Secret{}, true
	s.mu.Unlock()
	if token.Show() == "" {
		return nil
	}
	if err := s.drop(ctx, token, location); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.auth.token, s.auth.location = bmc.Secret{}, ""
	return nil
}

// drop deletes a session of the BMC. That it is gone is no error.
func (s *Session) drop(ctx context.Context, token bmc.Secret, location string) error {
	if location == "" {
		return nil
	}
	out := s.call("log out", 1)
	a, err := s.wire.Do(ctx, wire.Request{Op: out.name, Method: http.MethodDelete, Path: location, Header: http.Header{"X-Auth-Token": {token.Show()}}})
	switch {
	case err != nil:
		return err
	case a.Status == http.StatusUnauthorized || a.Status == http.StatusNotFound:
		return nil
	}
	return out.judge(a)
}
