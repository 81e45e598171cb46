package wire

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// refused is the error of a gate.
func refused(op string, err error) error {
	if e, ok := errors.AsType[*bmc.Error](err); ok {
		return e
	}
	return &bmc.Error{Kind: bmc.Unreachable, Op: op, Sent: bmc.SentNo, Why: "its turn did not come", Err: err}
}

// failed is the error of a request without answer. Wrote says that some of it left.
func (c *Client) failed(ctx context.Context, op string, err error, wrote bool) error {
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	_, other := errors.AsType[*stranger](err)
	switch {
	case unverified, other:
		return &bmc.Error{Kind: bmc.PeerIdentity, Op: op, Sent: bmc.SentNo, Why: plain(err), Do: "compare the BMC's certificate on its console; then name its CA or pin", Err: err}
	case !wrote:
		return &bmc.Error{Kind: bmc.Unreachable, Op: op, Sent: bmc.SentNo, Why: plain(err), Do: "look at the BMC's network and power", Err: err}
	case strings.Contains(err.Error(), "malformed HTTP"), strings.Contains(err.Error(), "server response headers exceeded"):
		return &bmc.Error{Kind: bmc.Protocol, Op: op, Sent: bmc.SentYes, Why: plain(err), Do: "report it to the BMC's vendor", Err: err}
	}
	return c.cut(ctx, op, err)
}

// cut is the error of an answer that did not come, or not whole.
func (c *Client) cut(ctx context.Context, op string, err error) error {
	why := "the answer broke off: " + plain(err)
	if ctx.Err() != nil {
		why = "no whole answer in time"
	}
	return &bmc.Error{Kind: bmc.Indeterminate, Op: op, Sent: bmc.SentMaybe, Why: why, Do: "look whether it took effect", Err: err}
}

// plain is the innermost text of err, which names no path and no header.
func plain(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}

// Err judges the status by what HTTP says of it: nil for 2xx. A driver that knows
// more of its BMC looks at the body first. Detail is what the body says, for the
// error's text; it is cut and made printable.
func (r *Response) Err(detail string) error {
	if r.Status >= 200 && r.Status < 300 {
		return nil
	}
	e := &bmc.Error{Op: r.op, Sent: bmc.SentYes, Status: r.Status, Why: strconv.Itoa(r.Status) + " " + http.StatusText(r.Status)}
	if detail != "" {
		e.Why += ": " + detail
	}
	switch r.Status {
	case http.StatusUnauthorized:
		e.Kind, e.Do = bmc.Auth, "give the right credentials; nothing is tried until they change"
	case http.StatusForbidden:
		e.Kind, e.Do = bmc.Forbidden, "give the account the privilege"
	case http.StatusNotFound, http.StatusGone:
		e.Kind = bmc.NotFound
	case http.StatusConflict:
		e.Kind = bmc.Conflict
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		e.Kind = bmc.Unsupports
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		e.Kind, e.After = bmc.Busy, RetryAfter(r.Header, time.Now())
	default:
		e.Kind = bmc.Protocol
	}
	return e
}

// maxAfter bounds how long a BMC may ask to be left alone.
const maxAfter = 10 * time.Minute

// RetryAfter is how long a header asks to wait (RFC 9110, section 10.2.3), in
// seconds or by date; 0 where it does not, at most ten minutes.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	v := h.Get("Retry-After")
	var d time.Duration
	if n, err := strconv.Atoi(v); err == nil {
		d = time.Duration(min(n, int(maxAfter/time.Second))) * time.Second
	} else if at, err := http.ParseTime(v); err == nil {
		d = at.Sub(now)
	}
	return min(max(d, 0), maxAfter)
}

// JSON decodes the body, which must be one JSON document. The error is of kind
// [bmc.Protocol] and quotes nothing of the body.
func (r *Response) JSON(into any) error {
	if err := json.Unmarshal(r.Body, into); err != nil {
		why := "the answer is no JSON document"
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			why = "the answer's " + e.Field + " is a " + e.Value + ", want " + e.Type.String()
		}
		return &bmc.Error{Kind: bmc.Protocol, Op: r.op, Sent: bmc.SentYes, Status: r.Status, Why: why, Do: "report it to the BMC's vendor", Err: err}
	}
	return nil
}

// Location checks the Location of an answer, such as a new session's or a task's,
// and returns its path.
func (c *Client) Location(r *Response) (string, error) { return c.follow(r.Header.Get("Location")) }
