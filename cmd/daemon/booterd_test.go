package daemon_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/config"
)

// The admin network of the tests is a piece of loopback, on which a process may take
// any address.
var (
	lab       = netip.MustParsePrefix("127.77.0.0/24")
	labBooter = netip.MustParseAddr("127.77.0.1")
)

// A laboratory is a control plane and a booter, with real sockets on loopback.
type laboratory struct {
	t       *testing.T
	dir     string
	admin   *api.Client // the host's: operators alone
	client  *api.Client // an operator's
	booter  *daemon.Boothouse
	dhcp    netip.AddrPort
	config  daemon.BooterConfig
	stop    func()
	staging *images.Store
}

// newLaboratory starts both.
func newLaboratory(t *testing.T) *laboratory {
	l := &laboratory{t: t, dir: t.TempDir()}
	c := config.Default()
	c.Site, c.State, c.Listen.TCP, c.Listen.Unix = "lab", filepath.Join(l.dir, "ingotd"), []string{"127.0.0.1:0"}, filepath.Join(l.dir, "i.sock")
	c.Store.Path, c.Store.Mark = filepath.Join(c.State, "site.db"), filepath.Join(c.State, "site.mark")
	stop, admin, address, pin := startedOn(t, c)
	t.Cleanup(stop)
	l.admin = admin
	l.client = l.operator()
	l.policy()
	l.stage()
	l.config = config.Booter{Name: "b1", State: filepath.Join(l.dir, "booterd"), Address: labBooter, Images: filepath.Join(l.dir, "images"),
		Server: config.Server{Address: address, Pin: pin, BooterKey: l.key("booter"), EnrollKey: l.key("ur_enroll")},
		Listen: config.BooterListen{DHCP: "127.77.0.1:0", PXE: config.None, TFTP: "127.77.0.1:0", HTTP: "127.77.0.1:0", Session: "127.77.0.1:0", Unix: filepath.Join(l.dir, "b.sock")}}.Filled()
	l.start()
	return l
}

// operator is a session of an operator with all rights.
func (l *laboratory) operator() *api.Client {
	addOperator(l.t, l.admin, "ada")
	in := api.OpenSession{}
	in.Body.Operator, in.Body.Password = "ada", "correct horse battery"
	got, err := api.SessionOpen.Call(l.t.Context(), l.admin, &in)
	if err != nil {
		l.t.Fatal(err)
	}
	c := *l.admin
	c.Credential = api.Bearer(func() string { return got.Token.Show() })
	return &c
}

// key mints an API key of a scope, and writes it into a file.
func (l *laboratory) key(scope string) string {
	in := api.MintKey{}
	in.Body.Scope = scope
	got, err := api.KeyMint.Call(l.t.Context(), l.client, &in)
	if err != nil {
		l.t.Fatal(err)
	}
	path := filepath.Join(l.dir, scope+".key")
	if err := os.WriteFile(path, []byte(got.Secret.Show()+"\n"), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return path
}

func (l *laboratory) policy() {
	in := api.SetPolicy{}
	in.Body = api.Policy{AutoEnroll: true, Network: lab.String(), Gateway: "127.77.0.254", Server: labBooter.String(), EnrollmentImage: "enroll", AnswerOnlyPXE: true}
	if _, err := api.PolicySet.Call(l.t.Context(), l.client, &in); err != nil {
		l.t.Fatal(err)
	}
}

// stage makes the images that the site needs.
func (l *laboratory) stage() {
	var err error
	if l.staging, err = images.Create(filepath.Join(l.dir, "images")); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = l.staging.Close() })
	put := func(m images.Manifest, content map[string]string) {
		sources := map[string]images.Source{}
		for _, name := range slices.Sorted(maps.Keys(content)) {
			text := content[name]
			m.Files = append(m.Files, images.File{Name: name})
			sources[name] = images.Source{Reader: strings.NewReader(text)}
		}
		if _, err := l.staging.Stage(l.t.Context(), m, sources, nil); err != nil {
			l.t.Fatal(err)
		}
	}
	put(images.Manifest{Name: "ipxe", Boots: map[booter.Platform]images.Boots{booter.BIOS: {Loader: "undionly.kpxe"}, booter.X64: {Loader: "snponly.efi"}}},
		map[string]string{"undionly.kpxe": "a loader for BIOS", "snponly.efi": "a loader for UEFI"})
	put(images.Manifest{Name: "enroll", Boots: map[booter.Platform]images.Boots{images.Any: {Kernel: "vmlinuz", Initrds: []string{"initrd"}, Args: "console=ttyS0"}}},
		map[string]string{"vmlinuz": "a kernel", "initrd": "a ramdisk"})
}

// start runs the booter.
func (l *laboratory) start() {
	out := outside()
	out.Packet = func(ctx context.Context, network, address string) (net.PacketConn, error) {
		return (&net.ListenConfig{}).ListenPacket(ctx, network, address)
	}
	links := []booter.Link{{Name: "lo", ServerID: labBooter, Networks: []netip.Prefix{lab}}}
	h, err := daemon.OpenBooter(l.t.Context(), l.config, links, out)
	if err != nil {
		l.t.Fatal(err)
	}
	l.booter, l.dhcp = h, h.Address()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	l.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			l.t.Errorf("booterd: %v", err)
		}
		if err := h.Close(); err != nil {
			l.t.Error(err)
		}
	})
	l.t.Cleanup(l.stop)
}

