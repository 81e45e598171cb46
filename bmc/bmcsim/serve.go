package bmcsim

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxBody is the most that is read of a request's body.
const maxBody = 1 << 20

// A request is what is known of one while it is answered.
type request struct {
	*http.Request
	key  string
	now  time.Time
	body map[string]any
	who  who
}

// ServeHTTP answers a request.
func (b *BMC) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !b.begin() {
		panic(http.ErrAbortHandler)
	}
	defer b.work.Done()
	v := b.enter(r)
	status := 0
	defer func() { b.leave(v, status) }()
	if b.away(v.at) {
		panic(http.ErrAbortHandler)
	}
	effects := b.effects(r)
	for _, e := range effects {
		if b.sleep(r.Context(), e.Delay) != nil || e.Drop == DropBefore {
			panic(http.ErrAbortHandler)
		}
	}
	a := b.answer(r, v, effects)
	for _, e := range effects {
		a = e.spoil(r, a)
		if e.Reboot {
			b.reboot()
		}
		if e.Drop == DropAfter {
			panic(http.ErrAbortHandler)
		}
	}
	status = a.status
	b.write(w, r, a, effects)
}

// answer is what the request gets by itself, or by rules that stand before it.
func (b *BMC) answer(r *http.Request, v *visit, effects []Effect) answer {
	for _, e := range effects {
		if a, ok := e.instead(r); ok {
			return a
		}
	}
	if a, ok := b.overloaded(v); ok {
		return a
	}
	q := &request{Request: r, key: b.keyOf(r), now: time.Now()}
	if a, ok := b.authenticate(q); !ok {
		return a
	}
	if r.Method == http.MethodPost || r.Method == http.MethodPatch {
		if a, ok := q.read(); !ok {
			return a
		}
	}
	return b.route(q)
}

// keyOf is the key of a request, with its query where the tree has a resource by it.
func (b *BMC) keyOf(r *http.Request) string {
	k := key(r.URL.Path)
	if r.URL.RawQuery == "" {
		return k
	}
	if page := k + "?" + strings.ToLower(r.URL.RawQuery); b.tree.nodes[page] != nil {
		return page
	}
	return k
}

// read reads the body, which may be empty.
func (q *request) read() (answer, bool) {
	raw, err := io.ReadAll(io.LimitReader(q.Body, maxBody+1))
	switch {
	case err != nil:
		panic(http.ErrAbortHandler) // there is nobody to answer
	case len(raw) > maxBody:
		return refuse(http.StatusRequestEntityTooLarge, "PayloadTooLarge", "The supplied payload exceeds the maximum size supported by the service."), false
	case len(strings.TrimSpace(string(raw))) == 0:
		q.body = map[string]any{}
		return answer{}, true
	}
	if q.body, err = object(raw); err != nil {
		return refuse(http.StatusBadRequest, "MalformedJSON", "The request body submitted was malformed JSON and could not be parsed by the receiving service."), false
	}
	return answer{}, true
}

// route finds who answers.
func (b *BMC) route(q *request) answer {
	switch q.Method {
	case http.MethodGet, http.MethodHead:
		return b.get(q)
	case http.MethodPost:
		return b.post(q)
	case http.MethodPatch:
		return b.patch(q)
	case http.MethodDelete:
		return b.delete(q)
	}
	return b.notAllowed(q)
}

func (b *BMC) get(q *request) answer {
	if q.key == "/redfish" {
		return answer{status: http.StatusOK, body: map[string]any{"v1": root + "/"}}
	}
	if a, ok := b.monitor(q); ok {
		return a
	}
	body, raw := b.body(q)
	if body == nil {
		return absent(q.URL.Path)
	}
	a, tag := b.tagged(q, body, raw)
	a = a.with("Allow", strings.Join(b.allowed(q.key), ", "))
	if tag != "" && q.Header.Get("If-None-Match") == tag {
		return answer{status: http.StatusNotModified, header: a.header}
	}
	return a
}

// body is a resource as it is now: nil is none, and raw is set where it is as the tree
// has it.
func (b *BMC) body(q *request) (body map[string]any, raw []byte) {
	over := b.live(q)
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.node(q.key)
	switch {
	case n == nil:
		return nil, nil
	case over == nil:
		return n.body, n.raw
	}
	return overlaid(n.body, over), nil
}

