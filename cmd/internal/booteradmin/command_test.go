package booteradmin

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/program"
	"github.com/ingotmetal/ingot/identity/keys"
)

// output is what a program writes, read while it runs.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// host is a host on which booterd is run.
type host struct {
	t    *testing.T
	dir  string
	file string
	World
	out, err *output
}

// newHost has a good configuration on loopback, and keys.
func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{t: t, dir: t.TempDir(), out: &output{}, err: &output{}}
	h.file = filepath.Join(h.dir, "booterd.yaml")
	for _, name := range []string{"b.key", "e.key"} {
		write(t, filepath.Join(h.dir, name), mint(t)+"\n")
	}
	h.configure("")
	packet := func(ctx context.Context, network, address string) (net.PacketConn, error) {
		return (&net.ListenConfig{}).ListenPacket(ctx, network, address)
	}
	h.World = World{Outside: daemon.Outside{Now: time.Now, Entropy: rand.Reader, Listen: net.Listen, Dial: net.Dial, Packet: packet},
		Links: daemon.Links, Addresses: net.InterfaceAddrs, System: func() daemon.System { return daemon.System{} }, Out: h.out, Err: h.err}
	return h
}

// mint is a new API key.
func mint(t *testing.T) string {
	t.Helper()
	var entropy [keys.SecretSize]byte
	_, _ = rand.Read(entropy[:])
	s, err := keys.NewSecret(keys.APIKey, entropy)
	if err != nil {
		t.Fatal(err)
	}
	return s.Show()
}

// configure writes the file; otherwise is what is said more, or "this|that": instead.
func (h *host) configure(otherwise string) {
	text := strings.ReplaceAll(template, "DIR", h.dir)
	if from, to, ok := strings.Cut(otherwise, "|"); ok {
		text = strings.Replace(text, from, to, 1)
	} else {
		text += otherwise
	}
	write(h.t, h.file, text)
}

const template = `
name: b1
state: DIR/state
address: 127.77.8.2
server: {address: "127.0.0.1:1", pin: sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=, booter_key_file: DIR/b.key, enroll_key_file: DIR/e.key}
listen: {dhcp: "127.77.8.2:0", pxe: "127.77.8.2:0", tftp: "127.77.8.2:0", http: "127.77.8.2:0", session: "127.77.8.2:0", unix: DIR/b.sock}
`

// run runs booterd.
func (h *host) run(ctx context.Context, args ...string) (int, string) {
	cmd := Command(h.World)
	cmd.SetArgs(append(args, "-c", h.file))
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return 0, ""
	}
	return program.ExitCode(err), err.Error()
}

func TestConfig(t *testing.T) {
	h := newHost(t)
	if code, err := h.run(t.Context(), "config", "check"); code != 0 || !strings.Contains(h.out.String(), "is good") {
		t.Errorf("%d %s", code, err)
	}
	if code, err := h.run(t.Context(), "config", "show"); code != 0 || !strings.Contains(h.out.String(), "loader: ipxe") {
		t.Errorf("%d %s %s", code, err, h.out)
	}
	if code, err := h.run(t.Context(), "config", "check", "--json"); code != 0 || !strings.Contains(h.out.String(), `"status": "good"`) {
		t.Errorf("%d %s", code, err)
	}
	h.configure("loader: ../x\ndhcp: {dns: [x]}\n")
	if code, err := h.run(t.Context(), "config", "check"); code != 6 || strings.Count(err, "\n") != 0 || !strings.Contains(err, "dhcp.dns[0]") {
		t.Errorf("%d %s", code, err)
	}
	for _, args := range [][]string{{"config", "check", "a", "b"}, {"serve", "x"}, {"pin", "--wat"}, {"wat"}} {
		if code, err := h.run(t.Context(), args...); code == 0 || code == 6 {
			t.Errorf("%q: %d %s", args, code, err)
		}
	}
	h.file = filepath.Join(h.dir, "none.yaml")
	for _, verb := range []string{"serve", "pin"} {
		if code, err := h.run(t.Context(), verb); code != 6 || !strings.Contains(err, "cannot be read") {
			t.Errorf("%s without a file: %d %s", verb, code, err)
		}
	}
}

// The pin is made once, and its key is its owner's alone.
func TestPin(t *testing.T) {
	h := newHost(t)
	for range 2 {
		if code, err := h.run(t.Context(), "pin"); code != 0 {
			t.Fatalf("%d %s", code, err)
		}
	}
	pins := strings.Fields(h.out.String())
	if len(pins) != 2 || pins[0] != pins[1] || !strings.HasPrefix(pins[0], "sha256/") {
		t.Errorf("%q", pins)
	}
	_ = filepath.Walk(filepath.Join(h.dir, "state"), func(path string, fi os.FileInfo, err error) error {
		if err != nil || fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", path, fi.Mode(), err)
		}
		return nil
	})
}

