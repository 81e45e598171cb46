package redfish_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
	"github.com/ingotmetal/ingot/bmc/bmcsim/trees"
	"github.com/ingotmetal/ingot/bmc/redfish"
	"github.com/ingotmetal/ingot/bmc/wire"
)

// Trees that many tests use.
const (
	dell       = "dell-r750-idrac9-6.00"
	dellDPU    = "dell-r750-idrac9-7.10-dpu"
	ilo        = "hpe-dl380agen11-ilo6-1.66"
	xcc        = "lenovo-sr670v2-xcc-2.83"
	supermicro = "supermicro-821ge-11.01"
	openbmc    = "openbmc-stock-2.15-off"
	gb200      = "nvidia-gb200-openbmc"
	dgx        = "nvidia-dgxh100-ami"
	cray       = "hpe-cray-ex420-2node"
	gigabyte   = "gigabyte-h262-ami-12.84"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A vault is a source of credentials that can be changed.
type vault struct {
	mu    sync.Mutex
	c     bmc.Credentials
	asked int
}

func (v *vault) Credentials(context.Context) (bmc.Credentials, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked++
	return v.c, nil
}

func (v *vault) set(password, version string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.c.Password, v.c.Version = bmc.Keep(password), version
}

// lines are connections in memory, so that a test can run in a bubble of
// synctest.
type lines struct {
	calls chan net.Conn
	ended chan struct{}
	once  sync.Once
	mu    sync.Mutex
	to    map[string]bool
}

func newLines() *lines {
	return &lines{calls: make(chan net.Conn), ended: make(chan struct{}), to: map[string]bool{}}
}

// dialled are the addresses that were asked for.
func (l *lines) dialled() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.to))
}

