package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/postgres"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// tx is what a closure of the benchmark uses.
type tx interface {
	Get(key string) ([]byte, bool)
	Put(key string, val []byte)
}

// work is what a typical closure does, but for its row of the log: it reads six
// rows that others read, too, and four that are not there; and writes three.
func work(t tx, n int64) error {
	node := fmt.Sprintf("node/%06d", n%nodes)
	val, ok := t.Get(node)
	if !ok {
		return errors.New("a node is missing")
	}
	for i := range 5 {
		if _, ok := t.Get(fmt.Sprintf("site/%d", i)); !ok {
			return errors.New("a row of the site is missing")
		}
	}
	for i := range 4 {
		if _, ok := t.Get(fmt.Sprintf("call/%d/%d", n, i)); ok {
			return errors.New("a call comes twice")
		}
	}
	t.Put(node, append(val[:len(val)-1:len(val)-1], byte(n)))
	t.Put(fmt.Sprintf("call/%d/0", n), val[:64])
	t.Put(fmt.Sprintf("due/%d", n), []byte{})
	return nil
}

const nodes = 10_000

var clients = []int{1, 16, 128}

// BenchmarkUpdate counts durable closures, beside those of a program that gives
// each its own SERIALIZABLE transaction and keeps the same one chain in it.
func BenchmarkUpdate(b *testing.B) {
	o := options(b)
	furnish(b, o)
	for _, n := range clients {
		b.Run(fmt.Sprintf("one-writer/clients=%d", n), func(b *testing.B) { grouped(b, o, n) })
		b.Run(fmt.Sprintf("serializable/clients=%d", n), func(b *testing.B) { serializable(b, o, n) })
		b.Run(fmt.Sprintf("serializable-without-chain/clients=%d", n), func(b *testing.B) { unchained(b, o, n) })
	}
}

// furnish makes the rows that closures read.
func furnish(b *testing.B, o postgres.Options) {
	s, err := postgres.Open(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Update(b.Context(), func(tx store.Tx) error {
		for i := range nodes {
			tx.Put(fmt.Sprintf("node/%06d", i), make([]byte, 600))
		}
		for i := range 5 {
			tx.Put(fmt.Sprintf("site/%d", i), make([]byte, 200))
		}
		tx.Log(told("furnished"))
		return nil
	}); err != nil {
		b.Fatal(err)
	}
}

// serial numbers the closures of all runs.
var serial = new(atomic.Int64)

// drive has clients call at once, b.N times in all.
func drive(b *testing.B, clients int, call func(n int64) error) {
	b.SetParallelism((clients + 1) / 2)
	if clients == 1 {
		for b.Loop() {
			if err := call(serial.Add(1)); err != nil {
				b.Fatal(err)
			}
		}
	} else {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := call(serial.Add(1)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "closures/s")
}

func grouped(b *testing.B, o postgres.Options, clients int) {
	s := open(b, o)
	b.ResetTimer()
	drive(b, clients, func(n int64) error {
		_, err := s.Update(b.Context(), func(tx store.Tx) error {
			tx.Log(told("node"))
			return work(tx, n)
		})
		return err
	})
	commits, closures := s.Counts()
	b.ReportMetric(float64(closures)/float64(max(commits, 1)), "closures/commit")
}

// plain is a transaction whose every read and write is a statement.
type plain struct {
	ctx context.Context
	tx  pgx.Tx
	err error
}

func (p *plain) Get(key string) ([]byte, bool) {
	if p.err != nil {
		return nil, false
	}
	var val []byte
	err := p.tx.QueryRow(p.ctx, `select v from ingot.rows where k = $1`, key).Scan(&val)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		p.err = err
	}
	return val, err == nil
}

func (p *plain) Put(key string, val []byte) {
	if p.err == nil {
		_, p.err = p.tx.Exec(p.ctx, `insert into ingot.rows values ($1, $2) on conflict (k) do update set v = excluded.v`, key, val)
	}
}

func unchained(b *testing.B, o postgres.Options, clients int) {
	each(b, o, clients, func(p *plain, n int64) error { return work(p, n) })
}

func serializable(b *testing.B, o postgres.Options, clients int) {
	each(b, o, clients, func(p *plain, n int64) error {
		raw, _ := p.Get(store.MetaPrefix + "head")
		if p.err != nil {
			return p.err
		}
		head, err := journal.ParseHead(string(raw))
		if err != nil {
			return err
		}
		row, next, err := head.Append(journal.Entry{Time: time.Unix(1, 0), Actor: "test", Facts: told("node").Facts})
		if err != nil {
			return err
		}
		if raw, err = row.MarshalBinary(); err != nil {
			return err
		}
		p.Put(store.LogKey(store.Rev(next.Revision)), raw)
		p.Put(store.MetaPrefix+"head", []byte(next.String()))
		return work(p, n)
	})
}

// warm has the pool make all its connections.
func warm(b *testing.B, pool *pgxpool.Pool, conns int) {
	var held []*pgxpool.Conn
	for range conns {
		c, err := pool.Acquire(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		held = append(held, c)
	}
	for _, c := range held {
		c.Release()
	}
}

// each gives each call a transaction of its own, and runs it again for as long as
// the server refuses it for another's sake.
func each(b *testing.B, o postgres.Options, clients int, fn func(*plain, int64) error) {
	pool, err := pgxpool.New(b.Context(), fmt.Sprintf("%s pool_max_conns=%d", o.DSN, clients))
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Close()
	warm(b, pool, clients)
	b.ResetTimer()
	var again atomic.Int64
	drive(b, clients, func(n int64) error {
		for {
			err := pgx.BeginTxFunc(b.Context(), pool, pgx.TxOptions{IsoLevel: pgx.Serializable}, func(tx pgx.Tx) error {
				p := &plain{ctx: b.Context(), tx: tx}
				if err := fn(p, n); p.err == nil {
					return err
				}
				return p.err
			})
			if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "40001" && e.Code != "40P01" {
				return err
			}
			again.Add(1)
		}
	})
	b.ReportMetric(float64(again.Load())/float64(b.N), "retries/op")
}
