package bmcsim

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A session is one that is open, by its token in BMC.sessions.
type session struct {
	id   int
	used time.Time
}

// who asks: nobody, a session, or Basic authentication.
type who struct {
	session *session
	basic   bool
}

// filled has every default, those of the tree too.
func (o Options) filled(t *Tree) Options {
	def := func(to *int, value int) {
		if *to == 0 {
			*to = value
		}
	}
	if o.Auth.User == "" {
		o.Auth.User = DefaultUser
	}
	if o.Auth.Password == "" {
		o.Auth.Password = DefaultPassword
	}
	told := func(service, name string) int {
		n := t.nodes[key(linkOf(t.nodes[root].body[service]))]
		if n == nil {
			return 0
		}
		i, _ := number(n.body, name)
		return max(0, i)
	}
	def(&o.Auth.Sessions, DefaultSessions)
	def(&o.Auth.Full, http.StatusServiceUnavailable)
	def(&o.Auth.Lockout, told("AccountService", "AccountLockoutThreshold"))
	def(&o.Auth.MaxPassword, told("AccountService", "MaxPasswordLength"))
	def(&o.Auth.MaxPassword, 255)
	def(&o.Load.Over, http.StatusTooManyRequests)
	def(&o.LogSize, 128)
	if o.Auth.LockoutFor == 0 {
		o.Auth.LockoutFor = time.Duration(told("AccountService", "AccountLockoutDuration")) * time.Second
	}
	if o.Auth.Idle == 0 {
		o.Auth.Idle = time.Duration(told("SessionService", "SessionTimeout")) * time.Second
	}
	if o.Auth.Idle == 0 {
		o.Auth.Idle = 30 * time.Minute
	}
	if o.Media.MaxBytes == 0 {
		o.Media.MaxBytes = 8 << 30
	}
	if o.Media.Timeout == 0 {
		o.Media.Timeout = 10 * time.Minute
	}
	return o
}

// open reports whether a request needs nobody.
func open(q *request, sessions string) bool {
	switch q.Method {
	case http.MethodGet, http.MethodHead:
		return q.key == root || q.key == "/redfish" || q.key == root+"/odata" || q.key == root+"/$metadata"
	case http.MethodPost:
		return q.key == key(sessions) || q.key == key(sessions)+"/members"
	}
	return false
}

