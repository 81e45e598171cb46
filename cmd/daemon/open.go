package daemon

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/config"
	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/cmd/internal/pin"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/ingotmetal/ingot/cmd/internal/server/metrics"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/bolt"
	"github.com/ingotmetal/ingot/cmd/internal/store/postgres"
)

// Outside is what a main hands over: the means to reach out of the process.
type Outside struct {
	Now     func() time.Time
	Entropy io.Reader
	Log     *slog.Logger
	Listen  func(network, address string) (net.Listener, error)
	Dial    func(network, address string) (net.Conn, error)
	// Packet opens a socket for packets; a booter alone needs it.
	Packet func(ctx context.Context, network, address string) (net.PacketConn, error)
	// Drivers are those that speak to BMCs, by a dialer; ingotd alone uses them.
	Drivers func(Dialer) []Driver
	// DialBMC connects to BMCs, for ingotd itself or, of a booter, for ingotd.
	DialBMC Dialer
	// Lookup resolves the names of BMCs that a booter connects to.
	Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
	// Inherited are the sockets that the service manager holds for this process;
	// where there are any, those of the configuration are not opened. May be nil.
	Inherited func() ([]net.Listener, error)
}

// Site is a site's own things, opened: store, master secret, certificate. Close it
// last.
type Site struct {
	Store  Store
	Master Master
	Pin    string // of the key that the TCP listeners show
	tls    *pin.Source
	bolt   *bolt.Store // nil for another kind
}

// masterFile is where the site's master secret is kept, in the state folder.
const masterFile = "site.key"

// OpenSite opens what c names, and makes at the first start what is missing: the
// state folder, the master secret, the store, the key and certificate.
func OpenSite(ctx context.Context, c Config, out Outside) (*Site, error) {
	if err := os.MkdirAll(c.State, 0o700); err != nil {
		return nil, err
	}
	cert, err := certificate(c, out)
	if err != nil {
		return nil, err
	}
	s := &Site{tls: cert, Pin: cert.Pin().String()}
	if err := s.open(ctx, c, out); err != nil {
		return nil, err
	}
	if s.Master, err = s.loadMaster(ctx, c, out); err != nil {
		return nil, errors.Join(err, s.Store.Close())
	}
	s.report(out.Log)
	return s, nil
}

// open opens the store.
func (s *Site) open(ctx context.Context, c Config, out Outside) (err error) {
	if c.Store.Kind == config.PG {
		s.Store, err = openPostgres(ctx, c, out)
		return err
	}
	s.bolt, err = bolt.Open(c.Store.Path, bolt.Options{Name: c.Site, Mark: c.Store.Mark, Now: out.Now})
	s.Store = s.bolt
	return err
}

// report says what an operator should know of the disk.
func (s *Site) report(log *slog.Logger) {
	if s.bolt == nil {
		return
	}
	st := s.bolt.Stats()
	if st.Probe.Implausible {
		log.Warn("the disk keeps data faster than a disk can: a loss of power may undo what was acknowledged", "median", st.Probe.Median.String(), "next", "turn its volatile write cache off, or put store.mark on another disk")
	}
	if st.Mark == bolt.MarkMissing || st.Mark == bolt.MarkTorn {
		log.Warn("the mark of the store was "+string(st.Mark)+" and was made anew: whether its last commits are all there is unproven", "next", "compare ingot audit head with one that was kept elsewhere")
	}
}

// CertificateEnd is when the certificate of the TCP listeners ends.
func (s *Site) CertificateEnd() time.Time { return s.tls.NotAfter() }

// Close closes the store.
func (s *Site) Close() error { return s.Store.Close() }

// Backup copies the store; nil where its kind makes no copies of itself.
func (s *Site) Backup() func(context.Context, io.Writer) error {
	if s.bolt == nil {
		return nil
	}
	return func(ctx context.Context, w io.Writer) error {
		_, err := s.bolt.Backup(ctx, w)
		return err
	}
}

// Stats is the store's account of itself; nil where there is none.
func (s *Site) Stats() func() metrics.Store {
	if s.bolt == nil {
		return nil
	}
	return func() metrics.Store {
		st := s.bolt.Stats()
		return metrics.Store{FileBytes: st.FileSize, FreePages: int64(st.FreePages), OldestReader: st.OldestReader, Revision: uint64(s.revision()), Updates: st.Closures,
			Commits: metrics.Histogram{Bounds: st.Commit.Bounds, Counts: st.Commit.Counts, Count: st.Commit.Count, Sum: st.Commit.Sum}}
	}
}

// revision is the newest row's, 0 where the store does not answer.
func (s *Site) revision() (rev store.Rev) {
	_ = s.Store.View(context.Background(), func(r store.Reader) error { rev = store.Rev(r.Head().Revision); return nil })
	return rev
}

