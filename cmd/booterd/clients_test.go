package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/config"
)

// The network of the test: a segment with the booter and a client on it, and one
// behind a relay.
//
//	client 10.77.0.x --- 10.77.0.1 booter 10.77.9.1 --- 10.77.9.2 relay 10.77.0.254 --- far
const (
	clientMAC = "52:54:00:77:00:02"
	farMAC    = "52:54:00:77:00:03"
)

// A segment is network namespaces of this test's own.
type segment struct {
	t                          testing.TB
	site, client, relayed, far string
}

// needs skips where something is missing that only root or a package brings.
func needs(t testing.TB, programs map[string]string) {
	t.Helper()
	for name, debian := range programs {
		if _, err := exec.LookPath(name); err != nil {
			missing(t, fmt.Sprintf("%s is missing: apt-get install %s", name, debian))
		}
	}
	if os.Getuid() != 0 {
		missing(t, "network namespaces need root")
	}
}

func missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("INGOT_TEST_ALL") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// hold makes a namespace that a process of this test's holds, and with which it ends:
// no name is mounted anywhere. It returns the process.
func hold(t testing.TB) string {
	cmd := exec.Command("unshare", "--net", "sleep", "infinity")
	if err := cmd.Start(); err != nil {
		missing(t, fmt.Sprintf("no network namespace can be made here: %v", err))
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	own, _ := os.Readlink("/proc/self/ns/net")
	for range 500 {
		if ns, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", cmd.Process.Pid)); err == nil && ns != own {
			return strconv.Itoa(cmd.Process.Pid)
		}
		time.Sleep(10 * time.Millisecond) // a real process has a real clock
	}
	missing(t, "no network namespace can be made here")
	return ""
}

// newSegment makes the namespaces, and removes them after the test.
func newSegment(t testing.TB) *segment {
	s := &segment{t: t, site: hold(t), client: hold(t), relayed: hold(t), far: hold(t)}
	for _, ns := range []string{s.site, s.client, s.relayed, s.far} {
		s.in(ns, "ip", "link", "set", "lo", "up")
	}
	s.cable(s.site, "adm0", "", s.client, "eth0", clientMAC)
	s.cable(s.site, "up0", "", s.relayed, "up0", "")
	s.cable(s.relayed, "down0", "", s.far, "eth0", farMAC)
	s.in(s.site, "ip", "addr", "add", "10.77.0.1/24", "dev", "adm0")
	s.in(s.site, "ip", "addr", "add", "10.77.9.1/24", "dev", "up0")
	s.in(s.relayed, "ip", "addr", "add", "10.77.9.2/24", "dev", "up0")
	s.in(s.relayed, "ip", "addr", "add", "10.77.0.254/24", "dev", "down0")
	s.in(s.site, "ip", "route", "add", "10.77.0.254/32", "via", "10.77.9.2", "dev", "up0")
	return s
}

func (s *segment) cable(a, ifa, macA, b, ifb, macB string) {
	s.in(a, "ip", "link", "add", ifa, "type", "veth", "peer", "name", ifb, "netns", b)
	for _, end := range [][3]string{{a, ifa, macA}, {b, ifb, macB}} {
		if end[2] != "" {
			s.in(end[0], "ip", "link", "set", end[1], "address", end[2])
		}
		s.in(end[0], "ip", "link", "set", end[1], "up")
	}
}

// in runs a command in a namespace.
func (s *segment) in(ns string, words ...string) string {
	s.t.Helper()
	out, err := s.try(ns, words...)
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
	}
	return out
}

func (s *segment) try(ns string, words ...string) (string, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), 40*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "nsenter", append([]string{inside(ns)}, words...)...).CombinedOutput()
	return string(out), err
}

// inside is a namespace as nsenter takes it, which unlike ip netns exec remounts nothing
// and so works in a chroot.
func inside(ns string) string { return "--net=/proc/" + ns + "/ns/net" }

// daemon runs a program in a namespace until the test ends.
func (s *segment) daemon(ns, socket string, words ...string) {
	s.t.Helper()
	cmd := exec.Command("nsenter", append([]string{inside(ns)}, words...)...)
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if s.t.Failed() {
			s.t.Logf("%s:\n%s", words[0], log.String())
		}
	})
	if socket == "" {
		return
	}
	for range 300 {
		if c, err := net.Dial("unix", socket); err == nil {
			_ = c.Close()
			return
		}
		time.Sleep(20 * time.Millisecond) // a real process has a real clock
	}
	s.t.Fatalf("%s does not answer", words[0])
}

