package carry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/simnet"
)

// A yard is ingotd, a booter and a BMC that says back what it hears, in a bubble.
type yard struct {
	*testing.T
	net    *simnet.Net
	desk   Desk
	porter *Porter
	bmc    string // its address
	stop   func() // the booter
	ends   sync.WaitGroup
}

// inYard runs fn with a booter that is connected.
func inYard(t *testing.T, change func(*Porter), fn func(*yard)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		y := &yard{T: t, net: simnet.New(1, simnet.Options{})}
		bmc := y.net.Host("bmc")
		echo, err1 := bmc.Listen("tcp", "bmc:443")
		door, err2 := y.net.Host("ingotd").Listen("tcp", "ingotd:80")
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		y.bmc = netip.AddrPortFrom(bmc.Addr(), 443).String()
		y.ends.Go(func() { echoes(echo, &y.ends) })
		ctx, cancel := context.WithCancel(t.Context())
		web := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != Path || r.Header.Get("Authorization") != "Bearer a key" {
				http.Error(w, "no", http.StatusForbidden)
				return
			}
			_ = y.desk.Accept(ctx, w, r, r.URL.Query().Get("booter"))
		})}
		y.ends.Go(func() { _ = web.Serve(door) })
		host := y.net.Host("booter")
		tr := &http.Transport{DialContext: host.DialContext}
		y.porter = &Porter{Booter: "b1", Server: "http://ingotd:80", HTTP: &http.Client{Transport: tr}, Bearer: func() string { return "a key" },
			Networks: []netip.Prefix{netip.PrefixFrom(bmc.Addr(), bmc.Addr().BitLen())}, Dial: y.dial(host), Log: slog.New(slog.DiscardHandler),
			Lookup: func(_ context.Context, _, name string) ([]netip.Addr, error) {
				if all, ok := map[string][]netip.Addr{"bmc.example": {netip.MustParseAddr("203.0.113.7"), bmc.Addr()}, "far.example": {netip.MustParseAddr("203.0.113.7")}}[name]; ok {
					return all, nil
				}
				return nil, errors.New("nobody has this name")
			}}
		if change != nil {
			change(y.porter)
		}
		y.start()
		fn(y)
		y.stop()
		cancel()
		_ = errors.Join(web.Close(), echo.Close())
		tr.CloseIdleConnections()
		y.ends.Wait()
		y.net.Close()
	})
}

// dial is the booter's: simnet knows hosts by their names.
func (y *yard) dial(from *simnet.Host) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == y.bmc {
			address = "bmc:443"
		}
		return from.DialContext(ctx, network, address)
	}
}

// start begins a life of the booter.
func (y *yard) start() {
	ctx, cancel := context.WithCancel(context.Background())
	var ran sync.WaitGroup
	ran.Go(func() { y.porter.Run(ctx) })
	y.stop = func() {
		cancel()
		ran.Wait()
	}
	time.Sleep(5 * time.Second)
}

func echoes(l net.Listener, all *sync.WaitGroup) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		all.Go(func() {
			_, _ = io.Copy(c, c)
			_ = c.Close()
		})
	}
}

// says sends text and wants it back.
func says(c net.Conn, text string) error {
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { _, _ = io.WriteString(c, text) }) // what is not sent does not come back
	got := make([]byte, len(text))
	if n, err := io.ReadFull(c, got); err != nil || string(got) != text {
		return fmt.Errorf("%d of %d bytes came back, %w", n, len(text), err)
	}
	return nil
}

func TestCarries(t *testing.T) {
	inYard(t, nil, func(y *yard) {
		for _, address := range []string{y.bmc, "bmc.example:443", "bmc.example.:443"} {
			c, err := y.desk.Dial(y.Context(), "b1", address)
			if err != nil {
				y.Fatalf("%s: %v", address, err)
			}
			if err := errors.Join(says(c, "hello"), says(c, strings.Repeat("all of it ", 50_000)), c.Close()); err != nil {
				y.Errorf("%s: %v", address, err)
			}
		}
	})
}

