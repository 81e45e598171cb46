package config

import (
	"errors"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The grammars of names.
var (
	siteName   = regexp.MustCompile(`^[a-z0-9-]{1,63}$`)
	tenantName = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)
	schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)
	recipient  = regexp.MustCompile(`^age1[a-z0-9-]{20,}$`)
	envPrefix  = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,62}_$`)
	hostName   = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,253}$`)
)

// Check reports every field of a filled Config that is out of its range, joined.
// It looks at no file: whether a path leads somewhere is found out by who opens it.
func (c Config) Check() error {
	var errs []error
	for _, e := range c.faults() {
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}

// A judge collects faults.
type judge struct{ faults []*Invalid }

func (j *judge) want(ok bool, path, what string) {
	if !ok {
		j.faults = append(j.faults, &Invalid{Path: path, What: what})
	}
}

func (c Config) faults() []*Invalid {
	j := &judge{}
	j.want(siteName.MatchString(c.Site), "site", "want 1-63 of a-z, 0-9 and the hyphen")
	j.want(tenantName.MatchString(c.Owner), "owner", "want 1-128 of A-Z, a-z, 0-9, '.', '_', ':' and '-'")
	j.path("state", c.State)
	j.store(c.Store)
	j.listen(c.Listen)
	j.tls(c.TLS)
	j.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	j.oneOf("log.format", c.Log.Format, "text", "json")
	j.want(c.Metrics.Address == "" || isAddress(c.Metrics.Address), "metrics.address", "want host:port, such as 127.0.0.1:9469")
	j.limits(c.Limits)
	j.retention(c.Retention)
	j.secrets(c.Secrets)
	for i, r := range c.Backup.Recipients {
		j.want(recipient.MatchString(r), item("backup.recipients", i), "want a public key of age, which begins with age1; a private key does not belong here")
	}
	for i, p := range c.TrustedProxies {
		j.want(p.IsValid() && p == p.Masked(), item("trusted_proxies", i), "want an address prefix with no bits set after its length, such as 10.0.0.0/8")
	}
	return j.faults
}

func item(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

func (j *judge) path(path, value string) {
	ok := filepath.IsAbs(value) && filepath.Clean(value) == value && !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f })
	j.want(ok, path, "want an absolute path without '..' or a slash at its end")
}

func (j *judge) oneOf(path, value string, of ...string) {
	j.want(slices.Contains(of, value), path, "want one of "+strings.Join(of, ", "))
}

func (j *judge) between(path string, value, lo, hi int) {
	j.want(lo <= value && value <= hi, path, "want "+strconv.Itoa(lo)+" to "+strconv.Itoa(hi))
}

func (j *judge) store(s Store) {
	j.oneOf("store.kind", s.Kind, Bolt, PG)
	j.path("store.mark", s.Mark)
	switch s.Kind {
	case Bolt:
		j.path("store.path", s.Path)
		j.want(s.Mark != s.Path, "store.mark", "want another file than store.path")
		j.want(s.Postgres == Postgres{}, "store.postgres", "is for store.kind postgres; take it out, or change the kind")
	case PG:
		j.want(s.Path == "", "store.path", "is for store.kind bolt; take it out, or change the kind")
		j.path("store.postgres.dsn_file", s.Postgres.DSNFile)
		j.want(schemaName.MatchString(s.Postgres.Schema), "store.postgres.schema", "want 1-63 of a-z, 0-9 and '_', not first a digit")
	}
}

func (j *judge) listen(l Listen) {
	for i, a := range l.TCP {
		j.want(isAddress(a), item("listen.tcp", i), "want host:port, such as :8443 or [2001:db8::1]:8443")
		j.want(!slices.Contains(l.TCP[:i], a), item("listen.tcp", i), "is given twice")
	}
	if l.Unix != None {
		j.path("listen.unix", l.Unix)
		j.want(len(l.Unix) <= 107, "listen.unix", "want at most 107 bytes: the kernel takes no longer path")
	}
	j.want(len(l.TCP) > 0 || l.Unix != None, "listen", "want at least one listener")
	j.want(l.UnixMode <= 0o777, "listen.unix_mode", "want a file mode in octal such as 0660")
}

// isAddress reports whether a is a host, perhaps empty, and a port.
func isAddress(a string) bool {
	host, port, err := net.SplitHostPort(a)
	n, perr := strconv.ParseUint(port, 10, 16)
	return err == nil && perr == nil && port == strconv.FormatUint(n, 10) && (host == "" || hostName.MatchString(host))
}

func (j *judge) tls(t TLS) {
	j.want((t.Certificate == "") == (t.Key == ""), "tls", "want both certificate and key, or neither")
	if t.Certificate != "" {
		j.path("tls.certificate", t.Certificate)
		j.want(len(t.Names) == 0, "tls.names", "is for the self-signed certificate; your own names its hosts itself")
	}
	if t.Key != "" {
		j.path("tls.key", t.Key)
	}
	for i, n := range t.Names {
		j.want(hostName.MatchString(n), item("tls.names", i), "want a host name or an address")
	}
}

func (j *judge) limits(l Limits) {
	j.between("limits.connections", l.Connections, 16, 1_000_000)
	j.between("limits.per_source", l.PerSource, 1, 1_000_000)
	j.between("limits.streams", l.Streams, 1, 1000)
	j.between("limits.body", l.Body, 1<<10, 64<<20)
	j.want(l.PerSource <= l.Connections, "limits.per_source", "want at most limits.connections")
}

func (j *judge) retention(r Retention) {
	j.want(r.Age >= Duration(time.Hour), "retention.age", "want at least 1h")
	j.between("retention.rows", r.Rows, 1, 1_000_000_000)
	j.path("retention.segments", r.Segments)
}

func (j *judge) secrets(s Secrets) {
	for i, root := range s.Roots {
		j.path(item("secrets.roots", i), root)
		j.want(root != "/", item("secrets.roots", i), "want a folder of secrets alone, not the whole host")
		j.want(!slices.Contains(s.Roots[:i], root), item("secrets.roots", i), "is given twice")
	}
	j.want(envPrefix.MatchString(s.EnvPrefix), "secrets.env_prefix", "want 2-64 of A-Z, 0-9 and '_', first a letter, last '_'")
	if s.Store == None {
		j.want(s.Identity == "", "secrets.identity_file", "is for secrets.store; take it out, or name a store")
		return
	}
	j.path("secrets.store", s.Store)
	j.path("secrets.identity_file", s.Identity)
	j.want(s.Store != s.Identity, "secrets.identity_file", "want another file than secrets.store")
}