// live is what lies over a resource now; nil where nothing does.
func (b *BMC) live(q *request) map[string]any {
	if s := b.systems[q.key]; s != nil {
		return map[string]any{"PowerState": b.shown(q.Context(), s)}
	}
	if list := b.chassis[q.key]; len(list) > 0 {
		return map[string]any{"PowerState": b.chassisShown(q.Context(), list)}
	}
	if s := b.slots[q.key]; s != nil {
		return b.slotShown(q, s)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if q.key == key(b.where.sessions) {
		return b.sessionMembers(q.now)
	}
	return nil
}

func (b *BMC) post(q *request) answer {
	if q.key == key(b.where.sessions) || q.key == key(b.where.sessions)+"/members" {
		return b.login(q)
	}
	a, ok := b.action(q.key)
	if !ok {
		return b.notAllowed(q)
	}
	switch a.name {
	case "ComputerSystem.Reset":
		return b.asTask(q, func() answer { return b.resetSystem(q, a) })
	case "Chassis.Reset":
		return b.asTask(q, func() answer { return b.resetChassis(q, a) })
	case "Manager.Reset":
		b.reboot()
		return done()
	case "VirtualMedia.InsertMedia":
		return b.asTask(q, func() answer { return b.insert(q, b.slots[a.on], q.body) })
	case "VirtualMedia.EjectMedia":
		return b.asTask(q, func() answer { return b.eject(q, b.slots[a.on]) })
	case "LogService.ClearLog":
		return b.clearLog(a.on)
	}
	return refuse(http.StatusBadRequest, "ActionNotSupported", "The action "+a.name+" is not supported by the resource.", a.name)
}

// action finds an action by the key of its target. Some trees do not show the ejection
// from slots that are empty.
func (b *BMC) action(k string) (action, bool) {
	if a, ok := b.tree.actions[k]; ok {
		if s := b.slots[a.on]; s != nil && s.patch {
			return action{}, false
		}
		return a, true
	}
	if at, ok := strings.CutSuffix(k, "/actions/virtualmedia.ejectmedia"); ok {
		if s := b.slots[at]; s != nil && !s.patch {
			return action{at, "VirtualMedia.EjectMedia"}, true
		}
	}
	return action{}, false
}

func (b *BMC) delete(q *request) answer {
	if strings.HasPrefix(q.key, b.where.sessionKeys) {
		return b.logout(q)
	}
	return b.notAllowed(q)
}

// allowed are the methods that a key takes.
func (b *BMC) allowed(k string) []string {
	if _, ok := b.action(k); ok {
		return []string{http.MethodPost}
	}
	out := []string{http.MethodGet, http.MethodHead}
	if k == key(b.where.sessions) {
		out = append(out, http.MethodPost)
	}
	if strings.HasPrefix(k, b.where.sessionKeys) {
		out = append(out, http.MethodDelete)
	}
	if b.writable(k) {
		out = append(out, http.MethodPatch)
	}
	return out
}

func (b *BMC) notAllowed(q *request) answer {
	if _, ok := b.action(q.key); !ok {
		if body, _ := b.body(q); body == nil {
			return absent(q.URL.Path)
		}
	}
	return refuse(http.StatusMethodNotAllowed, "OperationNotAllowed", "The HTTP method is not allowed on this resource.").with("Allow", strings.Join(b.allowed(q.key), ", "))
}

// write sends an answer, the way that rules want it.
func (b *BMC) write(w http.ResponseWriter, r *http.Request, a answer, effects []Effect) {
	h := w.Header()
	for name, list := range a.header {
		h[name] = list
	}
	h.Set("OData-Version", "4.0")
	h.Set("Cache-Control", "no-cache")
	raw := a.bytes()
	if len(raw) > 0 {
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	if strings.HasSuffix(h.Get("ETag"), `-gzip"`) {
		h.Set("Content-Encoding", "gzip")
		raw = packed(raw)
	}
	if i := slices.IndexFunc(effects, func(e Effect) bool { return e.Body.streams() }); i >= 0 {
		b.stream(w, r, a.status, raw, effects[i])
		return
	}
	if a.status != http.StatusNoContent && a.status != http.StatusNotModified {
		h.Set("Content-Length", strconv.Itoa(len(raw)))
	}
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(raw) // the client may have gone
	}
}

func packed(raw []byte) []byte {
	var out strings.Builder
	z := gzip.NewWriter(&out)
	_, err := z.Write(raw)
	if err = errors.Join(err, z.Close()); err != nil {
		panic(fmt.Sprintf("bmcsim: gzip: %v", err)) // a Builder takes everything
	}
	return []byte(out.String())
}
