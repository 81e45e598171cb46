package simnet_test

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/simnet"
)

// after fails the test unless f takes this long.
func after(t *testing.T, want time.Duration, f func()) {
	t.Helper()
	start := time.Now()
	f()
	if d := time.Since(start); d != want {
		t.Errorf("took %s, want %s", d, want)
	}
}

func TestCutIsOneWayAndLosesNothing(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		a, b := connect(t, n)
		send(t, a, "under way, ")
		n.Cut("a", "b")
		send(t, b, "the other way")
		recv(t, a, "the other way")
		send(t, a, "held, ")
		time.Sleep(time.Minute)
		send(t, a, "just sent")
		n.Heal("a", "b")
		after(t, 10*time.Millisecond, func() { recv(t, b, "under way, held, just sent") })
		if c := n.Counts(); c[simnet.Hold] != 2 || c[simnet.Release] != 1 {
			t.Errorf("counts %v", c)
		}
	})
}

func TestFlightsKeepTheirOrderThroughCuts(t *testing.T) {
	o := simnet.Options{Rule: simnet.Rule{Latency: simnet.Span{Max: 100 * time.Millisecond}, Segment: 0.5}}
	in(t, o, func(t *testing.T, n *simnet.Net) {
		a, b := connect(t, n)
		var want strings.Builder
		done := make(chan bool)
		go func() {
			for i := range 200 {
				s := fmt.Sprintf("%d,", i)
				want.WriteString(s)
				send(t, a, s)
				time.Sleep(7 * time.Millisecond)
			}
			a.CloseWrite()
			close(done)
		}()
		for range 10 {
			n.Cut("a", "b")
			time.Sleep(50 * time.Millisecond)
			n.Heal("a", "b")
			time.Sleep(90 * time.Millisecond)
		}
		got, err := io.ReadAll(b)
		<-done
		if string(got) != want.String() || err != nil {
			t.Errorf("read %q, %v", got, err)
		}
		if c := n.Counts(); c[simnet.Hold] < 10 || c[simnet.Segment] < 10 {
			t.Errorf("counts %v", c)
		}
	})
}

func TestSenderGivesUp(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		a, b := connect(t, n)
		n.Partition([]string{"a"}, []string{"b"})
		send(t, a, "never read")
		after(t, 924*time.Second+10*time.Millisecond, func() { wants(t, reading(a), syscall.ETIMEDOUT) })
		n.Rejoin([]string{"a"}, []string{"b"})
		b.SetReadDeadline(time.Now().Add(time.Hour))
		if err := reading(b); err == nil || !err.(net.Error).Timeout() {
			t.Errorf("the half-open end reads %v", err)
		}
		send(t, b, "anybody there?")
		b.SetReadDeadline(time.Time{})
		wants(t, reading(b), syscall.ECONNRESET)
	})
}

func TestKill(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		a, b := connect(t, n)
		old := n.Host("b")
		l, err := old.Listen("tcp", ":80")
		if err != nil {
			t.Fatal(err)
		}
		p, err := old.ListenPacket("lan", anyPort(67))
		if err != nil {
			t.Fatal(err)
		}
		n.Kill("b")
		wants(t, reading(b), net.ErrClosed)
		_, err = l.Accept()
		wants(t, err, net.ErrClosed)
		_, _, err = p.ReadFrom(nil)
		wants(t, err, net.ErrClosed)
		_, err = old.DialContext(t.Context(), "tcp", "a:80")
		wants(t, err, net.ErrClosed)
		_, err = old.Listen("tcp", ":81")
		wants(t, err, net.ErrClosed)
		wants(t, reading(a), io.EOF)
		_, err = n.DialContext(t.Context(), "tcp", "b:80")
		wants(t, err, syscall.ECONNREFUSED)
		connect(t, n) // to b's successor
	})
}

