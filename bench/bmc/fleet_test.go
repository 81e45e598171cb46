package bmc

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/machine"
	"github.com/ingotmetal/ingot/bmc/redfish"
	"github.com/ingotmetal/ingot/bmc/wire"
)

// A fleet is machines that are polled, and what came of it.
type fleet struct {
	machines []*machine.Machine
	poller   *machine.Poller
	open     atomic.Int64 // connections
	most     atomic.Int64

	mu     sync.Mutex
	counts bool // from now on
	polls  int
	failed int
	late   []time.Duration
	took   []time.Duration
}

// counted is a connection that is counted until it is closed.
type counted struct {
	net.Conn
	once sync.Once
	gone func()
}

func (c *counted) Close() error {
	c.once.Do(c.gone)
	return c.Conn.Close()
}

// Call is a poll, with all that it took.
func (f *fleet) Call(_ string, took time.Duration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts && err == nil {
		f.took = append(f.took, took)
	}
}

// Login is not counted here: the BMCs count.
func (*fleet) Login(error) {}

// Late is how long after its time a poll began.
func (f *fleet) Late(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts {
		f.late = append(f.late, d)
	}
}

// told is what a poll came to.
func (f *fleet) told(_ string, _ bmc.PowerObservation, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !f.counts:
	case err != nil:
		f.failed++
	default:
		f.polls++
	}
}

// assemble makes n machines, of which every deadth answers nobody: its connections
// are never accepted.
func assemble(b *testing.B, r *rack, n, dead int, idle time.Duration) *fleet {
	f := &fleet{}
	gates, sessions := &machine.Gates{}, &machine.Idle{Keep: n}
	f.poller = machine.NewPoller(machine.Polling{Seed: 1}, f.told, f)
	for i := range n {
		lost := dead > 0 && i%dead == 0
		d := redfish.Driver{Wire: wire.Options{Idle: idle, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if lost {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			c, err := new(net.Dialer).DialContext(ctx, "tcp", r.Address)
			if err != nil {
				return nil, err
			}
			f.most.Store(max(f.most.Load(), f.open.Add(1)))
			return &counted{Conn: c, gone: func() { f.open.Add(-1) }}, nil
		}}}
		m, err := machine.New(machine.Config{
			Driver: d, Endpoint: bmc.Endpoint{URL: "https://" + host(i), Trust: bmc.Trust{Pin: r.Pin}}, Credentials: known{}, Gates: gates, Idle: sessions, Metrics: f,
		})
		if err != nil {
			b.Fatal(err)
		}
		f.machines = append(f.machines, m)
		f.poller.Add(host(i), m.Poll)
	}
	return f
}

// BenchmarkFleet polls INGOT_BMCS machines (default none: it takes minutes) once a
// minute: a minute to log in, and then one that is measured.
func BenchmarkFleet(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("INGOT_BMCS"))
	if err != nil {
		b.Skip("INGOT_BMCS is not set: how many machines to poll, for example 4000")
	}
	for _, how := range []struct {
		name string
		idle time.Duration
		dead int
	}{{"connections=kept/dead=0", 5 * time.Minute, 0}, {"connections=kept/dead=1%", 5 * time.Minute, 100}, {"connections=anew/dead=0", 5 * time.Second, 0}} {
		b.Run(fmt.Sprintf("machines=%d/%s", n, how.name), func(b *testing.B) { minute(b, n, how.dead, how.idle) })
	}
}

func minute(b *testing.B, n, dead int, idle time.Duration) {
	forget()
	r := start(b, n, "dell-r750-idrac9-6.00")
	f := assemble(b, r, n, dead, idle)
	ctx, cancel := context.WithCancel(b.Context())
	var runs sync.WaitGroup
	runs.Go(func() { f.poller.Run(ctx) })
	wait := func(d time.Duration) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	wait(70 * time.Second)
	f.mu.Lock()
	f.counts = true
	f.mu.Unlock()
	cpu := used()
	theirs := r.account(b)
	b.ResetTimer()
	wait(time.Minute)
	b.StopTimer()
	now, most := used(), peak()
	end := r.account(b)
	f.mu.Lock()
	f.counts = false
	polls, failed := f.polls, f.failed
	late, took := quantile(f.late, 0.99), quantile(f.took, 0.5)
	slow := quantile(f.took, 0.99)
	f.mu.Unlock()
	cancel()
	runs.Wait()
	ends, cut := context.WithTimeout(context.Background(), time.Minute)
	defer cut()
	for _, m := range f.machines {
		runs.Go(func() { _ = m.Close(ends) })
	}
	runs.Wait()
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(float64(polls), "polls")
	b.ReportMetric(float64(failed), "failed")
	b.ReportMetric(now-cpu, "client-cpu-s")
	b.ReportMetric(end.CPU-theirs.CPU, "server-cpu-s")
	b.ReportMetric(float64(most)/1024, "client-MiB")
	b.ReportMetric(float64(end.Peak)/1024, "server-MiB")
	b.ReportMetric(float64(f.most.Load()), "connections")
	b.ReportMetric(float64(end.Logins), "logins")
	b.ReportMetric(ms(late), "late-p99-ms")
	b.ReportMetric(ms(took), "poll-p50-ms")
	b.ReportMetric(ms(slow), "poll-p99-ms")
}

// quantile of what was measured; 0 without any.
func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(len(all)-1, int(q*float64(len(all))))]
}
