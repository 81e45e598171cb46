package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/pin"
	"github.com/ingotmetal/ingot/liveness/session"
)

// A Dialer is the DialContext of a net.Dialer.
type Dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// A Target is a server of sessions, and who wants one.
type Target struct {
	URL    string // https://HOST:PORT, to which Path is added
	Pins   []pin.Pin
	Hello  session.Hello
	Bearer func() string // the bound key; nil for none
}

// Dial opens a session and says hello. The session ends with ctx; now must have a
// monotonic part, as time.Now has, since the agent may set the system's clock while it
// runs. The error is *BadTarget, *Refused where the server said no, and *Unreachable
// else. The caller ranges over the link's events.
func Dial(ctx context.Context, t Target, dial Dialer, now func() time.Time) (*Agent, error) {
	u, err := t.url()
	if err != nil {
		return nil, err
	}
	conf := pin.Client(pin.Trust{Pins: t.Pins, Name: u.Hostname()}, now)
	conf.NextProtos = []string{"http/1.1"}
	tr := &http.Transport{DialContext: dial, TLSClientConfig: conf, DisableKeepAlives: true, MaxResponseHeaderBytes: 16 << 10}
	defer tr.CloseIdleConnections()
	header := http.Header{}
	if t.Bearer != nil {
		header.Set("Authorization", "Bearer "+t.Bearer())
	}
	opening, cancel := context.WithTimeout(ctx, DialWait)
	defer cancel()
	ws, res, err := websocket.Dial(opening, u.String(), &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		HTTPHeader: header, Subprotocols: []string{Subprotocol},
	})
	if err != nil {
		return nil, notOpened(t.URL, res, err)
	}
	return newLink(ctx, ws, session.NewAgent(t.Hello, now()), now), nil
}

// url is where the sessions are.
func (t *Target) url() (*url.URL, error) {
	u, err := url.Parse(t.URL)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || strings.Trim(u.Path, "/") != "":
		return nil, &BadTarget{"the server must be https://HOST:PORT"}
	case len(t.Pins) == 0:
		return nil, &BadTarget{"the server's pin is missing; ask whoever runs it (sha256/...)"}
	}
	u.Path = Path
	return u, nil
}

// notOpened tells a server that said no from one that was not reached.
func notOpened(where string, res *http.Response, err error) error {
	if res == nil {
		return &Unreachable{where, err}
	}
	if res.StatusCode == http.StatusSwitchingProtocols {
		return &Unreachable{where, errors.New("it speaks another protocol")}
	}
	p := new(api.Problem)
	raw, _ := io.ReadAll(res.Body) // the library keeps its beginning
	if json.Unmarshal(raw, p) != nil || !slices.Contains(api.Codes(), p.Name) {
		p = api.NewProblem(nameOf(res.StatusCode), "status "+res.Status)
	}
	return &Refused{res.StatusCode, p.Name, p.Detail}
}

// nameOf is the code that a bare status stands for.
func nameOf(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusForbidden:
		return "ACCESS_DENIED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusTooManyRequests:
		return "RATE_LIMITED"
	}
	return "UNAVAILABLE"
}