// A site is ingotd and booterd in the segment.
type site struct {
	*segment
	dir      string
	operator *api.Client
}

// newSite builds both and starts them.
func newSite(t testing.TB, s *segment) *site {
	dir, err := os.MkdirTemp("/tmp", "booterd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l := &site{segment: s, dir: dir}
	for _, name := range []string{"ingotd", "booterd"} {
		build := exec.Command("go", "build", "-o", filepath.Join(dir, "bin", name), "github.com/ingotmetal/ingot/cmd/"+name)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	c := config.Config{Site: "real", State: filepath.Join(dir, "ingotd")}
	c.Listen.TCP, c.Listen.Unix = []string{"127.0.0.1:8443"}, filepath.Join(dir, "i.sock")
	file := l.write("ingotd.yaml", c)
	pin, err := exec.Command(filepath.Join(dir, "bin", "ingotd"), "pin", "-c", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, pin)
	}
	l.daemon(s.site, c.Listen.Unix, filepath.Join(dir, "bin", "ingotd"), "serve", "-c", file)
	l.signIn(c.Listen.Unix)
	l.stage()
	b := config.Booter{State: filepath.Join(dir, "booterd"), Address: netip.MustParseAddr("10.77.0.1"), Interfaces: []string{"adm0", "up0"}, Images: filepath.Join(dir, "images")}
	b.Server = config.Server{Address: "127.0.0.1:8443", Pin: strings.TrimSpace(string(pin)), BooterKey: l.key("booter"), EnrollKey: l.key("ur_enroll")}
	b.Listen.Unix = filepath.Join(dir, "b.sock")
	if _, bench := t.(*testing.B); bench {
		b.DHCP.PerSecond, b.DHCP.PerMAC = 1_000_000, 10_000
	}
	l.daemon(s.site, b.Listen.Unix, filepath.Join(dir, "bin", "booterd"), "serve", "-c", l.write("booterd.yaml", b))
	return l
}

func (l *site) write(name string, c any) string {
	raw, err := config.Marshal(c)
	if err != nil {
		l.t.Fatal(err)
	}
	path := filepath.Join(l.dir, name)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		l.t.Fatal(err)
	}
	return path
}

func (l *site) signIn(socket string) {
	host := &api.Client{Base: "http://ingotd", HTTP: &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}}
	add := api.AddOperator{}
	add.Body.Name, add.Body.Password = "ada", "correct horse battery"
	if _, err := api.OperatorAdd.Call(l.t.Context(), host, &add); err != nil {
		l.t.Fatal(err)
	}
	in := api.OpenSession{}
	in.Body.Operator, in.Body.Password = "ada", "correct horse battery"
	got, err := api.SessionOpen.Call(l.t.Context(), host, &in)
	if err != nil {
		l.t.Fatal(err)
	}
	c := *host
	c.Credential = api.Bearer(got.Token.Show)
	l.operator = &c
}

