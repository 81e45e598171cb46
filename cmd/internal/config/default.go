package config

import (
	"path/filepath"
	"time"
)

// None, as the path of the Unix socket or of the store of secrets, turns it off.
const None = "none"

// The kinds of store.
const (
	Bolt = "bolt"
	PG   = "postgres"
)

// Default is what an empty file means.
func Default() Config { return Config{}.Filled() }

// Filled returns c with each empty field taking its default. An empty list that
// is not nil stays empty.
func (c Config) Filled() Config {
	or(&c.Site, "site")
	or(&c.Owner, "default")
	or(&c.State, "/var/lib/ingot")
	c.Store = c.Store.filled(c.State)
	c.Listen = c.Listen.filled()
	or(&c.Log.Level, "info")
	or(&c.Log.Format, "text")
	c.Limits = c.Limits.filled()
	or(&c.Retention.Age, Duration(90*24*time.Hour))
	or(&c.Retention.Rows, 10_000)
	or(&c.Retention.Segments, filepath.Join(c.State, "segments"))
	c.Secrets = c.Secrets.filled(c.State, c.Store.Kind)
	return c
}

func (s Secrets) filled(state, kind string) Secrets {
	or(&s.EnvPrefix, "INGOT_SECRET_")
	if kind == PG {
		or(&s.Store, None)
	}
	or(&s.Store, filepath.Join(state, "secrets.age"))
	if s.Store != None {
		or(&s.Identity, filepath.Join(state, "secrets.key"))
	}
	return s
}

func (s Store) filled(state string) Store {
	or(&s.Kind, Bolt)
	or(&s.Mark, filepath.Join(state, "site.mark"))
	if s.Kind == Bolt {
		or(&s.Path, filepath.Join(state, "site.db"))
	}
	if s.Kind == PG {
		or(&s.Postgres.Schema, "ingot")
	}
	return s
}

func (l Listen) filled() Listen {
	if l.TCP == nil {
		l.TCP = []string{":8443"}
	}
	or(&l.Unix, "/run/ingot/ingotd.sock")
	or(&l.UnixMode, 0o660)
	return l
}

func (l Limits) filled() Limits {
	or(&l.Connections, 16_384)
	or(&l.PerSource, 512)
	or(&l.Streams, 100)
	or(&l.Body, 1<<20)
	return l
}

func or[T comparable](field *T, def T) {
	var zero T
	if *field == zero {
		*field = def
	}
}
