package bmctest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc/bmcsim"
	"github.com/ingotmetal/ingot/bmc/bmcsim/trees"
	"github.com/ingotmetal/ingot/bmc/wire"
)

// A Simulator stages Redfish BMCs of package bmcsim, in all scenes. With a driver
// that dials by [Simulator.Dial] no socket is opened, and the laws can run in
// bubbles. With Listen the BMCs are on sockets, for a driver that dials by itself.
// It is safe for concurrent use.
type Simulator struct {
	Listen func() (net.Listener, error) // nil: in memory

	wires wires
	mu    sync.Mutex
	next  int
	key   tls.Certificate
	trees map[string]*bmcsim.Tree
}

// Dial connects to a simulated BMC. What is dialled beside these counts as a
// request elsewhere.
func (s *Simulator) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	return s.wires.dial(ctx, address)
}

// Recordings are those of package trees, with their facts.
func Recordings() []Recording {
	var facts map[string]Recording
	if err := json.Unmarshal(trees.Expected(), &facts); err != nil {
		panic(err) // it is part of the program
	}
	own := map[string]string{ // the BMC's card for the host, as its HostInterface names it
		"lenovo-sr670v2-xcc-2.83": "0a:8f:c3:a5:8a:71", "supermicro-821ge-11.01": "be:3a:f2:b6:05:9f", "dmtf-public-rackmount1": "aa:bb:cc:dd:ee:fe",
	}
	var out []Recording
	for _, name := range trees.Names() {
		r := facts[name]
		r.Name = name
		if mac, ok := own[name]; ok {
			r.Systems[0].ControlMACs = []string{mac}
		}
		out = append(out, r)
	}
	return out
}

// Stage sets a scene.
func (s *Simulator) Stage(_ context.Context, scene Scene) (Stage, error) {
	st := &simulated{net: s, machines: map[string]*machine{}, password: rand.Text()[:16]}
	if err := st.openElsewhere(); err != nil {
		return nil, err
	}
	stage, err := s.stage(st, scene)
	if err != nil {
		return nil, errors.Join(err, st.closeElsewhere())
	}
	return stage, nil
}

func (s *Simulator) stage(st *simulated, scene Scene) (Stage, error) {
	p, ok := plays(scene, st.away)
	if !ok {
		return nil, ErrNoScene
	}
	tree, err := s.tree(p.tree)
	if err != nil {
		return nil, err
	}
	cert, err := s.certificate()
	if err != nil {
		return nil, err
	}
	st.play = p
	p.options.Backend, p.options.Auth.Password = st.backend, bmcsim.Password(st.password)
	p.options.Media.Client = &http.Client{Transport: images{}}
	if st.bmc, err = bmcsim.New(tree, p.options); err != nil {
		return nil, err
	}
	st.system = tree.Systems()[0]
	l, err := st.listen()
	if err != nil {
		return nil, err
	}
	st.server = &http.Server{Handler: st.door(st.bmc), ErrorLog: log.New(io.Discard, "", 0)}
	st.ends.Go(func() { _ = st.server.Serve(tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{cert}})) })
	st.pin = wire.PinOf(cert.Leaf)
	return st, p.begin(st)
}

// tree is parsed once.
func (s *Simulator) tree(name string) (*bmcsim.Tree, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.trees[name]; t != nil {
		return t, nil
	}
	raw, err := trees.Read(name)
	if err != nil {
		return nil, err
	}
	t, err := bmcsim.ParseTree(name, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if s.trees == nil {
		s.trees = map[string]*bmcsim.Tree{}
	}
	s.trees[name] = t
	return t, nil
}

// certificate signs itself; it is made once.
func (s *Simulator) certificate() (tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key.Leaf != nil {
		return s.key, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bmc"}, NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	s.key = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	s.key.Leaf, err = x509.ParseCertificate(der)
	return s.key, err
}

// images serves any image.
type images struct{}

// RoundTrip answers with a small image.
func (images) RoundTrip(r *http.Request) (*http.Response, error) {
	body := bytes.Repeat([]byte("ingot"), 1<<12)
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}, nil
}

// listen finds a place for the BMC.
func (st *simulated) listen() (net.Listener, error) {
	s := st.net
	if s.Listen != nil {
		l, err := s.Listen()
		if err == nil {
			st.url = "https://" + l.Addr().String()
		}
		return l, err
	}
	s.mu.Lock()
	s.next++
	host := fmt.Sprintf("bmc-%d.example", s.next)
	s.mu.Unlock()
	st.url, st.address = "https://"+host, host+":443"
	return s.wires.listen(st.address), nil
}

// openElsewhere finds a host that is not the BMC's. In memory nobody listens there,
// and [Simulator.Dial] counts who tries; on sockets it is a listener that counts.
func (st *simulated) openElsewhere() error {
	st.away = "evil.example"
	if st.net.Listen == nil {
		return nil
	}
	l, err := st.net.Listen()
	if err != nil {
		return err
	}
	st.away, st.elsewhere = l.Addr().String(), l
	st.ends.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			st.caught.Add(1)
			_ = c.Close()
		}
	})
	return nil
}

func (st *simulated) closeElsewhere() error {
	if st.elsewhere == nil {
		return nil
	}
	return st.elsewhere.Close()
}
