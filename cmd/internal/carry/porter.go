package carry

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/xtaci/smux"

	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// A Porter is the booter's side. Fields without a comment are required.
type Porter struct {
	Booter string // its name
	Server string // https://HOST:PORT of ingotd
	// HTTP speaks HTTP/1.1 to it, by its pin.
	HTTP *http.Client
	// Bearer is the booter's key.
	Bearer func() string
	// Networks are where it connects to, and nowhere else.
	Networks []netip.Prefix
	Lookup   func(ctx context.Context, network, host string) ([]netip.Addr, error)
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	Log      *slog.Logger
	Most     int // connections at a time; default 16,384
}

// The pause after a line that ended, doubling while none lasts longer than it: two
// booters of one name take turns, and more and more seldom.
const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// Run keeps a line to ingotd until ctx ends. No connection that it carries is open when
// it returns.
func (p *Porter) Run(ctx context.Context) {
	for retry := firstRetry; ; {
		began := time.Now()
		err := p.line(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > lastRetry {
			retry = firstRetry
		}
		p.Log.Warn("no connections to BMCs are carried for the control plane", "error", err, "retry", retry.String())
		if !pause.For(ctx, retry) {
			return
		}
		retry = min(2*retry, lastRetry)
	}
}

// line opens the line and serves it to its end.
func (p *Porter) line(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ws, err := p.open(ctx)
	if err != nil {
		return err
	}
	conn := websocket.NetConn(ctx, ws, websocket.MessageBinary)
	s, err := smux.Server(conn, rhythm())
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	p.Log.Info("connections to BMCs are carried for the control plane", "networks", p.Networks)
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	room := make(chan struct{}, p.most())
	for {
		st, err := s.AcceptStream()
		if err != nil {
			return errors.Join(err, s.Close())
		}
		select {
		case room <- struct{}{}:
			all.Go(func() {
				p.carry(ctx, st)
				<-room
			})
		default:
			_ = answer(st, refused+"it carries as many connections as it may")
			_ = st.Close()
		}
	}
}

func (p *Porter) most() int {
	if p.Most > 0 {
		return p.Most
	}
	return 16_384
}

func (p *Porter) open(ctx context.Context) (*websocket.Conn, error) {
	within, cancel := context.WithTimeout(ctx, opening)
	defer cancel()
	h := *p.HTTP
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	ws, res, err := websocket.Dial(within, p.Server+Path+"?booter="+url.QueryEscape(p.Booter), &websocket.DialOptions{
		HTTPClient: &h, HTTPHeader: http.Header{"Authorization": {"Bearer " + p.Bearer()}}, Subprotocols: []string{Subprotocol}})
	if err != nil && res != nil && res.StatusCode != http.StatusSwitchingProtocols {
		err = errors.New("the control plane refuses: " + res.Status + why(res.Body))
	}
	return ws, err
}

// why is what a refusal says, in a line.
func why(body io.Reader) string {
	var said struct{ Detail, Next string }
	raw, err := io.ReadAll(io.LimitReader(body, 4*maxLine))
	if err != nil || json.Unmarshal(raw, &said) != nil || said.Detail == "" {
		return ""
	}
	return ": " + plain(said.Detail+"; "+said.Next)
}

// carry is one connection, from its line to its end.
func (p *Porter) carry(ctx context.Context, st *smux.Stream) {
	defer st.Close()
	defer context.AfterFunc(ctx, func() { _ = st.Close() })()
	_ = st.SetDeadline(time.Now().Add(opening))
	address, err := readLine(st)
	if err != nil {
		return
	}
	c, err := p.connect(ctx, address)
	if err != nil {
		p.Log.Debug("a connection was not carried", "address", plain(address), "error", err)
		_ = answer(st, refused+plain(err.Error()))
		return
	}
	defer c.Close()
	if err := answer(st, connected); err != nil {
		return
	}
	_ = st.SetDeadline(time.Time{})
	join(st, c)
}

func answer(st *smux.Stream, line string) error {
	_ = st.SetWriteDeadline(time.Now().Add(opening))
	_, err := io.WriteString(st, line+"\n")
	return err
}

// join is two connections as one, until either ends.
func join(a, b io.ReadWriteCloser) {
	var both sync.WaitGroup
	one := func(to, from io.ReadWriteCloser) {
		_, _ = io.Copy(to, from)
		_ = to.Close()
		_ = from.Close()
	}
	both.Go(func() { one(a, b) })
	both.Go(func() { one(b, a) })
	both.Wait()
}

// connect dials an address that it may.
func (p *Porter) connect(ctx context.Context, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return nil, errors.New("port " + port + " is none: want 1 to 65535")
	}
	within, cancel := context.WithTimeout(ctx, opening)
	defer cancel()
	at, err := p.allowed(within, host)
	if err != nil {
		return nil, err
	}
	return p.Dial(within, "tcp", net.JoinHostPort(at.String(), port))
}

// allowed is the first address of a host in its networks: what was looked up is what is
// dialled.
func (p *Porter) allowed(ctx context.Context, host string) (netip.Addr, error) {
	all := []netip.Addr{}
	if a, err := netip.ParseAddr(host); err == nil {
		all = append(all, a)
	} else if all, err = p.Lookup(ctx, "ip", strings.TrimSuffix(host, ".")); err != nil {
		return netip.Addr{}, err
	}
	for _, a := range all {
		a = a.Unmap().WithZone("")
		for _, n := range p.Networks {
			if n.Contains(a) {
				return a, nil
			}
		}
	}
	return netip.Addr{}, errors.New(host + " is in none of the networks that it carries for; add one to carry of its configuration")
}