func (l *lines) dial(ctx context.Context, _, address string) (net.Conn, error) {
	l.mu.Lock()
	l.to[address] = true
	l.mu.Unlock()
	here, there := net.Pipe()
	select {
	case l.calls <- there:
		return here, nil
	case <-l.ended:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *lines) Accept() (net.Conn, error) {
	select {
	case c := <-l.calls:
		return c, nil
	case <-l.ended:
		return nil, net.ErrClosed
	}
}

func (l *lines) Close() error   { l.once.Do(func() { close(l.ended) }); return nil }
func (l *lines) Addr() net.Addr { return &net.TCPAddr{} }

// A rig is a simulated BMC and how to reach it.
type rig struct {
	*bmcsim.BMC
	t     testing.TB
	end   bmc.Endpoint
	vault *vault
	lines *lines
	gate  bmc.Gate
}

// newRig serves a tree over plain http.
func newRig(t testing.TB, tree string, o bmcsim.Options) *rig {
	t.Helper()
	raw, err := trees.Read(tree)
	must(t, err)
	return serve(t, tree, raw, o)
}

func serve(t testing.TB, name string, raw []byte, o bmcsim.Options) *rig {
	t.Helper()
	tree, err := bmcsim.ParseTree(name, bytes.NewReader(raw))
	must(t, err)
	if o.LogSize == 0 {
		o.LogSize = 4096
	}
	b, err := bmcsim.New(tree, o)
	must(t, err)
	lines := newLines()
	srv := &http.Server{Handler: b, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(lines) }()
	t.Cleanup(func() {
		must(t, srv.Close())
		<-done
		must(t, b.Close())
	})
	v := &vault{c: bmc.Credentials{Username: bmcsim.DefaultUser, Password: bmc.Keep(bmcsim.DefaultPassword), Version: "1"}}
	if o.Auth.User != "" {
		v.c.Username = o.Auth.User
	}
	return &rig{b, t, bmc.Endpoint{URL: "http://bmc.test", Trust: bmc.Trust{Insecure: true}}, v, lines, nil}
}

func (r *rig) driver() redfish.Driver {
	return redfish.Driver{Wire: wire.Options{Dial: r.lines.dial, Body: 512 << 10}}
}

func (r *rig) tryOpen() (bmc.Session, error) {
	return r.driver().Open(r.t.Context(), r.end, bmc.Access{Credentials: r.vault, Gate: r.gate})
}

// open opens a session and closes it when the test ends.
func (r *rig) open() *redfish.Session {
	r.t.Helper()
	s, err := r.tryOpen()
	must(r.t, err)
	r.t.Cleanup(func() { must(r.t, s.Close(context.Background())) })
	return s.(*redfish.Session)
}

// system is open with a selector.
func (r *rig) system(selector string) *redfish.Session {
	r.end.System = selector
	return r.open()
}

// count is how many requests of a method came for paths with a suffix.
func (r *rig) count(method, suffix string) int {
	n := 0
	for _, q := range r.Log() {
		if q.Method == method && strings.HasSuffix(strings.TrimRight(q.Path, "/"), suffix) {
			n++
		}
	}
	return n
}

// wantKind demands an error of a kind, and returns it.
func wantKind(t testing.TB, err error, kind bmc.Kind) *bmc.Error {
	t.Helper()
	e, ok := errors.AsType[*bmc.Error](err)
	if !ok || e.Kind != kind {
		t.Fatalf("got %v, want %s", err, kind)
	}
	return e
}

// An expected is what EXPECTED.json says of a tree.
type expected struct {
	Systems []struct {
		URI, PowerState, UUID, SerialNumber, SKU string
		ResetTypes, BootTargets                  []string
		SettingsURI                              string
		EthernetInterfaces, InvalidMACs          int
		DistinctMACs, AdapterMACs                []string
	}
	Managers     []struct{ URI, FirmwareVersion string }
	VirtualMedia []struct {
		URI        string
		MediaTypes []string
		Insert     string
	}
}

// oracle reads what a script, which is no driver, found in the trees.
func oracle(t testing.TB) map[string]expected {
	t.Helper()
	raw, err := os.ReadFile("../bmcsim/trees/testdata/EXPECTED.json")
	must(t, err)
	var all map[string]json.RawMessage
	must(t, json.Unmarshal(raw, &all))
	out := map[string]expected{}
	for name, one := range all {
		var e expected
		if name != "_meta" {
			must(t, json.Unmarshal(one, &e))
			out[name] = e
		}
	}
	return out
}

// A report is what a public report says a BMC does, and what the driver must do.
type report struct {
	name  string // repository and number
	quirk string // of bmcsim
	tree  string // default: an R750
	check func(t *testing.T, r *rig)
}

// run checks reports, each in a bubble.
func run(t *testing.T, list []report) {
	for _, one := range list {
		t.Run(one.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, err := bmcsim.FindQuirk(one.quirk)
				must(t, err)
				tree := one.tree
				if tree == "" {
					tree = q.Tree
				}
				if tree == "" {
					tree = dell
				}
				one.check(t, newRig(t, tree, bmcsim.Options{}.With(q)))
			})
		})
	}
}

// drive runs a verb's course to its end, as package machine does.
func drive(t *testing.T, s *redfish.Session, v bmc.Verb) (bmc.Result, error) {
	t.Helper()
	p, err := s.Probe(t.Context())
	must(t, err)
	c, err := bmc.Begin(v, &p, bmc.Patience{}, time.Now())
	if err != nil {
		return bmc.Result{}, err
	}
	for {
		m := c.Next()
		time.Sleep(time.Until(m.At))
		switch m.Do {
		case bmc.MoveDone:
			return c.Result()
		case bmc.MoveSend:
			receipt, err := s.SendPower(t.Context(), m.Send)
			c.Answered(receipt, err, time.Now())
		case bmc.MoveRead:
			o, err := s.ReadPower(t.Context())
			if err != nil {
				c.Blind(err, time.Now())
				continue
			}
			c.Saw(o, time.Now())
		}
	}
}

// sent are the ResetTypes of a result, in order.
func sent(r bmc.Result) string {
	var out []string
	for _, one := range r.Sent {
		out = append(out, one.As)
	}
	return strings.Join(out, " ")
}

// testNames are the string literals of this package's tests, with the names of
// their functions.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	must(t, err)
	out := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		must(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					out[s] = true
				}
			case *ast.FuncDecl:
				out[n.Name.Name] = true
			}
			return true
		})
	}
	return out
}
