package wire

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// Options of a [Client]. A zero field takes its default.
type Options struct {
	Body      int64         // of an answer, in bytes; default 4 MiB
	Time      time.Duration // of one request with its answer and redirects; default 30s
	Redirects int           // in a row; default 3
	Idle      time.Duration // how long an idle connection is kept; default 1m, negative: not at all
	LegacyTLS bool          // also TLS 1.0 and suites without forward secrecy, for BMCs that know no other
	// Dial opens connections; default a net.Dialer. It is asked for the endpoint's
	// host and port and for nothing else.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

func (o Options) filled() Options {
	if o.Body <= 0 {
		o.Body = 4 << 20
	}
	if o.Time <= 0 {
		o.Time = 30 * time.Second
	}
	if o.Redirects <= 0 {
		o.Redirects = 3
	}
	if o.Idle == 0 {
		o.Idle = time.Minute
	}
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	return o
}

// maxHeader bounds an answer's header, in bytes.
const maxHeader = 64 << 10

// A Client speaks HTTP/1.1 to one BMC. It is safe for concurrent use; how many
// requests run at once is the gate's affair.
type Client struct {
	base *url.URL
	gate bmc.Gate
	opts Options
	peer peer
	http *http.Transport
}

// New makes a client for e. Nothing is sent. The error is a [*bmc.Error] of kind
// [bmc.InvalidOption]. Plain http is for endpoints whose trust is named insecure.
func New(e bmc.Endpoint, gate bmc.Gate, o Options) (*Client, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	u, err := url.Parse(e.URL)
	if err != nil {
		return nil, err
	}
	if u.Scheme = strings.ToLower(u.Scheme); u.Scheme != "https" && (u.Scheme != "http" || !e.Trust.Insecure) {
		return nil, &bmc.Error{Kind: bmc.InvalidOption, Op: "endpoint", Sent: bmc.SentNo, Why: "the scheme is " + u.Scheme, Do: "want https; http only where the trust is named insecure"}
	}
	c := &Client{base: &url.URL{Scheme: u.Scheme, Host: u.Host}, gate: gate, opts: o.filled()}
	t, err := tlsConfig(e.Trust, &c.peer, o.LegacyTLS)
	if err != nil {
		return nil, err
	}
	c.http = &http.Transport{
		DialContext: c.opts.Dial, TLSClientConfig: t, TLSHandshakeTimeout: c.opts.Time,
		DisableCompression: true, MaxResponseHeaderBytes: maxHeader, IdleConnTimeout: c.opts.Idle,
		DisableKeepAlives: c.opts.Idle < 0, MaxIdleConnsPerHost: 4, Protocols: oneDotOne(),
	}
	return c, nil
}

// oneDotOne leaves HTTP/2 out: BMCs that offer it run one request at a time all
// the same.
func oneDotOne() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}

// Close ends the idle connections. Requests that run go on.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// A Request is one request. Path may hold a query; a Body is JSON unless Header
// says otherwise.
type Request struct {
	Op     string // what it is for, in errors; default method and path
	Method string // default GET
	Path   string
	Header http.Header
	Body   []byte
}

// A Response is a whole answer.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	Path   string // after redirects
	op     string
}

// Do sends r and reads the answer whole. A status of any kind is an answer and no
// error; [Response.Err] judges it. The method is kept over the redirects 301, 307
// and 308; others are followed for GET and HEAD alone.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	if r.Op == "" {
		r.Op = r.Method + " " + r.Path
	}
	path, err := Link(r.Path)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.Time)
	defer cancel()
	for range c.opts.Redirects + 1 {
		a, err := c.once(ctx, r, path)
		if err != nil {
			return nil, err
		}
		keeps := a.Status == http.StatusMovedPermanently || a.Status == http.StatusTemporaryRedirect || a.Status == http.StatusPermanentRedirect
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if !keeps && (!reads || a.Status != http.StatusFound && a.Status != http.StatusSeeOther) {
			return a, nil
		}
		if path, err = c.follow(a.Header.Get("Location")); err != nil {
			return nil, err
		}
	}
	return nil, &bmc.Error{Kind: bmc.Protocol, Op: r.Op, Sent: bmc.SentYes, Why: "redirects without end", Do: "report it to the BMC's vendor"}
}