// A netClient is a machine's firmware: it asks for an address as the relay that it
// also is (RFC 8357), so that its packets come the way of production.
type netClient struct {
	t    *testing.T
	mac  booter.MAC
	conn *net.UDPConn
}

func (l *laboratory) machine(n byte) *netClient {
	conn, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 77, 1, n)}, net.UDPAddrFromAddrPort(l.dhcp))
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = conn.Close() })
	return &netClient{l.t, booter.MAC{0x52, 0x54, 0, 0, 0, n}, conn}
}

func opt(code byte, v ...byte) []byte { return append([]byte{code, byte(len(v))}, v...) }

// send sends a message of a type.
func (c *netClient) send(kind byte, options ...[]byte) {
	b := make([]byte, 240)
	b[0], b[1], b[2], b[3] = 1, 1, 6, 1
	binary.BigEndian.PutUint32(b[4:], 7)
	at := c.conn.LocalAddr().(*net.UDPAddr).IP.To4()
	copy(b[24:], at)
	copy(b[28:], c.mac[:])
	copy(b[236:], []byte{99, 130, 83, 99})
	b = append(b, opt(53, kind)...)
	b = append(b, bytes.Join(options, nil)...)
	b = append(b, opt(82, 5, 4, 127, 77, 0, 0, 19, 0)...)
	if _, err := c.conn.Write(append(b, 255)); err != nil {
		c.t.Fatal(err)
	}
}

// hear is the next reply, nil where none comes in time.
func (c *netClient) hear(wait time.Duration) []byte {
	_ = c.conn.SetReadDeadline(time.Now().Add(wait))
	buf := make([]byte, 1500)
	n, err := c.conn.Read(buf)
	if err != nil {
		return nil
	}
	return buf[:n]
}

// ask sends until it is answered, as firmware does.
func (c *netClient) ask(kind byte, options ...[]byte) []byte {
	c.t.Helper()
	for range 60 {
		c.send(kind, options...)
		if r := c.hear(500 * time.Millisecond); r != nil {
			return r
		}
	}
	c.t.Fatalf("%s is not answered", c.mac)
	return nil
}

// value is an option of a reply.
func value(reply []byte, code byte) []byte {
	for b := reply[240:]; len(b) > 1 && b[0] != 255; {
		if b[0] == 0 {
			b = b[1:]
			continue
		}
		if b[0] == code {
			return b[2 : 2+int(b[1])]
		}
		b = b[2+int(b[1]):]
	}
	return nil
}

var (
	pxe   = [][]byte{append([]byte{60, 32}, "PXEClient:Arch:00007:UNDI:003000"...), opt(93, 0, 7)}
	ipxed = append([][]byte{append([]byte{77, 4}, "iPXE"...)}, pxe...)
)

// boot goes the way of firmware up to a file by HTTP, and returns the address.
func (c *netClient) boot() (netip.Addr, string) {
	c.t.Helper()
	offer := c.ask(1, ipxed...)
	server, at := value(offer, 54), offer[16:20]
	ack := c.ask(3, append(ipxed, opt(54, server...), opt(50, at...))...)
	if ack[242] != 5 {
		c.t.Errorf("no ACK: %x", ack)
	}
	return netip.AddrFrom4([4]byte(at)), string(value(ack, 67))
}

// A machine that nobody knows is seen, admitted, offered the lowest address, and led
// to its script and the files of the enrollment image; a stranger gets nothing.
func TestBooterServesAnEnrollingMachine(t *testing.T) {
	l := newLaboratory(t)
	m := l.machine(9)
	address, url := m.boot()
	if address != netip.MustParseAddr("127.77.0.2") {
		t.Errorf("the address is %s, not the lowest that is free", address)
	}
	script := fetch(t, address, url)
	for _, want := range []string{"#!ipxe", "console=ttyS0", "ingot.mac=52:54:00:00:00:09", "ingot.address=127.77.0.2/24", "ingot.pin=" + l.config.Server.Pin} {
		if !strings.Contains(script, want) {
			t.Errorf("no %q in\n%s", want, script)
		}
	}
	for line := range strings.Lines(script) {
		if rest, ok := strings.CutPrefix(line, "initrd --name initrd0 "); ok {
			if got := fetch(t, address, strings.Fields(rest)[0]); got != "a ramdisk" {
				t.Errorf("the ramdisk is %q", got)
			}
		}
	}
	if got := fetch(t, netip.MustParseAddr("127.77.0.99"), "http://"+l.booter.HTTP.Addr().String()+"/boot.ipxe"); got != "" {
		t.Errorf("a stranger is served %q", got)
	}
	plain := l.machine(10)
	plain.send(1)
	if r := plain.hear(300 * time.Millisecond); r != nil {
		t.Errorf("a client that does not boot is answered: %x", r)
	}
}

// fetch gets a URL from an address, "" where it is refused.
func fetch(t *testing.T, from netip.Addr, url string) string {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from.AsSlice()}}
	c := &http.Client{Transport: &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true}}
	res, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		return ""
	}
	return string(body)
}

// A booter that starts while the control plane does not answer serves what it knew.
func TestBooterServesAlone(t *testing.T) {
	l := newLaboratory(t)
	m := l.machine(9)
	first, _ := m.boot()
	l.stop()
	l.config.Server.Address = "127.0.0.1:1" // nobody is there
	l.start()
	again := l.machine(11)
	again.mac = m.mac
	if address, url := again.boot(); address != first || fetch(t, address, url) == "" {
		t.Errorf("%s, then %s", first, address)
	}
}
