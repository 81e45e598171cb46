package simnet_test

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/simnet"
)

// A web is an HTTP server on the host "server" and the settings of its clients.
type web struct {
	server http.Server
	client *tls.Config // nil for plain HTTP
	h2     bool
	done   sync.WaitGroup
}

// serve starts a server that answers with handler. over is "http1",
// "https1" or "http2".
func serve(t *testing.T, n *simnet.Net, over string, handler http.Handler) *web {
	w := &web{}
	w.server.Handler = handler
	w.server.ErrorLog = log.New(io.Discard, "", 0)
	w.server.ReadHeaderTimeout, w.server.IdleTimeout = 5*time.Second, time.Minute
	l, err := n.Listen("tcp", "server:443")
	if err != nil {
		t.Fatal(err)
	}
	if over != "http1" {
		var server *tls.Config
		server, w.client = identity(t)
		w.h2 = over == "http2"
		if w.h2 {
			server.NextProtos = []string{"h2"}
		}
		w.server.TLSConfig = server
		l = tls.NewListener(l, server)
	}
	w.done.Go(func() {
		if err := w.server.Serve(l); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	return w
}

// on returns a client that runs on a host.
func (w *web) on(h *simnet.Host) *http.Client {
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DialContext: h.DialContext, TLSClientConfig: w.client.Clone(), ForceAttemptHTTP2: w.h2, IdleConnTimeout: time.Minute,
	}}
}

func (w *web) url() string {
	if w.client != nil {
		return "https://server:443/"
	}
	return "http://server:443/"
}

// stop ends the server once the connections of clients that are done have ended:
// Shutdown would poll for that at random intervals.
func (w *web) stop(t *testing.T) {
	time.Sleep(10 * time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w.server.Shutdown(ctx)
	w.server.Close()
	w.done.Wait()
}

// identity makes a certificate of the bubble's time for the host "server".
func identity(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	cert := x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "server"}, DNSNames: []string{"server"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(1000 * time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(nil, &cert, &cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	server = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS13}
	client = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13, ServerName: "server"}
	return server, client
}

// post sends body and returns the answer.
func post(c *http.Client, url, body string) (string, error) {
	resp, err := c.Post(url, "text/plain", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %s", resp.Status)
	}
	return string(b), err
}
