package bmcsim

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Fleet is many BMCs in one process. Each is served on a listener of its own, or all
// are on one, where the host of a request says which. It is safe for concurrent use.
type Fleet struct {
	entropy   io.Reader
	authority *Authority
	server    *http.Server

	mu      sync.Mutex
	closed  bool
	members map[string]*member // by name in lower case
	order   []string
	serving sync.WaitGroup
}

// A Spec is a BMC of a fleet.
type Spec struct {
	// Name is the host by which it is asked where all are served on one listener. Names
	// differ by more than the case of letters.
	Name    string
	Tree    *Tree
	Options Options
	TLS     TLS
}

// A member is a BMC with how it shows itself.
type member struct {
	*BMC
	spec   Spec
	config *tls.Config // nil: plain HTTP

	mu    sync.Mutex
	cert  *tls.Certificate
	since time.Time // the start of the BMC that the certificate belongs to
}

// NewFleet makes an empty fleet. Entropy is for keys. The authority signs certificates
// where a TLS wants one; nil makes one when it is first needed.
func NewFleet(entropy io.Reader, by *Authority) *Fleet {
	f := &Fleet{entropy: entropy, authority: by, members: map[string]*member{}}
	f.server = &http.Server{
		Handler:           http.HandlerFunc(f.serveByHost),
		ReadHeaderTimeout: 30 * time.Second,
		IdleTimeout:       5 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		TLSNextProto:      map[string]func(*http.Server, *tls.Conn, http.Handler){}, // BMCs speak HTTP/1.1
		ErrorLog:          log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if of, ok := innermost(c).(*memberConn); ok && of.member != nil {
				return context.WithValue(ctx, memberKey{}, of.member)
			}
			return ctx
		},
	}
	return f
}

type memberKey struct{}

// A memberConn says which BMC its listener is.
type memberConn struct {
	net.Conn
	member *member // nil: the host says it
}

func innermost(c net.Conn) net.Conn {
	if t, ok := c.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c
}

// Authority signs the certificates of the fleet; it is made here where there was none.
func (f *Fleet) Authority() (*Authority, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.signer()
}

func (f *Fleet) signer() (*Authority, error) {
	if f.authority != nil {
		return f.authority, nil
	}
	a, err := NewAuthority(f.entropy)
	if err == nil {
		f.authority = a
	}
	return a, err
}

// Add makes a BMC of the fleet.
func (f *Fleet) Add(s Spec) (*BMC, error) {
	if err := s.TLS.validate(); err != nil {
		return nil, err
	}
	b, err := New(s.Tree, s.Options)
	if err != nil {
		return nil, err
	}
	m := &member{BMC: b, spec: s}
	if err := f.take(m); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (f *Fleet) take(m *member) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := strings.ToLower(m.spec.Name)
	switch {
	case f.closed:
		return http.ErrServerClosed
	case name == "" || f.members[name] != nil:
		return &OptionError{"Name", fmt.Sprintf("%q is empty or taken", m.spec.Name)}
	}
	if m.spec.TLS.Kind != TLSOff {
		if err := f.certify(m); err != nil {
			return err
		}
		m.config = m.spec.TLS.config(func() *tls.Certificate { return f.shown(m) })
	}
	f.members[name] = m
	f.order = append(f.order, name)
	return nil
}

// certify makes a member's certificate. The caller holds f.mu.
func (f *Fleet) certify(m *member) error {
	by, err := f.signer()
	if err != nil {
		return err
	}
	cert, err := m.spec.TLS.certificate(f.entropy, m.spec.Name, by, time.Now())
	if err != nil {
		return err
	}
	m.cert, m.since = cert, m.startedAt()
	return nil
}

// shown is the certificate that a member shows now.
func (f *Fleet) shown(m *member) *tls.Certificate {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.spec.TLS.NewKey && !m.startedAt().Equal(m.since) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.certify(m) != nil {
			return nil // the handshake fails
		}
	}
	return m.cert
}

// BMC is one of the fleet, or nil.
func (f *Fleet) BMC(name string) *BMC {
	if m := f.member(name); m != nil {
		return m.BMC
	}
	return nil
}

// Certificate is what a BMC shows first; nil without TLS.
func (f *Fleet) Certificate(name string) *x509.Certificate {
	m := f.member(name)
	if m == nil || m.config == nil {
		return nil
	}
	cert := f.shown(m)
	if cert == nil {
		return nil
	}
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		return nil // a given one may hold anything
	}
	return leaf
}

func (f *Fleet) member(name string) *member {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.members[strings.ToLower(name)]
}

// Names are those of all BMCs, in the order in which they were added.
func (f *Fleet) Names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, n := range f.order {
		out = append(out, f.members[n].spec.Name)
	}
	return out
}

// Serve answers for all BMCs on one listener, by TLS where one of them has it; then the
// name that a client asks for has to be that of a BMC. It closes ln, and returns
// http.ErrServerClosed when the fleet is closed, else why it ended.
func (f *Fleet) Serve(ln net.Listener) error {
	f.mu.Lock()
	secure := slices.ContainsFunc(f.order, func(n string) bool { return f.members[n].config != nil })
	f.mu.Unlock()
	var config *tls.Config
	if secure {
		config = &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			m := f.member(h.ServerName)
			if m == nil || m.config == nil {
				return nil, fmt.Errorf("bmcsim: no BMC is named %q", h.ServerName)
			}
			return m.config, nil
		}}
	}
	return f.serve(ln, nil, config)
}

// ServeOne answers for one BMC on a listener of its own, whatever the host of a request.
// It ends as Serve does.
func (f *Fleet) ServeOne(ln net.Listener, name string) error {
	m := f.member(name)
	if m == nil {
		return errors.Join(&OptionError{"Name", fmt.Sprintf("no BMC is named %q", name)}, ln.Close())
	}
	return f.serve(ln, m, m.config)
}

func (f *Fleet) serve(ln net.Listener, m *member, config *tls.Config) error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return cmp.Or(ln.Close(), http.ErrServerClosed)
	}
	f.serving.Add(1)
	f.mu.Unlock()
	defer f.serving.Done()
	ln = &memberListener{ln, m}
	if config != nil {
		ln = tls.NewListener(ln, config)
	}
	return f.server.Serve(ln)
}

// A memberListener drops connections while its BMC is away.
type memberListener struct {
	net.Listener
	member *member
}

func (l *memberListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.member == nil || !l.member.away(time.Now()) {
			return &memberConn{c, l.member}, nil
		}
		_ = c.Close() // there is nobody
	}
}

func (f *Fleet) serveByHost(w http.ResponseWriter, r *http.Request) {
	m, _ := r.Context().Value(memberKey{}).(*member)
	if m == nil {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		m = f.member(host)
	}
	if m == nil {
		http.Error(w, "no BMC is asked by this host", http.StatusMisdirectedRequest)
		return
	}
	m.ServeHTTP(w, r)
}

// Close ends all BMCs and connections, and waits for them.
func (f *Fleet) Close() error {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	err := f.server.Close()
	f.serving.Wait()
	errs := []error{err}
	for _, n := range f.order {
		errs = append(errs, f.members[n].Close())
	}
	return errors.Join(errs...)
}