// authenticate finds who asks, or refuses.
func (b *BMC) authenticate(q *request) (answer, bool) {
	if open(q, b.where.sessions) {
		return answer{}, true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(q.now)
	if token := q.Header.Get("X-Auth-Token"); token != "" {
		s := b.sessions[token]
		if s == nil {
			return unauthorized("NoValidSession", "There is no valid session established with the implementation."), false
		}
		s.used = q.now
		q.who.session = s
		return b.mayAsk(q)
	}
	user, password, ok := q.BasicAuth()
	if !ok || b.o.Auth.NoBasic {
		return unauthorized("NoValidSession", "There is no valid session established with the implementation.").with("WWW-Authenticate", `Basic realm="Redfish"`), false
	}
	if !b.check(user, password, q.now) {
		return unauthorized("ResourceAtUriUnauthorized", "The user name or password is wrong."), false
	}
	q.who.basic = true
	return b.mayAsk(q)
}

// mayAsk holds back who must change the password first.
func (b *BMC) mayAsk(q *request) (answer, bool) {
	if !b.auth.mustChange || q.key == key(b.where.account) || strings.HasPrefix(q.key, b.where.sessionKeys) {
		return answer{}, true
	}
	return refuse(http.StatusForbidden, "PasswordChangeRequired", "The password provided for this account must be changed before access is granted: PATCH the Password of "+b.where.account+".", b.where.account), false
}

func unauthorized(id, message string) answer { return refuse(http.StatusUnauthorized, id, message) }

// authState is the account as it is now.
type authState struct {
	password   Password
	mustChange bool
	failures   int
	locked     time.Time // until when
}

// check judges a password, and counts failures.
func (b *BMC) check(user, password string, now time.Time) bool {
	a := &b.auth
	if now.Before(a.locked) {
		return false
	}
	right := subtle.ConstantTimeCompare([]byte(user), []byte(b.o.Auth.User)) & subtle.ConstantTimeCompare([]byte(password), []byte(a.password))
	if right == 1 {
		a.failures = 0
		return true
	}
	b.stats.FailedLogins++
	a.failures++
	if n := b.o.Auth.Lockout; n > 0 && a.failures >= n && b.o.Auth.LockoutFor > 0 {
		a.failures, a.locked = 0, now.Add(b.o.Auth.LockoutFor)
	}
	return false
}

// expire ends the sessions that nobody used.
func (b *BMC) expire(now time.Time) {
	for token, s := range b.sessions {
		if now.Sub(s.used) >= b.o.Auth.Idle {
			b.end(token)
		}
	}
}

// end ends a session.
func (b *BMC) end(token string) {
	delete(b.nodes, key(b.sessionPath(b.sessions[token])))
	delete(b.sessions, token)
}

// login opens a session.
func (b *BMC) login(q *request) answer {
	o := b.o.Auth
	if o.HeaderOnLogin != 0 && q.Header.Get("Authorization") != "" {
		return refuse(o.HeaderOnLogin, "HeaderInvalid", "The header Authorization is not valid for this request.", "Authorization")
	}
	user, okUser := q.body["UserName"].(string)
	password, okPassword := q.body["Password"].(string)
	switch {
	case !okUser:
		return missingProperty("UserName")
	case !okPassword:
		return missingProperty("Password")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.check(user, password, q.now) {
		return unauthorized("ResourceAtUriUnauthorized", "The user name or password is wrong.")
	}
	b.expire(q.now)
	if len(b.sessions) >= o.Sessions {
		id, message := "SessionLimitExceeded", "The session establishment failed due to the number of simultaneous sessions exceeding the limit of the implementation."
		if o.Full == http.StatusBadRequest {
			id, message = "CreateLimitReachedForResource", "The create operation failed because the resource has reached the limit of possible resources."
		}
		return refuse(o.Full, id, message)
	}
	b.next++
	s := &session{id: b.next, used: q.now}
	token := rand.Text()
	b.sessions[token] = s
	b.stats.Logins++
	b.stats.MostSessions = max(b.stats.MostSessions, len(b.sessions))
	path := b.sessionPath(s)
	body := map[string]any{"@odata.id": path, "@odata.type": "#Session.v1_4_0.Session", "Id": strconv.Itoa(s.id), "Name": "User Session", "UserName": user, "Password": nil}
	b.set(path, body)
	if b.auth.mustChange {
		body = overlaid(body, map[string]any{"@Message.ExtendedInfo": []any{info(registry+"PasswordChangeRequired", "The password provided for this account must be changed before access is granted: PATCH the Password of "+b.where.account+".", b.where.account)}})
	}
	a := answer{status: http.StatusCreated, body: body}.with("Location", path)
	if o.NoToken {
		return a
	}
	return a.with("X-Auth-Token", token)
}

func (b *BMC) sessionPath(s *session) string {
	return fmt.Sprintf("%s/%d", b.where.sessions, s.id)
}

// sessionMembers are the sessions that are open; those that the tree recorded are not.
func (b *BMC) sessionMembers(now time.Time) map[string]any {
	b.expire(now)
	var ids []int
	for _, s := range b.sessions {
		ids = append(ids, s.id)
	}
	slices.Sort(ids)
	members := make([]any, 0, len(ids))
	for _, id := range ids {
		members = append(members, refer(fmt.Sprintf("%s/%d", b.where.sessions, id)))
	}
	return map[string]any{"Members": members, "Members@odata.count": len(members)}
}

// logout ends a session.
func (b *BMC) logout(q *request) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	for token, s := range b.sessions {
		if key(b.sessionPath(s)) == q.key {
			b.end(token)
			return done()
		}
	}
	return absent(q.URL.Path)
}
