package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
)

// MaxAnswer is the most that a client reads of an answer that is one value, in
// bytes. The largest is a booter's snapshot.
const MaxAnswer = 64 << 20

// maxProblem bounds the body of an error.
const maxProblem = 64 << 10

// A Client calls operations on one server. It is safe for concurrent use; do not
// change it once it is used.
type Client struct {
	Base       string       // such as https://ingot.example; a path before /v1 is kept
	HTTP       *http.Client // nil: one with the standard transport. Redirects are never followed
	Credential Credential   // none for anonymous operations
	UserAgent  string
}

// A Credential is what a client shows: the secret of an API key, a session's
// token or a poll token. The zero Credential shows nothing.
type Credential struct{ show func() string }

// Bearer is a credential that is drawn at each call, so that it may be renewed.
// show must be safe for concurrent use.
func Bearer(show func() string) Credential { return Credential{show} }

// Format writes [redacted], whatever the verb.
func (Credential) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[redacted]") }

// LogValue is [redacted].
func (Credential) LogValue() slog.Value { return slog.StringValue("[redacted]") }

// An Unreachable reports a server that did not answer, or not in a form that
// can be read. Whether a mutation took place is unknown: call it again with the
// same Idempotency-Key.
type Unreachable struct {
	Op  string
	Err error
}

// Error says which operation, and why.
func (e *Unreachable) Error() string { return "api: " + e.Op + ": " + e.Err.Error() }

// Code is UNAVAILABLE.
func (*Unreachable) Code() string { return "UNAVAILABLE" }

// Unwrap is the cause, such as the context's error.
func (e *Unreachable) Unwrap() error { return e.Err }

// Call runs the operation. The error is [*Problem] where the server refused,
// [*Unreachable] where it could not be asked, [*Malformed] where in cannot be
// sent.
func (o Op[I, O]) Call(ctx context.Context, c *Client, in *I) (O, error) {
	var out O
	raw, err := c.Do(ctx, o, in)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		var zero O
		return zero, &Unreachable{o.Name, fmt.Errorf("the answer cannot be read: %w", err)}
	}
	return out, nil
}

// Open runs the operation and returns its stream, which the caller must close.
// Errors are those of [Op.Call].
func (o Raw[I]) Open(ctx context.Context, c *Client, in *I) (io.ReadCloser, error) {
	return c.Open(ctx, o, in)
}

// Do is [Op.Call] without the types: in is a pointer to the operation's input,
// the answer is JSON.
func (c *Client) Do(ctx context.Context, a Any, in any) ([]byte, error) {
	body, err := c.Open(ctx, a, in)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	raw, err := io.ReadAll(io.LimitReader(body, MaxAnswer+1))
	switch {
	case err != nil:
		return nil, &Unreachable{a.Info().Name, err}
	case len(raw) > MaxAnswer:
		return nil, &Unreachable{a.Info().Name, fmt.Errorf("the answer has more than %d bytes", MaxAnswer)}
	}
	return raw, nil
}

// Open runs any operation and returns its answer as it comes, unread. The caller
// must close it. It has no bound of its own.
func (c *Client) Open(ctx context.Context, a Any, in any) (io.ReadCloser, error) {
	req, err := c.request(ctx, a, in)
	if err != nil {
		return nil, err
	}
	res, err := c.transport().Do(req)
	if err != nil {
		return nil, &Unreachable{a.Info().Name, err}
	}
	if err := answered(a.Info(), res); err != nil {
		_ = res.Body.Close()
		return nil, err
	}
	return res.Body, nil
}

// transport is the caller's client without redirects: none is ours, and a
// credential must not follow one.
func (c *Client) transport() *http.Client {
	var hc http.Client
	if c.HTTP != nil {
		hc = *c.HTTP
	}
	hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &hc
}

// answered tells a success of the declared form from anything else.
func answered(d Def, res *http.Response) error {
	if res.StatusCode < 200 || res.StatusCode > 299 {
		raw, err := io.ReadAll(io.LimitReader(res.Body, maxProblem))
		if err != nil {
			return &Unreachable{d.Name, err}
		}
		return parseProblem(res, raw)
	}
	want := string(d.Stream)
	if d.Stream == JSON {
		want = "application/json"
	}
	if got, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); got != want {
		return &Unreachable{d.Name, errors.New("the answer is not " + want + ": is this the address of an ingot server?")}
	}
	return nil
}