func (l *site) key(scope string) string {
	in := api.MintKey{}
	in.Body.Scope = scope
	got, err := api.KeyMint.Call(l.t.Context(), l.operator, &in)
	if err != nil {
		l.t.Fatal(err)
	}
	path := filepath.Join(l.dir, scope)
	if err := os.WriteFile(path, []byte(got.Secret.Show()), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return path
}

func (l *site) stage() {
	s, err := images.Create(filepath.Join(l.dir, "images"))
	if err != nil {
		l.t.Fatal(err)
	}
	defer s.Close()
	for _, m := range []images.Manifest{
		{Name: "ipxe", Files: []images.File{{Name: "snponly.efi"}}, Boots: map[booter.Platform]images.Boots{booter.X64: {Loader: "snponly.efi"}}},
		{Name: "enroll", Files: []images.File{{Name: "vmlinuz"}}, Boots: map[booter.Platform]images.Boots{images.Any: {Kernel: "vmlinuz"}}},
	} {
		name := m.Files[0].Name
		if _, err := s.Stage(l.t.Context(), m, map[string]images.Source{name: {Reader: strings.NewReader("content of " + name)}}, nil); err != nil {
			l.t.Fatal(err)
		}
	}
}

// policy sets whether clients that do not boot are answered.
func (l *site) policy(onlyPXE bool) { l.policyOn("10.77.0.0/24", onlyPXE) }

func (l *site) policyOn(network string, onlyPXE bool) {
	in := api.SetPolicy{}
	in.Body = api.Policy{Network: network, Server: "10.77.0.1", Gateway: "10.77.0.1", EnrollmentImage: "enroll", AnswerOnlyPXE: onlyPXE, Exclude: []string{"10.77.0.254"}}
	if _, err := api.PolicySet.Call(l.t.Context(), l.operator, &in); err != nil {
		l.t.Fatal(err)
	}
}

func (l *site) enroll(mac string) {
	in := api.BootChange{BootRef: api.BootRef{MAC: mac}}
	if _, err := api.BootEnroll.Call(l.t.Context(), l.operator, &in); err != nil {
		l.t.Fatal(err)
	}
}

// udhcpc asks once, and returns what it says; its script configures nothing.
func (l *site) udhcpc(ns string) (string, error) {
	return l.try(ns, "busybox", "udhcpc", "-i", "eth0", "-f", "-n", "-q", "-t", "4", "-T", "1", "-s", "/bin/true")
}

// Real clients of DHCP get the reserved lease where the policy lets clients that do
// not boot be answered, and nothing where it does not; over a relay too, whose option
// 82 comes back. What they have reserved they may load by TFTP and HTTP.
func TestRealClients(t *testing.T) {
	needs(t, map[string]string{"ip": "iproute2", "busybox": "busybox", "dhclient": "isc-dhcp-client", "dhcrelay": "isc-dhcp-relay", "curl": "curl"})
	l := newSite(t, newSegment(t))
	l.policy(false)
	l.enroll(clientMAC)
	l.enroll(farMAC)
	if out, err := l.udhcpc(l.client); err != nil || !strings.Contains(out, "lease of 10.77.0.2 obtained from 10.77.0.1") {
		t.Errorf("udhcpc: %v\n%s", err, out)
	}
	if out := l.dhclient(l.client); !strings.Contains(out, "DHCPACK of 10.77.0.2 from 10.77.0.1") {
		t.Errorf("dhclient: %s", out)
	}
	l.daemon(l.relayed, "", "dhcrelay", "-4", "-d", "-a", "-m", "forward", "-id", "down0", "-iu", "up0", "10.77.9.1")
	if out, err := l.udhcpc(l.far); err != nil || !strings.Contains(out, "lease of 10.77.0.3 obtained from") {
		t.Errorf("udhcpc behind the relay: %v\n%s", err, out)
	}
	l.loads()
	l.policy(true)
	if out, err := l.udhcpc(l.client); err == nil {
		t.Errorf("a client that does not boot is answered: %s", out)
	}
}

// dhclient asks, with its files in the test's folder and a script that does nothing. It
// would stay for its lease, and is ended.
func (l *site) dhclient(ns string) string {
	file := func(name string) string { return filepath.Join(l.dir, name) }
	if err := os.WriteFile(file("dhclient.conf"), []byte("timeout 8;\n"), 0o600); err != nil {
		l.t.Fatal(err)
	}
	out, _ := l.try(ns, "timeout", "6", "dhclient", "-4", "-1", "-d", "-v", "-sf", "/bin/true", "-lf", file("leases"), "-pf", file("pid"), "-cf", file("dhclient.conf"), "eth0")
	return out
}

// loads fetches the first boot program from the reserved address, and from another.
func (l *site) loads() {
	l.in(l.client, "ip", "addr", "add", "10.77.0.2/24", "dev", "eth0")
	l.in(l.client, "ip", "addr", "add", "10.77.0.99/24", "dev", "eth0")
	want := "content of snponly.efi"
	for name, words := range map[string][]string{
		"curl over HTTP": {"curl", "-sS", "--interface", "10.77.0.2", "http://10.77.0.1:8080/efi-x64.efi"},
		"curl over TFTP": {"curl", "-sS", "--interface", "10.77.0.2", "tftp://10.77.0.1/efi-x64.efi"},
		"busybox wget":   {"busybox", "wget", "-q", "-O", "-", "http://10.77.0.1:8080/efi-x64.efi"},
		"busybox tftp":   {"busybox", "tftp", "-g", "-l", "/dev/stdout", "-r", "efi-x64.efi", "10.77.0.1"},
	} {
		if out, err := l.try(l.client, words...); err != nil || !strings.Contains(out, want) {
			l.t.Errorf("%s: %v %q", name, err, out)
		}
	}
	if out, err := l.try(l.client, "curl", "-sS", "-f", "--interface", "10.77.0.99", "http://10.77.0.1:8080/efi-x64.efi"); err == nil {
		l.t.Errorf("a stranger loads %q", out)
	}
}
