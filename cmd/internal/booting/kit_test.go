package booting

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
	"github.com/ingotmetal/ingot/booter/dhcp4"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/api"
)

var (
	noon    = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	network = netip.MustParsePrefix("10.78.0.0/24")
	us      = netip.MustParseAddr("10.78.0.1")
	quiet   = slog.New(slog.DiscardHandler)
)

// secretHash is a root password hash that must never be seen.
const secretHash = "$6$canary$0123456789abcdef"

// clock is a clock that stands still until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func place() Place {
	return Place{Name: "b1", Links: []booter.Link{{Name: "adm0", ServerID: us, Networks: []netip.Prefix{network}}}, ChainClass: "ingot",
		TFTP: us, HTTP: netip.AddrPortFrom(us, 8080), Loader: "ipxe", Session: "10.78.0.1:8444", SessionPin: "sha256/booter", Server: "plane:8443", ServerPin: "sha256/plane"}
}

// stage puts an image into a store; its files say their names.
func stage(t testing.TB, s *images.Store, m images.Manifest, names ...string) {
	t.Helper()
	sources := map[string]images.Source{}
	slices.Sort(names)
	for _, n := range names {
		m.Files = append(m.Files, images.File{Name: n})
		sources[n] = images.Source{Reader: strings.NewReader("this is " + m.Name + " " + n)}
	}
	if _, err := s.Stage(t.Context(), m, sources, nil); err != nil {
		t.Fatal(err)
	}
}

// staged is a store with first boot programs for BIOS and x64, and the images enroll,
// own and rescue; own has a disk image.
func staged(t testing.TB) *images.Store {
	t.Helper()
	s, err := images.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	stage(t, s, images.Manifest{Name: "ipxe", Boots: map[booter.Platform]images.Boots{booter.BIOS: {Loader: "undionly.kpxe"}, booter.X64: {Loader: "snponly.efi"}}}, "undionly.kpxe", "snponly.efi")
	for _, name := range []string{"enroll", "own", "rescue"} {
		m := images.Manifest{Name: name, Boots: map[booter.Platform]images.Boots{images.Any: {Kernel: "vmlinuz", Initrds: []string{"initrd"}, Args: "console=ttyS0"}}}
		files := []string{"vmlinuz", "initrd"}
		if name == "own" {
			m.Disk, files = "disk.img", append(files, "disk.img")
		}
		stage(t, s, m, files...)
	}
	return s
}

func policy() api.Policy {
	return api.Policy{AutoEnroll: true, Network: network.String(), Gateway: "10.78.0.254", Server: us.String(), EnrollmentImage: "enroll", RescueImage: "rescue", AnswerOnlyPXE: true}
}

func boot(mac, state, address string) api.ServedBoot {
	return api.ServedBoot{BootRecord: api.BootRecord{MAC: mac, State: state, Address: address}}
}

func with(b api.ServedBoot, change func(*api.ServedBoot)) api.ServedBoot {
	change(&b)
	return b
}

func snapshot(boots ...api.ServedBoot) api.BootSnapshot {
	return api.BootSnapshot{Incarnation: "i1", Revision: 7, Policy: policy(), Boots: boots}
}

// newDesk is a desk with records.
func newDesk(t testing.TB, p Place, now func() time.Time, boots ...api.ServedBoot) *Desk {
	t.Helper()
	d := NewDesk(p, staged(t), bootscript.NewKey([32]byte{7}), now)
	d.Change(func(*World) *World { return NewWorld(snapshot(boots...)) })
	return d
}

func still() time.Time { return noon }

func mac(text string) booter.MAC {
	m, ok := parseMAC(text)
	if !ok {
		panic(text)
	}
	return m
}

func opt(code byte, v ...byte) []byte { return append([]byte{code, byte(len(v))}, v...) }

var (
	pxe   = [][]byte{opt(60, []byte("PXEClient:Arch:00007:UNDI:003000")...), opt(93, 0, 7)}
	ipxed = append([][]byte{opt(77, []byte("iPXE")...)}, pxe...)
)

// message is a packet of a type from a client.
func message(from booter.MAC, kind byte, options ...[]byte) []byte {
	b := make([]byte, 240)
	b[0], b[1], b[2] = 1, 1, 6
	binary.BigEndian.PutUint32(b[4:], 7)
	copy(b[28:], from[:])
	copy(b[236:], []byte{99, 130, 83, 99})
	b = append(b, opt(53, kind)...)
	return append(append(b, bytes.Join(options, nil)...), 255)
}

// came is a packet as it comes in by the admin network.
func came(raw []byte) *dhcp4.Packet {
	p := &dhcp4.Packet{}
	p.Read(raw)
	p.Source, p.Interface = netip.MustParseAddrPort("0.0.0.0:68"), "adm0"
	return p
}

// captured are the packets of real clients, by label.
func captured(t testing.TB) (labels []string, packets map[string][]byte) {
	t.Helper()
	raw, err := os.ReadFile("../../../booter/dhcp4/testdata/packets.txt")
	if err != nil {
		t.Fatal(err)
	}
	packets = map[string][]byte{}
	label := ""
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if l, ok := strings.CutPrefix(line, "## "); ok {
			label = l
			labels = append(labels, l)
		} else if b, err := hex.DecodeString(line); err == nil && len(b) > 0 {
			packets[label] = b
		}
	}
	return labels, packets
}

// plane is a control plane that answers by the path of a request.
type plane struct {
	mu     sync.Mutex
	answer map[string]func(body []byte) (any, error)
	away   bool
	calls  map[string]int
	bodies map[string][]byte // the last one
}

func newPlane() *plane {
	return &plane{answer: map[string]func([]byte) (any, error){}, calls: map[string]int{}, bodies: map[string][]byte{}}
}

func (p *plane) on(path string, answer func(body []byte) (any, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer[path] = answer
}

func (p *plane) leave(away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = away
}

func (p *plane) count(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[path]
}

func (p *plane) last(path string) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bodies[path]
}

func (p *plane) client() *api.Client {
	return &api.Client{Base: "http://plane", HTTP: &http.Client{Transport: p}}
}

// RoundTrip answers as an api server does.
func (p *plane) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	path := r.URL.Path
	if r.Method == http.MethodGet {
		body = []byte(r.URL.RawQuery)
	}
	p.mu.Lock()
	p.calls[path]++
	p.bodies[path] = body
	answer, away := p.answer[path], p.away
	p.mu.Unlock()
	if away {
		return nil, io.ErrUnexpectedEOF
	}
	if answer == nil {
		<-r.Context().Done() // a poll that nothing ends
		return nil, r.Context().Err()
	}
	got, err := answer(body)
	w := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r, ProtoMajor: 1, ProtoMinor: 1}
	var text any = got
	if bad, ok := err.(*api.Problem); ok {
		w.StatusCode, text = bad.Status, bad
		w.Header.Set("Content-Type", "application/problem+json")
	} else if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return nil, err
	}
	w.Body, w.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	return w, nil
}

func newKey() bootscript.Key { return bootscript.NewKey([32]byte{7}) }

func hexOf(b []byte) string { return hex.EncodeToString(b) }
