package daemon_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/bmc/bmctest"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/carry"
	"github.com/ingotmetal/ingot/cmd/internal/config"
)

// overheard is a connection of which all bytes are kept.
type overheard struct {
	net.Conn
	to   io.Writer
	slow *atomic.Bool // what is sent takes a second
}

func (c overheard) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	_, _ = c.to.Write(b[:n])
	return n, err
}

func (c overheard) Write(b []byte) (int, error) {
	if c.slow.Load() {
		time.Sleep(time.Second)
	}
	_, _ = c.to.Write(b)
	return c.Conn.Write(b)
}

// A far shop is one whose BMC only a booter reaches.
type farShop struct {
	*shop
	booter  *carry.Porter
	key     string
	carried atomic.Int64 // connections
	heard   heard        // all that the booter saw of them
	slow    atomic.Bool  // it is
	leave   func()       // stops the booter
}

// inFarShop runs fn while the booter carries.
func inFarShop(t *testing.T, fn func(*farShop)) {
	t.Helper()
	var direct atomic.Int64
	inShopOf(t, bmctest.Plain, func(s *shop, d *daemon.Ingotd) {
		d.Config.BMC.Through = []config.Through{{Domain: ".example", Booter: "b1"}}
		d.DialBMC = func(context.Context, string, string) (net.Conn, error) {
			direct.Add(1)
			return nil, errors.New("no way from here")
		}
	}, func(s *shop) {
		f := &farShop{shop: s}
		f.mint()
		f.come()
		fn(f)
		f.leave()
		if n := direct.Load(); n != 0 {
			t.Errorf("ingotd tried %d times to connect by itself", n)
		}
	})
}

// mint makes the booter, with a key of its own.
func (f *farShop) mint() {
	in := api.MintKey{}
	in.Body.Scope = "booter"
	out, err := api.KeyMint.Call(f.t.Context(), f.op, &in)
	f.must(err)
	u, _ := url.Parse(f.stage.Endpoint().URL)
	at := netip.MustParseAddr("10.9.0.7") // what the BMC's name says at the booter
	f.key = out.Key.ID
	f.booter = &carry.Porter{Booter: "b1", Server: "http://ingotd:80", Bearer: out.Secret.Show, Networks: []netip.Prefix{netip.PrefixFrom(at, at.BitLen())},
		HTTP: &http.Client{Transport: &http.Transport{DialContext: f.net.Host("booter").DialContext}}, Log: slog.New(slog.NewJSONHandler(&f.said, nil)),
		Lookup: func(_ context.Context, _, name string) ([]netip.Addr, error) {
			if name == u.Hostname() {
				return []netip.Addr{at}, nil
			}
			return nil, errors.New("nobody has this name")
		},
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			f.carried.Add(1)
			c, err := f.sim.Dial(ctx, network, strings.Replace(address, at.String(), u.Hostname(), 1))
			return overheard{c, &f.heard, &f.slow}, err
		}}
}

func (f *farShop) come() {
	ctx, cancel := context.WithCancel(context.Background())
	var ran sync.WaitGroup
	ran.Go(func() { f.booter.Run(ctx) })
	f.leave = func() {
		cancel()
		ran.Wait()
	}
	time.Sleep(5 * time.Second)
}

// MACH-6: a booter carries what ingotd says to a BMC, and learns nothing of it.
func TestBooterCarries(t *testing.T) {
	inFarShop(t, func(f *farShop) {
		id := f.enrolls(f.right())
		f.aborts(id)
		f.must(f.queue(id, "off", "p-1"))
		if got := f.ended(id, "p-1"); !strings.HasPrefix(got, "done: the machine is off") || f.stage.Power() != "off" {
			t.Errorf("%q, and it is %s", got, f.stage.Power())
		}
		if n := f.carried.Load(); n == 0 || len(f.heard.String()) < 1000 || strings.Contains(f.heard.String(), f.right()) {
			t.Errorf("the booter carried %d connections, with %d bytes, and the password: %t", n, len(f.heard.String()), strings.Contains(f.heard.String(), f.right()))
		}
		f.hunt(f.right())
	})
}