// What keeps booterd from starting is said with what to do about it.
func TestErrorsSayWhatToDo(t *testing.T) {
	refuse := func(errno syscall.Errno) func(h *host) {
		return func(h *host) {
			h.Packet = func(_ context.Context, network, address string) (net.PacketConn, error) {
				at, err := net.ResolveUDPAddr(network, address)
				if err != nil {
					return nil, err
				}
				return nil, &net.OpError{Op: "listen", Net: network, Addr: at, Err: os.NewSyscallError("bind", errno)}
			}
		}
	}
	for name, c := range map[string]struct {
		change func(h *host)
		config string
		code   int
		wants  string
	}{
		"port 67 without the right": {refuse(syscall.EACCES), `dhcp: "127.77.8.2:0"|dhcp: ":67"`, 4, "CAP_NET_BIND_SERVICE"},
		"another port, refused":     {refuse(syscall.EACCES), `dhcp: "127.77.8.2:0"|dhcp: ":6767"`, 1, "permission denied"},
		"an address of nobody's":    {nil, `tftp: "127.77.8.2:0"|tftp: "203.0.113.77:0"`, 6, "ip -brief address"},
		"a port in use":             {refuse(syscall.EADDRINUSE), "", 5, "ss -lntup"},
		"no such interface":         {nil, "interfaces: [nowhere0]\n", 6, "name interfaces of this host"},
		"a key that others read":    {func(h *host) { _ = os.Chmod(filepath.Join(h.dir, "e.key"), 0o640) }, "", 6, "chmod 600"},
		"a key that is none":        {func(h *host) { write(t, filepath.Join(h.dir, "b.key"), "canary") }, "", 4, "b.key"},
		"a key file that is not":    {func(h *host) { _ = os.Remove(filepath.Join(h.dir, "b.key")) }, "", 1, "b.key"},
		"metrics in use":            {nil, "metrics: \"203.0.113.77:9\"\n", 6, "ip -brief address"},
	} {
		h := newHost(t)
		h.configure(c.config)
		if c.change != nil {
			c.change(h)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		code, err := h.run(ctx, "serve")
		cancel()
		if code != c.code || !strings.Contains(err, c.wants) || strings.Contains(err, "canary") {
			t.Errorf("%s: %d %s", name, code, err)
		}
		if _, err := os.Lstat(filepath.Join(h.dir, "b.sock")); err == nil {
			t.Errorf("%s: a socket was left", name)
		}
	}
}

// booterd serves without its control plane, says where and under which pin, and what
// may keep machines from it; then it ends as it was told.
func TestServe(t *testing.T) {
	h := newHost(t)
	h.configure("metrics: \"127.77.8.2:0\"\n")
	addresses := make(chan string, 8)
	h.Listen = func(network, address string) (net.Listener, error) {
		l, err := net.Listen(network, address)
		if err == nil && network == "tcp" {
			addresses <- l.Addr().String()
		}
		return l, err
	}
	h.Addresses = func() ([]net.Addr, error) { return nil, nil }
	h.configure("address: 127.77.8.2|address: 192.0.2.99")
	write(t, h.file, strings.TrimSpace(read(t, h.file))+"\nmetrics: \"127.77.8.2:0\"\n")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan string, 1)
	go func() { _, err := h.run(ctx, "serve"); ended <- err }()
	<-addresses // HTTP
	<-addresses // sessions
	metrics := <-addresses
	res, err := http.Get("http://" + metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if !bytes.Contains(body, []byte("ingot_booter_records 0")) {
		t.Errorf("%s", body)
	}
	if _, err := os.Lstat(filepath.Join(h.dir, "b.sock")); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err != "" {
		t.Errorf("it ended with %s", err)
	}
	log := h.err.String()
	for _, want := range []string{"machines are served", "pin=", "no interface is named", "does not have the address", "127.77.8.2:"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log never says %q:\n%s", want, log)
		}
	}
	if strings.Contains(log, strings.TrimSpace(read(t, filepath.Join(h.dir, "b.key")))) {
		t.Error("a key is in the log")
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// An error of the system that nobody foresaw is left as it is.
func TestAdviceIsGivenWhereThereIsSome(t *testing.T) {
	err := errors.New("something else")
	if advise(err) != err {
		t.Errorf("%v", advise(err))
	}
	h := newHost(t)
	h.Links = func([]string) ([]booter.Link, error) { return nil, err }
	if code, text := h.run(t.Context(), "serve"); code != 1 || text != "something else" {
		t.Errorf("%d %s", code, text)
	}
}