// A deadline of the caller's ends a read, and the connection goes on.
func TestDeadlines(t *testing.T) {
	inYard(t, nil, func(y *yard) {
		c, err := y.desk.Dial(y.Context(), "b1", y.bmc)
		if err != nil {
			y.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		var late net.Error
		if _, err := c.Read(make([]byte, 1)); !errors.As(err, &late) || !late.Timeout() {
			y.Errorf("%v", err)
		}
		_ = c.SetReadDeadline(time.Time{})
		if err := errors.Join(says(c, "still here"), c.Close()); err != nil {
			y.Error(err)
		}
	})
}

// Where a booter does not connect, and why its caller is told.
func TestNotCarried(t *testing.T) {
	inYard(t, nil, func(y *yard) {
		for address, why := range map[string]string{
			"203.0.113.7:443": "in none of the networks", "far.example:443": "in none of the networks", "none.example:443": "nobody has this name",
			"[fe80::1%eth0]:443": "in none of the networks", "127.0.0.1:443": "in none of the networks",
			"bmc.example": "missing port", "bmc.example:0": "port 0", "bmc.example:65536": "port 65536", "bmc.example:http": "port http", "": "missing port",
			y.bmc[:strings.LastIndex(y.bmc, ":")] + ":444": "refused", strings.Repeat("x", 600): "",
		} {
			c, err := y.desk.Dial(y.Context(), "b1", address)
			if e, ok := errors.AsType[*NotCarried](err); !ok || !strings.Contains(e.Why, why) || c != nil {
				y.Errorf("%.40s: %v, want %q", address, err, why)
			}
		}
		if err := alive(y); err != nil {
			y.Error("after all that", err)
		}
	})
}

func alive(y *yard) error {
	c, err := y.desk.Dial(y.Context(), "b1", y.bmc)
	if err != nil {
		return err
	}
	return errors.Join(says(c, "hello"), c.Close())
}

// A booter that goes takes its connections with it, and one that comes again carries.
func TestBooterGoes(t *testing.T) {
	inYard(t, nil, func(y *yard) {
		c, err := y.desk.Dial(y.Context(), "b1", y.bmc)
		if err != nil {
			y.Fatal(err)
		}
		y.stop()
		time.Sleep(time.Minute)
		if _, err := c.Read(make([]byte, 1)); err == nil {
			y.Error("the connection outlives its booter")
		}
		if _, err := y.desk.Dial(y.Context(), "b1", y.bmc); !absent(err, "b1") {
			y.Errorf("%v", err)
		}
		if _, err := y.desk.Dial(y.Context(), "b2", y.bmc); !absent(err, "b2") {
			y.Errorf("%v", err)
		}
		y.start()
		if err := alive(y); err != nil {
			y.Error(err)
		}
	})
}

// A desk that was closed has ended its lines, and takes no other.
func TestCloseEndsLines(t *testing.T) {
	inYard(t, nil, func(y *yard) {
		c, err := y.desk.Dial(y.Context(), "b1", y.bmc)
		if err != nil {
			y.Fatal(err)
		}
		y.desk.Close()
		if _, err := c.Read(make([]byte, 1)); err == nil {
			y.Error("the connection outlives the desk")
		}
		time.Sleep(5 * time.Minute)
		if _, err := y.desk.Dial(y.Context(), "b1", y.bmc); !absent(err, "b1") {
			y.Errorf("it takes another line: %v", err)
		}
		y.desk.Close()
	})
}

func absent(err error, booter string) bool {
	e, ok := errors.AsType[*Absent](err)
	return ok && e.Booter == booter && e.Code() == "UNAVAILABLE"
}

// A second line of one name takes over; the first one comes again after it.
func TestNewerLineTakesOver(t *testing.T) {
	inYard(t, nil, func(y *yard) {
		other := *y.porter
		ctx, cancel := context.WithTimeout(y.Context(), 500*time.Millisecond)
		defer cancel()
		var ran sync.WaitGroup
		ran.Go(func() { other.Run(ctx) })
		ran.Wait()
		time.Sleep(time.Minute)
		if err := alive(y); err != nil {
			y.Error(err)
		}
	})
}

// Two booters of one name take turns more and more seldom, not every moment.
func TestTwoOfOneName(t *testing.T) {
	inYard(t, nil, func(y *yard) {
		var lines atomic.Int64
		other := *y.porter
		other.Bearer = func() string {
			lines.Add(1)
			return "a key"
		}
		ctx, cancel := context.WithTimeout(y.Context(), 10*time.Minute)
		defer cancel()
		other.Run(ctx)
		if n := lines.Load(); n > 60 {
			y.Errorf("%d lines in ten minutes", n)
		}
		time.Sleep(time.Minute)
		if err := alive(y); err != nil {
			y.Error(err)
		}
	})
}

// What a caller gives up is given up at once, whatever the booter waits for.
func TestGivenUp(t *testing.T) {
	inYard(t, func(p *Porter) {
		p.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
	}, func(y *yard) {
		ctx, cancel := context.WithTimeout(y.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := y.desk.Dial(ctx, "b1", y.bmc); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 2*time.Second {
			y.Errorf("%v after %s", err, time.Since(began))
		}
		if _, err := y.desk.Dial(y.Context(), "b1", y.bmc); err == nil || time.Since(began) > time.Minute {
			y.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// One that nobody reads holds up no other, and no more are open than may be.
func TestManyAtOnce(t *testing.T) {
	const most = 100
	inYard(t, func(p *Porter) { p.Most = most }, func(y *yard) {
		var all []net.Conn
		for range most {
			c, err := y.desk.Dial(y.Context(), "b1", y.bmc)
			if err != nil {
				y.Fatal(err)
			}
			all = append(all, c)
		}
		if _, err := y.desk.Dial(y.Context(), "b1", y.bmc); err == nil || !strings.Contains(err.Error(), "as many connections") {
			y.Errorf("one more: %v", err)
		}
		stuck := all[0]
		_ = stuck.SetWriteDeadline(time.Now().Add(time.Second))
		if n, err := stuck.Write(bytes.Repeat([]byte("x"), 8<<20)); err == nil {
			y.Errorf("%d bytes are held for nobody", n)
		}
		var talk sync.WaitGroup
		for i, c := range all[1:] {
			talk.Go(func() {
				if err := says(c, strings.Repeat(fmt.Sprint(i, " "), 1000)); err != nil {
					y.Error(err)
				}
			})
		}
		talk.Wait()
		for _, c := range all {
			_ = c.Close()
		}
		time.Sleep(time.Second)
		if err := alive(y); err != nil {
			y.Error(err)
		}
	})
}

// What the control plane refuses is tried again, more and more seldom.
func TestRefusedLine(t *testing.T) {
	var tries atomic.Int64
	inYard(t, func(p *Porter) {
		p.Bearer = func() string {
			tries.Add(1)
			return "no key"
		}
	}, func(y *yard) {
		time.Sleep(10 * time.Minute)
		if n := tries.Load(); n < 15 || n > 30 {
			y.Errorf("%d tries in ten minutes", n)
		}
		if _, err := y.desk.Dial(y.Context(), "b1", y.bmc); !absent(err, "b1") {
			y.Errorf("%v", err)
		}
	})
}
