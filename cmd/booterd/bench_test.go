package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// reservations is how many machines the servers know.
const reservations = 4096

// reservedMAC is the machine of a number, as perfdhcp counts them.
func reservedMAC(i int) string {
	last := 0x020304 + i
	return fmt.Sprintf("00:0c:01:%02x:%02x:%02x", byte(last>>16), byte(last>>8), byte(last))
}

// reservedAddress is what its number gets.
func reservedAddress(i int) string { return fmt.Sprintf("10.77.%d.%d", 16+i/250, 1+i%250) }

// DISCOVER to ACK for 4,096 machines with reservations, asked by perfdhcp over a veth
// pair at the rates that are named: exchanges a second, and the share that was lost.
func BenchmarkDORA(b *testing.B) {
	if os.Getenv("INGOT_DORA") == "" {
		b.Skip("takes minutes and needs root: make bench-dora")
	}
	for _, server := range []struct {
		name  string
		start func(b *testing.B, s *segment)
	}{{"ingot", startIngot}, {"dnsmasq", startDnsmasq}, {"kea", startKea}, {"coredhcp", startCoredhcp}} {
		for _, rate := range []int{500, 2000, 4000, 6000, 8000} {
			b.Run(fmt.Sprintf("%s/asked=%d", server.name, rate), func(b *testing.B) {
				needs(b, map[string]string{"ip": "iproute2", "perfdhcp": "kea-admin"})
				s := newSegment(b)
				s.in(s.client, "ip", "addr", "add", "10.77.0.200/24", "dev", "eth0")
				server.start(b, s)
				for b.Loop() {
					done, lost := s.perfdhcp(rate)
					b.ReportMetric(done, "DORA/s")
					b.ReportMetric(lost, "%lost")
				}
			})
		}
	}
}

var (
	doneRate = regexp.MustCompile(`Rate: ([0-9.]+) 4-way`)
	dropRate = regexp.MustCompile(`drops ratio: ([0-9.]+) ?%`)
)

// perfdhcp asks for eight seconds.
func (s *segment) perfdhcp(rate int) (done, lost float64) {
	s.t.Helper()
	out, _ := s.try(s.client, "perfdhcp", "-4", "-r", strconv.Itoa(rate), "-R", strconv.Itoa(reservations), "-p", "8", "-W", "500000", "-b", "mac="+reservedMAC(0), "10.77.0.1") // it fails where anything was lost
	m := doneRate.FindStringSubmatch(out)
	if m == nil {
		s.t.Fatalf("perfdhcp: %s", out)
	}
	done, _ = strconv.ParseFloat(m[1], 64)
	for _, d := range dropRate.FindAllStringSubmatch(out, -1) {
		share, _ := strconv.ParseFloat(d[1], 64)
		lost = max(lost, share)
	}
	return done, lost
}

func startIngot(b *testing.B, s *segment) {
	l := newSite(b, s)
	l.policyOn("10.77.0.0/16", false)
	var all sync.WaitGroup
	slots := make(chan struct{}, 32)
	for i := range reservations {
		slots <- struct{}{}
		all.Go(func() {
			l.enroll(reservedMAC(i))
			<-slots
		})
	}
	all.Wait()
	time.Sleep(3 * time.Second) // the booter follows
}

func startDnsmasq(b *testing.B, s *segment) {
	needs(b, map[string]string{"dnsmasq": "dnsmasq-base"})
	file := filepath.Join(b.TempDir(), "dnsmasq.conf")
	var conf strings.Builder
	conf.WriteString("port=0\nuser=root\nkeep-in-foreground\nlog-facility=/dev/null\nleasefile-ro\ninterface=adm0\nbind-interfaces\nno-ping\ndhcp-lease-max=10000\ndhcp-range=10.77.0.0,static,255.255.0.0\n")
	for i := range reservations {
		fmt.Fprintf(&conf, "dhcp-host=%s,%s\n", reservedMAC(i), reservedAddress(i))
	}
	write(b, file, conf.String())
	s.daemon(s.site, "", "dnsmasq", "--conf-file="+file, "--pid-file=")
	time.Sleep(2 * time.Second)
}

func startKea(b *testing.B, s *segment) {
	needs(b, map[string]string{"kea-dhcp4": "kea-dhcp4-server"})
	type reservation struct {
		MAC     string `json:"hw-address"`
		Address string `json:"ip-address"`
	}
	all := make([]reservation, reservations)
	for i := range all {
		all[i] = reservation{reservedMAC(i), reservedAddress(i)}
	}
	raw, err := json.Marshal(map[string]any{"Dhcp4": map[string]any{
		"interfaces-config": map[string]any{"interfaces": []string{"adm0"}, "dhcp-socket-type": "udp"},
		"lease-database":    map[string]any{"type": "memfile", "persist": false},
		"multi-threading":   map[string]any{"enable-multi-threading": true, "thread-pool-size": 2},
		"valid-lifetime":    3600,
		"loggers":           []any{map[string]any{"name": "kea-dhcp4", "severity": "ERROR", "output_options": []any{map[string]any{"output": "/dev/null"}}}},
		"subnet4":           []any{map[string]any{"id": 1, "subnet": "10.77.0.0/16", "reservations": all, "reservations-in-subnet": true}},
	}})
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	file := filepath.Join(dir, "kea.json")
	write(b, file, string(raw))
	s.daemon(s.site, "", "env", "KEA_PIDFILE_DIR="+dir, "KEA_LOCKFILE_DIR="+dir, "kea-dhcp4", "-c", file)
	time.Sleep(4 * time.Second)
}

// startCoredhcp runs coredhcp with a static table of the reservations, built from the
// module of the benches, so that what it depends on never becomes ours.
func startCoredhcp(b *testing.B, s *segment) {
	dir := b.TempDir()
	program, file := filepath.Join(dir, "coredhcpd"), filepath.Join(dir, "reservations")
	build := exec.Command("go", "build", "-o", program, "./coredhcpd")
	build.Dir = filepath.Join("..", "..", "bench")
	if out, err := build.CombinedOutput(); err != nil {
		missing(b, fmt.Sprintf("coredhcp is not built: see what go -C bench build ./coredhcpd says, and fetch its modules by go -C bench mod download: %v\n%s", err, out))
	}
	var table strings.Builder
	for i := range reservations {
		fmt.Fprintln(&table, reservedMAC(i), reservedAddress(i))
	}
	write(b, file, table.String())
	s.daemon(s.site, "", program, "adm0", "10.77.0.1", "255.255.0.0", file)
	time.Sleep(2 * time.Second)
}

func write(b *testing.B, path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}
