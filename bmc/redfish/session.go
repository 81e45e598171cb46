package redfish

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/wire"
)

// A Session is a [bmc.Session] with one machine of a BMC. It is safe for
// concurrent use.
type Session struct {
	wire   *wire.Client
	opts   Options
	source bmc.CredentialSource
	latch  bmc.Latch

	root   doc
	host   host     // the selected system; set before the session is used
	bmc    host     // the manager; zero: none was found that is the system's
	all    []string // paths of all systems, sorted
	quirks []Quirk
	// firmware is the BMC's: the manager's, else that of one of its managers.
	firmware string
	slash    bool // the BMC wants a trailing slash

	turn chan struct{} // held by who logs in or rotates
	mu   sync.Mutex
	auth auth
	info map[string]doc // ActionInfo by path
	box  chassis
	// bootBySettings: the system refused an override that its settings object took.
	bootBySettings bool
}

// A host is the selected system as it was when the session was opened: what does
// not change.
type host struct {
	path string
	doc  doc
	gone bool // it is listed, and answers 404
}

// A call is one operation and what is left of its requests. It is not safe for
// concurrent use.
type call struct {
	s    *Session
	name string       // of the operation, for errors
	left int          // requests
	anew bool         // it was sent anew after a 401
	hide []bmc.Secret // that a BMC may echo
}

func (s *Session) call(name string, requests int) *call {
	return &call{s: s, name: name, left: requests}
}

// hiding keeps secrets that the call sends out of its errors.
func (c *call) hiding(secrets ...bmc.Secret) *call {
	c.hide = append(c.hide, secrets...)
	return c
}

// quote is what a BMC said, without what is hidden.
func (c *call) quote(s string) string {
	for _, h := range c.hide {
		if p := h.Show(); p != "" {
			s = strings.ReplaceAll(s, p, "[redacted]")
		}
	}
	return s
}

// fail makes an error of the operation.
func (c *call) fail(kind bmc.Kind, sent bmc.Sent, why, do string) *bmc.Error {
	return &bmc.Error{Kind: kind, Op: c.name, Sent: sent, Why: why, Do: do}
}

// spend takes one request out of the budget.
func (c *call) spend() error {
	if c.left--; c.left < 0 {
		return &bmc.Error{Kind: bmc.Protocol, Op: c.name, Sent: bmc.SentYes, Err: errBudget, Why: "the BMC has more resources than one operation reads", Do: "report it with the BMC's model"}
	}
	return nil
}

// errBudget is the cause of an error of an operation that would need too many
// requests.
var errBudget = errors.New("redfish: the operation's budget of requests is spent")

// do sends one request with the session's credentials. After a 401 it logs in
// anew, once in a call, and sends it again: what was not authorized was not
// carried out.
func (c *call) do(ctx context.Context, r wire.Request) (*wire.Response, error) {
	r.Op = c.name
	if c.s.slash && !strings.HasSuffix(r.Path, "/") && !strings.Contains(r.Path, "?") {
		r.Path += "/"
	}
	early := func(err error) error {
		if r.Method != "" && r.Method != http.MethodGet {
			return unsent(err)
		}
		return err
	}
	for {
		if err := c.spend(); err != nil {
			return nil, early(err)
		}
		key, err := c.s.credentials(ctx, c.name)
		if err != nil {
			return nil, early(err)
		}
		sent := r
		sent.Header = r.Header.Clone()
		if sent.Header == nil {
			sent.Header = http.Header{}
		}
		key.put(sent.Header)
		a, err := c.s.wire.Do(ctx, sent)
		if err != nil {
			return nil, err
		}
		if a.Status != http.StatusUnauthorized {
			c.s.works(key)
			return a, nil
		}
		if again := c.s.refused(key, c.anew); !again {
			return nil, c.judge(a)
		}
		c.anew = true
	}
}

// judge makes an error of an answer; nil where it is a success.
func (c *call) judge(a *wire.Response) error {
	if a.Status >= 200 && a.Status < 300 {
		return nil // without a look at the body: most answers are read for one field
	}
	list := readMessages(a.Body)
	e, ok := errors.AsType[*bmc.Error](a.Err(c.quote(detail(list))))
	if !ok {
		return nil
	}
	e.Op = c.name
	refine(e, list)
	return e
}

// get reads a resource.
func (c *call) get(ctx context.Context, path string) (doc, *wire.Response, error) {
	a, err := c.do(ctx, wire.Request{Path: path})
	if err != nil {
		return nil, nil, err
	}
	if err := c.judge(a); err != nil {
		return nil, a, err
	}
	var d doc
	if err := a.JSON(&d); err != nil {
		return nil, a, err
	}
	return d, a, nil
}

// post sends body and judges the answer. A success whose body names a failure
// that is known is one.
func (c *call) post(ctx context.Context, path string, body any) (*wire.Response, error) {
	return c.write(ctx, http.MethodPost, path, body, nil)
}

func (c *call) write(ctx context.Context, method, path string, body any, h http.Header) (*wire.Response, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	a, err := c.do(ctx, wire.Request{Method: method, Path: path, Body: raw, Header: h})
	if err != nil {
		return nil, err
	}
	if err := c.judge(a); err != nil {
		return a, err
	}
	return a, c.inner(a)
}

// inner looks for a failure in the error object of a success.
func (c *call) inner(a *wire.Response) error {
	if read(a.Body).sub("error") == nil {
		return nil
	}
	for _, m := range readMessages(a.Body) {
		if is, ok := m.meant(); ok {
			return &bmc.Error{Kind: is.kind, Op: c.name, Sent: bmc.SentYes, Status: a.Status, Why: c.quote(m.text), Do: is.do, After: is.after}
		}
	}
	return nil
}

// The most pages and members of a collection that are read.
const (
	maxPages   = 64
	maxMembers = 2000
)

// members are the paths of a collection's members, sorted, each once.
func (c *call) members(ctx context.Context, path string) ([]string, error) {
	endless := func() error {
		return c.fail(bmc.Protocol, bmc.SentYes, "the collection "+path+" has no end", "report it to the BMC's vendor")
	}
	var out []string
	seen := map[string]bool{}
	for next := path; next != ""; {
		if seen[next] || len(seen) >= maxPages {
			return nil, endless()
		}
		seen[next] = true
		d, _, err := c.get(ctx, next)
		if err != nil {
			return nil, err
		}
		for _, m := range d.docs("Members") {
			l, err := wire.Link(m.str("@odata.id"))
			if err != nil {
				return nil, err
			}
			out = append(out, l)
		}
		if len(out) > maxMembers {
			return nil, endless()
		}
		if next = d.str("Members@odata.nextLink"); next != "" {
			if next, err = wire.Link(next); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(out)
	return slices.CompactFunc(out, same), nil
}

// closing is how long the request of a logout may take.
const closing = 5 * time.Second

// Close logs out. It has a deadline of its own, also where ctx has ended: 5 s, and
// the interval that the BMC is given between requests. An answer of 401 or 404 is
// fine: the session was gone. Where it fails, another Close tries again.
func (s *Session) Close(ctx context.Context) error {
	defer s.wire.Close()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing+s.opts.Limits().Interval)
	defer cancel()
	return s.logout(ctx)
}