// loadMaster reads the master secret. It is made by the writer of a store that has no
// row yet, and never for another: what is sealed there would not open.
func (s *Site) loadMaster(ctx context.Context, c Config, out Outside) (Master, error) {
	path := filepath.Join(c.State, masterFile)
	m, err := secrets.Load(path)
	bad, ok := errors.AsType[*secrets.BadFile](err)
	if !ok || bad.Code() != "NOT_FOUND" {
		return m, err
	}
	fresh := false
	if err := s.Store.View(ctx, func(r store.Reader) error { fresh = r.Head().Revision == 0; return nil }); err != nil {
		return m, err
	}
	if !fresh || c.Store.Postgres.Reader {
		return m, &Refused{"INVALID_CONFIG", "the store has rows, and the master secret " + path + " is missing", "put it there from its own safe place: what is sealed in the store opens with it alone"}
	}
	return secrets.Create(path, out.Entropy)
}

// certificate is what the TCP listeners show.
func certificate(c Config, out Outside) (*pin.Source, error) {
	if c.TLS.Certificate != "" {
		return pin.Own(c.TLS.Certificate, c.TLS.Key, out.Now, out.Log)
	}
	return pin.SelfSigned(pin.Maker{Dir: c.State, Names: c.TLS.Names, Now: out.Now, Entropy: out.Entropy}, out.Log)
}

// Pin is the pin of the key that the TCP listeners show. At the first start there is
// none yet, and the key is made.
func Pin(c Config, out Outside) (string, error) {
	if err := os.MkdirAll(c.State, 0o700); err != nil {
		return "", err
	}
	cert, err := certificate(c, out)
	if err != nil {
		return "", err
	}
	return cert.Pin().String(), nil
}

// maxDSN bounds the file with a connection string, in bytes.
const maxDSN = 4096

func openPostgres(ctx context.Context, c Config, out Outside) (Store, error) {
	dsn, err := readDSN(c.Store.Postgres.DSNFile)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	opt := postgres.Options{DSN: dsn, Schema: c.Store.Postgres.Schema, Log: c.Site, Writer: host, Wait: true, Now: out.Now}
	if c.Store.Postgres.Reader {
		return postgres.OpenReplica(ctx, opt)
	}
	return postgres.Open(ctx, opt)
}

func readDSN(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	dsn, err := io.ReadAll(io.LimitReader(f, maxDSN))
	return strings.TrimSpace(string(dsn)), err
}

// Listen opens the listeners that c names, or takes those that the service manager
// holds.
func Listen(c Config, s *Site, out Outside) (all []Listener, err error) {
	if all, err := s.inherited(out); len(all) > 0 || err != nil {
		return all, err
	}
	defer func() {
		if err != nil {
			for _, l := range all {
				_ = l.Close()
			}
		}
	}()
	for _, address := range c.Listen.TCP {
		l, err := out.Listen("tcp", address)
		if err != nil {
			return all, err
		}
		all = append(all, Listener{Listener: l, TLS: pin.Server(s.tls.Certificate, out.Now)})
	}
	if c.Listen.Unix == config.None {
		return all, nil
	}
	l, err := serve.UnixSocket{Path: c.Listen.Unix, Mode: fs.FileMode(c.Listen.UnixMode), Listen: out.Listen, Dial: out.Dial}.Open()
	if err != nil {
		return all, err
	}
	return append(all, Listener{Listener: l}), nil
}

// inherited are the service manager's sockets: TLS on TCP, plain HTTP on a file.
func (s *Site) inherited(out Outside) (all []Listener, err error) {
	if out.Inherited == nil {
		return nil, nil
	}
	given, err := out.Inherited()
	if err != nil {
		return nil, err
	}
	tcp, unix, err := serve.Inherited(given)
	if err != nil {
		return nil, err
	}
	for _, l := range tcp {
		all = append(all, Listener{Listener: l, TLS: pin.Server(s.tls.Certificate, out.Now)})
	}
	for _, l := range unix {
		all = append(all, Listener{Listener: l})
	}
	return all, nil
}

// Credentials tells who is at the other end of a Unix socket (SO_PEERCRED).
func Credentials(c net.Conn) (uid uint32, pid int32, ok bool) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return 0, 0, false
	}
	p, err := operators.PeerOf(u)
	return p.UID, p.PID, err == nil
}

// OnHost reports whether a local caller has the rights of the control plane itself:
// root, or the user of this process (ID-8).
func OnHost(uid uint32) bool {
	return operators.Peer{UID: uid}.Host(uint32(os.Getuid()))
}
