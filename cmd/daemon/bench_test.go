package daemon_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/config"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/bolt"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// fleet is how many nodes a large site has here.
const fleet = 100_000

// populate writes a site of nodes, each with an approved row, as the door would.
func populate(tb testing.TB, path string, nodes int) {
	tb.Helper()
	st, err := bolt.Open(path, bolt.Options{Name: "lab", Mark: path + ".mark"})
	if err != nil {
		tb.Fatal(err)
	}
	for i := 0; i < nodes; i += 5000 {
		_, err := st.Update(tb.Context(), func(tx store.Tx) error {
			for j := i; j < min(i+5000, nodes); j++ {
				for k, v := range lifecycle.NodeRows(resident(j)) {
					tx.Put(k, v)
				}
			}
			tx.Log(store.Entry{Time: time.Now(), Actor: "test", Facts: []journal.Fact{{Type: "site.populated", Subject: "site"}}})
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		tb.Fatal(err)
	}
}

func resident(i int) lifecycle.Node {
	n := lifecycle.Fresh()
	n.ID, n.Version = lifecycle.NodeID(fmt.Sprintf("node_%026d", i)), 7
	n.Reg.State, n.Reg.OnceApproved = registration.Approved, true
	n.Reg.Server = registration.ServerID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, byte(i >> 16), byte(i >> 8), byte(i)}
	n.Reg.ApprovedAt = time.Unix(1_700_000_000, 0).UTC()
	n.Reg.Bound = registration.Key{ID: fmt.Sprint("key_", i), Hash: registration.Hash{1, byte(i >> 16), byte(i >> 8), byte(i)}, Scope: lifecycle.ScopeAgent}
	n.Reg.Inventory = registration.Inventory{Digest: registration.Hash{2}, Serials: []string{fmt.Sprint("S", i)}}
	n.Claims.Server = n.Reg.Server
	return n
}

// BenchmarkStartup is the start of a control plane of 100,000 nodes, from the opening
// of its store to its first answer; MiB is what the process then has resident.
func BenchmarkStartup(b *testing.B) {
	dir := b.TempDir()
	c := largeSite(b, dir)
	for b.Loop() {
		stop, _ := started(b, c)
		b.ReportMetric(memory(b), "MiB")
		stop()
	}
}

func largeSite(tb testing.TB, dir string) daemon.Config {
	tb.Helper()
	c := config.Default()
	c.Site, c.State, c.Listen.TCP, c.Listen.Unix = "lab", dir, nil, filepath.Join(dir, "s")
	c.Store.Path, c.Store.Mark = filepath.Join(dir, "site.db"), filepath.Join(dir, "site.mark")
	// The master secret of a store that has rows must be there.
	if err := os.WriteFile(filepath.Join(dir, "site.key"), bytes.Repeat([]byte{7}, 32), 0o600); err != nil {
		tb.Fatal(err)
	}
	populate(tb, c.Store.Path, fleet)
	if err := os.Rename(c.Store.Path+".mark", c.Store.Mark); err != nil {
		tb.Fatal(err)
	}
	return c
}

// started is a control plane that answers, and what ends it.
func started(tb testing.TB, c daemon.Config) (stop func(), client *api.Client) {
	tb.Helper()
	stop, client, _, _ = startedOn(tb, c)
	return stop, client
}

// startedOn is started, with the address of the first TCP listener and its pin.
func startedOn(tb testing.TB, c daemon.Config) (stop func(), client *api.Client, address, pin string) {
	tb.Helper()
	out := outside()
	ctx, cancel := context.WithCancel(context.Background())
	site, err := daemon.OpenSite(ctx, c, out)
	if err != nil {
		tb.Fatal(err)
	}
	ls, err := daemon.Listen(c, site, out)
	if err != nil {
		tb.Fatal(err)
	}
	d := daemon.Ingotd{Version: "test", Config: c, Store: site.Store, Master: site.Master, Now: out.Now, Entropy: out.Entropy, Log: out.Log,
		Listeners: ls, Credentials: daemon.Credentials, Host: daemon.OnHost, Stats: site.Stats()}
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	client = &api.Client{Base: "http://ingotd", HTTP: &http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", c.Listen.Unix) }}}}
	for {
		if _, err := api.OperatorListing.Call(ctx, client, &api.OperatorList{}); err == nil {
			break
		}
		select {
		case err := <-done:
			tb.Fatal(err)
		case <-time.After(time.Millisecond):
		}
	}
	return func() {
		client.HTTP.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			tb.Error(err)
		}
		if err := site.Close(); err != nil {
			tb.Error(err)
		}
	}, client, ls[0].Addr().String(), site.Pin
}

func outside() daemon.Outside {
	return daemon.Outside{Now: time.Now, Entropy: &drawn{n: 1}, Log: slog.New(slog.DiscardHandler), Listen: net.Listen, Dial: net.Dial}
}

// memory is the memory that this process has resident, in MiB.
func memory(tb testing.TB) float64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		tb.Skip("no /proc here")
	}
	pages, err := strconv.ParseFloat(string(bytes.Fields(raw)[1]), 64)
	if err != nil {
		tb.Fatal(err)
	}
	return pages * float64(os.Getpagesize()) / (1 << 20)
}

// BenchmarkListNodes is the first page of 100,000 nodes, by the API.
func BenchmarkListNodes(b *testing.B) {
	c := largeSite(b, b.TempDir())
	stop, client := started(b, c)
	defer stop()
	b.ReportAllocs()
	for b.Loop() {
		page, err := api.NodeListing.Call(b.Context(), client, &api.NodeList{})
		if err != nil || len(page.Nodes) != 50 {
			b.Fatalf("%d nodes, %v", len(page.Nodes), err)
		}
	}
}
