package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Options say how a store is opened. A zero field takes its default.
type Options struct {
	// DSN is how to reach the server, as a postgres URL or as libpq's key=value
	// words. It may name several hosts: the writer goes to the primary, a Replica
	// to the first that answers. It holds no password: name a passfile, or use a
	// certificate or the socket's peer.
	DSN  string
	Dial func(ctx context.Context, network, address string) (net.Conn, error) // default: TCP or a Unix socket
	// Log is the log's name, the site's ID. A schema made under another is refused.
	Log    string
	Schema string // that all of it lives in; default "ingot"
	// Writer is who this process is, such as its host's name: others are told it.
	Writer string
	// Wait has Open wait until no other process writes, rather than refuse.
	Wait bool

	// Lease is after how long of silence the server takes the writer for gone.
	// Default 10s, at least 100ms. The writer is heard of at least thrice as often.
	Lease   time.Duration
	Timeout time.Duration // of each statement and of waiting for a row's lock; default 10s
	Poll    time.Duration // how often a Replica looks for news; default 200ms
	// Cache is how many bytes of rows the writer keeps in memory; default 256 MiB.
	Cache int
	Conns int              // connections for views; default 8
	Now   func() time.Time // bounds views; default time.Now
	// Unsafe takes a server that loses what it acknowledged. It is for tests.
	Unsafe bool
}

// settings are Options that were checked.
type settings struct {
	Options
	pool *pgxpool.Config
	sql  statements
}

var (
	schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)
	password   = regexp.MustCompile(`(?i)password\s*=`) // sslpassword too
)

// settle checks the options and fills in the defaults.
func (o Options) settle() (settings, error) {
	o.Schema = cmp.Or(o.Schema, "ingot")
	o.Lease = cmp.Or(o.Lease, 10*time.Second)
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	o.Poll = cmp.Or(o.Poll, 200*time.Millisecond)
	o.Cache = cmp.Or(o.Cache, 256<<20)
	o.Conns = cmp.Or(o.Conns, 8)
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := o.invalid(); err != nil {
		return settings{}, &Invalid{err}
	}
	pool, err := pgxpool.ParseConfig(o.DSN)
	if err != nil {
		return settings{}, &Invalid{err}
	}
	if o.Dial != nil {
		pool.ConnConfig.DialFunc = o.Dial
	}
	pool.ConnConfig.ConnectTimeout = cmp.Or(pool.ConnConfig.ConnectTimeout, o.Timeout)
	pool.MaxConns = int32(o.Conns)
	return settings{o, pool, statementsFor(o.Schema)}, nil
}

// invalid is every field that is out of range.
func (o Options) invalid() error {
	var errs []error
	add := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	add(!schemaName.MatchString(o.Schema), "the schema %q is not a plain lower-case name", o.Schema)
	add(holdsPassword(o.DSN), "the DSN holds a password, which a DSN shows to anyone; name a passfile")
	add(!printable(o.Writer) || len(o.Writer) > 200, "Writer %q is not at most 200 bytes of printable ASCII", o.Writer)
	add(!printable(o.Log) || len(o.Log) > 200, "Log %q is not at most 200 bytes of printable ASCII", o.Log)
	add(o.Lease < 100*time.Millisecond, "Lease is %s, want at least 100ms", o.Lease)
	add(o.Timeout < time.Millisecond, "Timeout is %s, want at least 1ms", o.Timeout)
	add(o.Poll < time.Millisecond, "Poll is %s, want at least 1ms", o.Poll)
	add(o.Cache < 0, "Cache is %d, want 0 or more", o.Cache)
	add(o.Conns < 1 || o.Conns > 1000, "Conns is %d, want 1 to 1000", o.Conns)
	return errors.Join(errs...)
}

func holdsPassword(dsn string) bool {
	if u, err := url.Parse(dsn); err == nil && strings.HasPrefix(u.Scheme, "postgres") {
		if _, set := u.User.Password(); set {
			return true
		}
	}
	return password.MatchString(dsn)
}

// printable reports whether s is printable ASCII, as all keys are.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// writing is the configuration of the writer's own connection.
func (o settings) writing() *pgx.ConnConfig {
	c := o.pool.ConnConfig.Copy()
	c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	return c
}

// readers is the configuration of the writer's views: on the primary, so that they
// see what the writer acknowledged.
func (o settings) readers() *pgxpool.Config {
	c := o.replica()
	c.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	return c
}

// replica is the configuration of views on any server. The server ends a view that
// its client forgot.
func (o settings) replica() *pgxpool.Config {
	c := o.pool.Copy()
	set := o.sql.session(map[string]string{
		"statement_timeout":                   milliseconds(maxRead),
		"idle_in_transaction_session_timeout": milliseconds(maxRead),
	})
	c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, set)
		return err
	}
	return c
}

func milliseconds(d time.Duration) string { return fmt.Sprint(max(1, d.Milliseconds())) }