func TestPowerOff(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		a, b := connect(t, n)
		send(t, b, "sent before the power goes")
		b.Close()
		n.Host("b")
		n.PowerOff("b")
		a.SetReadDeadline(time.Now().Add(time.Hour))
		recv(t, a, "sent before the power goes") // a fault comes after what was sent at its instant
		wants(t, reading(a), io.EOF)
		n.PowerOn("b")

		a, b = connect(t, n)
		n.PowerOff("b")
		wants(t, reading(b), net.ErrClosed)
		_, err := n.Host("b").Listen("tcp", ":80")
		wants(t, err, net.ErrClosed)
		send(t, a, "into the dark")
		a.SetReadDeadline(time.Now().Add(time.Minute))
		if err := reading(a); err == nil || !err.(net.Error).Timeout() {
			t.Errorf("read %v from a host without power", err)
		}
		a.SetReadDeadline(time.Time{})
		n.PowerOn("b")
		after(t, 20*time.Millisecond, func() { wants(t, reading(a), syscall.ECONNRESET) })
	})
}

func TestResetBetween(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		a, b := connect(t, n)
		l, err := n.Listen("tcp", "c:80")
		if err != nil {
			t.Fatal(err)
		}
		c, err := n.Host("a").DialContext(t.Context(), "tcp", "c:80")
		if err != nil {
			t.Fatal(err)
		}
		n.ResetBetween("b", "a")
		after(t, 0, func() {
			wants(t, reading(a), syscall.ECONNRESET)
			wants(t, reading(b), syscall.ECONNRESET)
		})
		send(t, c, "unharmed")
		n.ResetBetween("c", "*")
		wants(t, reading(c), syscall.ECONNRESET)
		l.Close()
	})
}

func TestSwizzle(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		var hosts []string
		for i := range 20 {
			hosts = append(hosts, fmt.Sprint("h", i))
		}
		n.Swizzle(hosts, time.Minute)
		time.Sleep(time.Minute)
		n.Settle()
		var clogged, unclogged []string
		for line := range strings.Lines(n.Log()) {
			switch f := strings.Fields(line); f[1] {
			case string(simnet.Clog):
				clogged = append(clogged, f[2])
			case string(simnet.Unclog):
				unclogged = append(unclogged, f[2])
			}
		}
		if len(clogged) < 10 || len(clogged) == 20 || slices.Equal(clogged, unclogged) {
			t.Errorf("clogged %v, unclogged %v", clogged, unclogged)
		}
		slices.Sort(clogged)
		slices.Sort(unclogged)
		if !slices.Equal(clogged, unclogged) {
			t.Errorf("clogged %v, unclogged %v", clogged, unclogged)
		}
	})
}

func TestClogHoldsBothWays(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		a, b := connect(t, n)
		n.Clog("b")
		send(t, a, "to")
		send(t, b, "fro")
		time.Sleep(time.Minute)
		n.Unclog("b")
		after(t, 10*time.Millisecond, func() { recv(t, a, "fro"); recv(t, b, "to") })
	})
}

func TestBandwidth(t *testing.T) {
	o := simnet.Options{Rule: simnet.Rule{Bandwidth: 1000}}
	in(t, o, func(t *testing.T, n *simnet.Net) {
		a, b := connect(t, n)
		after(t, 3*time.Second, func() {
			send(t, a, strings.Repeat("x", 2000))
			time.Sleep(time.Second)
			send(t, a, strings.Repeat("x", 1000))
			recv(t, b, strings.Repeat("x", 3000))
		})
	})
}

func TestStallAndSegment(t *testing.T) {
	minute := simnet.Span{Min: time.Minute}
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		a, b := connect(t, n)
		n.SetRule("a", "*", simnet.Rule{Stall: 1, StallFor: minute})
		after(t, time.Minute, func() { send(t, a, "late"); recv(t, b, "late") })
		n.SetRule("a", "b", simnet.Rule{Segment: 1}) // the more exact rule
		send(t, a, strings.Repeat("x", 1000))
		k, err := b.Read(make([]byte, 1000))
		if k == 0 || k == 1000 || err != nil {
			t.Errorf("the first piece has %d bytes, %v", k, err)
		}
		recv(t, b, strings.Repeat("x", 1000-k))
		if c := n.Counts(); c[simnet.Stall] != 1 || c[simnet.Segment] != 1 {
			t.Errorf("counts %v", c)
		}
	})
}

func TestBreak(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		a, b := connect(t, n)
		n.SetRule("a", "b", simnet.Rule{Reset: 1})
		send(t, a, "never read")
		wants(t, reading(b), syscall.ECONNRESET)
		wants(t, reading(a), syscall.ECONNRESET)
	})
}