// once sends r to path and follows nothing.
func (c *Client) once(ctx context.Context, r Request, path string) (*Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, c.base.String()+path, bytes.NewReader(r.Body))
	if err != nil {
		return nil, &bmc.Error{Kind: bmc.InvalidOption, Op: r.Op, Sent: bmc.SentNo, Why: "no such request: " + r.Method + " " + path, Err: err}
	}
	if r.Header != nil {
		req.Header = r.Header.Clone()
	}
	if len(r.Body) == 0 {
		req.Body, req.GetBody = nil, nil
	}
	set := func(key, value string) {
		if req.Header.Get(key) == "" {
			req.Header.Set(key, value)
		}
	}
	if r.Body != nil {
		set("Content-Type", "application/json")
	}
	set("Accept", "application/json")
	resp, body, err := c.exchange(req, r.Op)
	if err != nil {
		return nil, err
	}
	return &Response{Status: resp.StatusCode, Header: resp.Header, Body: body, Path: path, op: r.Op}, nil
}

// exchange passes the gate, sends req and reads the answer within the limits.
func (c *Client) exchange(req *http.Request, op string) (*http.Response, []byte, error) {
	if c.gate != nil {
		leave, err := c.gate.Enter(req.Context())
		if err != nil {
			return nil, nil, refused(op, err)
		}
		defer leave()
	}
	var wrote atomic.Bool
	trace := &httptrace.ClientTrace{WroteHeaderField: func(string, []string) { wrote.Store(true) }}
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), trace))
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", "ingot")
	resp, err := c.http.RoundTrip(req)
	if err != nil {
		return nil, nil, c.failed(req.Context(), op, err, wrote.Load())
	}
	defer resp.Body.Close()
	body, err := c.read(req.Context(), resp, op)
	return resp, body, err
}

// read takes an answer's body whole, or fails at the limit.
func (c *Client) read(ctx context.Context, resp *http.Response, op string) ([]byte, error) {
	large := func() error {
		return &bmc.Error{Kind: bmc.Protocol, Op: op, Sent: bmc.SentYes, Status: resp.StatusCode, Why: "the answer is over its limit of bytes", Do: "report it to the BMC's vendor"}
	}
	switch e := resp.Header.Get("Content-Encoding"); {
	case e != "" && !strings.EqualFold(e, "identity"):
		return nil, &bmc.Error{Kind: bmc.Protocol, Op: op, Sent: bmc.SentYes, Status: resp.StatusCode, Why: "the answer has an encoding that was not asked for: " + e}
	case resp.ContentLength > c.opts.Body:
		return nil, large()
	}
	var body bytes.Buffer
	if resp.ContentLength > 0 { // one allocation; it is not larger than the limit
		body.Grow(int(resp.ContentLength) + bytes.MinRead)
	}
	n, err := body.ReadFrom(io.LimitReader(resp.Body, c.opts.Body+1))
	switch {
	case err != nil:
		return nil, c.cut(ctx, op, err)
	case ctx.Err() != nil: // the other side may have ended its answer early because we leave, and in good form
		return nil, c.cut(ctx, op, context.Cause(ctx))
	case n > c.opts.Body:
		return nil, large()
	}
	return body.Bytes(), nil
}

// RoundTrip lets a library speak through the client: [http.Client.Transport]. Any
// other host than the client's is refused. Redirects are the library's affair:
// give its client a CheckRedirect that stops, or use [Client.Do].
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	op := req.Method + " " + req.URL.Path
	if req.URL.User != nil || !c.same(req.URL) {
		return nil, untrusted(req.URL.Redacted(), "a request to another host")
	}
	if _, err := Link(req.URL.RequestURI()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(req.Context(), c.opts.Time)
	defer cancel()
	resp, body, err := c.exchange(req.Clone(ctx), op)
	if err != nil {
		return nil, err
	}
	resp.Body, resp.ContentLength, resp.Request = io.NopCloser(bytes.NewReader(body)), int64(len(body)), req
	return resp, nil
}