// While the booter is away a command is not carried out, nor later; its result and
// whoever asks says whom to look after. Once it is back, so is the machine.
func TestBooterIsAway(t *testing.T) {
	inFarShop(t, func(f *farShop) {
		id := f.enrolls(f.right())
		f.aborts(id)
		f.leave()
		time.Sleep(time.Minute)
		_, err := api.NodePowerState.Call(f.t.Context(), f.op, &api.NodeRef{Node: id})
		if coded(err) != "UNAVAILABLE" || !strings.Contains(err.Error(), "b1") {
			t.Errorf("asked meanwhile: %v", err)
		}
		f.must(f.queue(id, "off", "p-1"))
		if got := f.ended(id, "p-1"); strings.HasPrefix(got, "done") {
			t.Errorf("off without a way to the BMC: %q", got)
		}
		f.come()
		time.Sleep(10 * time.Minute)
		if n := len(f.stage.Tally().Sent); n != 0 || f.stage.Power() != "on" {
			t.Errorf("%d actions were sent late", n)
		}
		if got, err := api.NodePowerState.Call(f.t.Context(), f.op, &api.NodeRef{Node: id}); err != nil || got.State != "on" {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// A line ends with its key, and only a booter's key opens one.
func TestCarryNeedsABootersKey(t *testing.T) {
	inFarShop(t, func(f *farShop) {
		t := f.t
		id := f.enrolls(f.right())
		if _, err := api.NodePowerState.Call(t.Context(), f.op, &api.NodeRef{Node: id}); err != nil {
			t.Fatal(err)
		}
		revoke := &api.RevokeKey{}
		revoke.Key = f.key
		_, err := api.KeyRevoke.Call(t.Context(), f.op, revoke)
		f.must(err)
		time.Sleep(time.Minute)
		if _, err := api.NodePowerState.Call(t.Context(), f.op, &api.NodeRef{Node: id}); coded(err) != "UNAVAILABLE" {
			t.Errorf("with a key that was revoked: %v", err)
		}
		in := api.MintKey{}
		in.Body.Scope = "ur_enroll"
		other, err := api.KeyMint.Call(t.Context(), f.op, &in)
		f.must(err)
		for name, c := range map[string]struct {
			target, bearer string
			want           int
		}{
			"no key":          {"?booter=b1", "", http.StatusUnauthorized},
			"an agents' key":  {"?booter=b1", other.Secret.Show(), http.StatusForbidden},
			"a revoked key":   {"?booter=b1", f.booter.Bearer(), http.StatusUnauthorized},
			"no key, no name": {"", "", http.StatusUnauthorized},
		} {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://ingotd:80"+carry.Path+c.target, nil)
			if c.bearer != "" {
				req.Header.Set("Authorization", "Bearer "+c.bearer)
			}
			res, err := f.booter.HTTP.Do(req)
			f.must(err)
			_ = res.Body.Close()
			if res.StatusCode != c.want {
				t.Errorf("%s: %s", name, res.Status)
			}
		}
	})
}

// A booter's name is its key's until that is revoked: another booter's key does not take
// its connections.
func TestNameOfABooterIsItsKeys(t *testing.T) {
	inFarShop(t, func(f *farShop) {
		t := f.t
		in := api.MintKey{}
		in.Body.Scope = "booter"
		other, err := api.KeyMint.Call(t.Context(), f.op, &in)
		f.must(err)
		f.leave()
		held, mine := f.key, f.booter.Bearer
		f.booter.Bearer = other.Secret.Show
		f.come()
		if f.carries() {
			t.Error("another key carries under the name")
		}
		if said := f.said.String(); !strings.Contains(said, "409 Conflict: booter b1 carries with another key, "+held) || !strings.Contains(said, "ingot key revoke "+held) {
			t.Error("the booter does not learn why, nor what to do")
		}
		f.leave()
		f.booter.Bearer = mine
		f.come()
		if !f.carries() {
			t.Error("the key that holds the name does not carry any more")
		}
		f.leave()
		revoke := &api.RevokeKey{}
		revoke.Key = held
		_, err = api.KeyRevoke.Call(t.Context(), f.op, revoke)
		f.must(err)
		f.booter.Bearer = other.Secret.Show
		f.come()
		if !f.carries() {
			t.Error("a key that is revoked holds the name")
		}
	})
}

// carries reports whether ingotd reaches BMCs through the booter.
func (f *farShop) carries() bool {
	id := f.enrolls(f.right())
	time.Sleep(5 * time.Minute) // a BMC that did not answer is left alone for a while
	_, err := api.NodePowerState.Call(f.t.Context(), f.op, &api.NodeRef{Node: id})
	return err == nil
}

// When ingotd stops it logs out of the BMCs behind booters too, while these still carry.
func TestStopLogsOutBehindABooter(t *testing.T) {
	inFarShop(t, func(f *farShop) {
		id := f.enrolls(f.right())
		if _, err := api.NodePowerState.Call(f.t.Context(), f.op, &api.NodeRef{Node: id}); err != nil {
			f.t.Fatal(err)
		}
		if f.stage.Tally().Sessions == 0 {
			f.t.Fatal("no session is open")
		}
		f.slow.Store(true)
		var asked sync.WaitGroup
		asked.Go(func() {
			if _, err := api.NodePowerState.Call(f.t.Context(), f.op, &api.NodeRef{Node: id}); err != nil {
				f.t.Errorf("what is asked while it stops: %v", err)
			}
		})
		time.Sleep(500 * time.Millisecond) // it is on its way
		began := time.Now()
		f.stop()
		asked.Wait()
		if n := f.stage.Tally().Sessions; n != 0 {
			f.t.Errorf("%d sessions are left open", n)
		}
		if took := time.Since(began); took > 10*time.Second {
			f.t.Errorf("the stop took %s", took)
		}
		f.start()
	})
}

// A booter whose network was cut does not hold up a stop.
func TestStopWithoutAWayToTheBMC(t *testing.T) {
	inFarShop(t, func(f *farShop) {
		id := f.enrolls(f.right())
		if _, err := api.NodePowerState.Call(f.t.Context(), f.op, &api.NodeRef{Node: id}); err != nil {
			f.t.Fatal(err)
		}
		f.net.Partition([]string{"ingotd"}, []string{"booter"})
		began := time.Now()
		f.stop()
		if took := time.Since(began); took > time.Minute {
			f.t.Errorf("the stop took %s", took)
		}
		f.net.Rejoin([]string{"ingotd"}, []string{"booter"})
		f.start()
	})
}
