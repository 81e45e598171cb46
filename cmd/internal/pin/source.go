package pin

import (
	"context"
	"crypto/tls"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

// recheck is how often files are looked at for a change, at most.
const recheck = time.Minute

// A Source holds the certificate that a server shows and takes up a new one when
// its files change, without a restart. It looks during a handshake, at most once a
// minute. Bad files are logged once, and the old certificate stays.
type Source struct {
	certificate, key string
	now              func() time.Time
	log              *slog.Logger
	renew            func() error // before each look; nil for files of somebody else

	mu      sync.Mutex
	shown   *tls.Certificate
	seen    [2]fs.FileInfo // what shown was read from
	checked time.Time
	failed  error
}

// Own is a source of files that somebody else writes: they must be good now.
func Own(certificate, key string, now func() time.Time, log *slog.Logger) (*Source, error) {
	return open(&Source{certificate: certificate, key: key, now: now, log: log})
}

// SelfSigned is a source of what m makes. It renews the certificate in time.
func SelfSigned(m Maker, log *slog.Logger) (*Source, error) {
	if err := m.Ensure(); err != nil {
		return nil, err
	}
	return open(&Source{certificate: m.CertificatePath(), key: m.KeyPath(), now: m.Now, log: log, renew: m.Ensure})
}

func open(s *Source) (*Source, error) {
	seen, err := s.stat()
	if err != nil {
		return nil, err
	}
	pair, err := loadPair(s.certificate, s.key)
	if err != nil {
		return nil, err
	}
	s.shown, s.seen, s.checked = pair, seen, s.now()
	return s, nil
}

// Pin is the pin of the key that is shown now.
func (s *Source) Pin() Pin { return Of(s.current().Leaf) }

// NotAfter is when the certificate that is shown now ends.
func (s *Source) NotAfter() time.Time { return s.current().Leaf.NotAfter }

// Err is why the newest files are not shown, or nil.
func (s *Source) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

func (s *Source) current() *tls.Certificate {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown
}

// Certificate is a Certificates. It never fails: a server with an old certificate
// is better than none.
func (s *Source) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.now(); now.Sub(s.checked) >= recheck || now.Before(s.checked) {
		s.checked = now
		s.look()
	}
	return s.shown, nil
}

// look takes up changed files, or says why not.
func (s *Source) look() {
	pair, err := s.changed()
	if err != nil {
		s.fail(err)
		return
	}
	s.failed = nil
	if pair == nil {
		return
	}
	s.shown = pair
	s.log.LogAttrs(context.Background(), slog.LevelInfo, "new certificate",
		slog.String("pin", Of(pair.Leaf).String()), slog.Time("not_after", pair.Leaf.NotAfter))
}

// changed returns the pair of files that have changed since they were last good,
// or nil when they have not.
func (s *Source) changed() (*tls.Certificate, error) {
	if s.renew != nil {
		if err := s.renew(); err != nil {
			return nil, err
		}
	}
	seen, err := s.stat()
	if err != nil || same(seen, s.seen) {
		return nil, err
	}
	pair, err := loadPair(s.certificate, s.key)
	if err == nil {
		s.seen = seen
	}
	return pair, err
}

// fail keeps the old certificate, and says so once for each cause.
func (s *Source) fail(err error) {
	if s.failed == nil || s.failed.Error() != err.Error() {
		s.log.LogAttrs(context.Background(), slog.LevelWarn, "the old certificate stays", slog.String("error", err.Error()))
	}
	s.failed = err
}

func (s *Source) stat() ([2]fs.FileInfo, error) {
	var out [2]fs.FileInfo
	for i, path := range []string{s.certificate, s.key} {
		fi, err := os.Stat(path)
		if err != nil {
			return out, &Unusable{path, "cannot be read", err}
		}
		out[i] = fi
	}
	return out, nil
}

// same reports whether no file was changed or replaced. The mode counts: it is
// part of what makes a key file good.
func same(a, b [2]fs.FileInfo) bool {
	for i := range a {
		if !os.SameFile(a[i], b[i]) || !a[i].ModTime().Equal(b[i].ModTime()) || a[i].Size() != b[i].Size() || a[i].Mode() != b[i].Mode() {
			return false
		}
	}
	return true
}
