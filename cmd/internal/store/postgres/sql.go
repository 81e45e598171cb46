package postgres

import (
	"hash/fnv"
	"maps"
	"slices"
	"strings"
)

// schemaNumber is how the rows are kept. A program refuses to write a newer one
// (MACH-8).
const schemaNumber = 1

// pageRows is how many rows of a range are fetched at a time.
const pageRows = 256

// loadRows is how many rows the writer's memory is filled with at a time.
const loadRows = 1000

// statements are the SQL of one schema.
type statements struct {
	schema string
	lock   int64 // the advisory lock's key

	make                           []string
	exists, state                  string
	raise, fence, logged           string
	get, page, last, first, upsert string
	remove, load                   string
}

func statementsFor(schema string) statements {
	h := fnv.New64a()
	h.Write([]byte("ingot store " + schema))
	in := func(q string) string { return strings.ReplaceAll(q, "SCHEMA", `"`+schema+`"`) }
	return statements{
		schema: schema,
		lock:   int64(h.Sum64()),
		make: []string{
			in(`create schema if not exists SCHEMA`),
			in(`create table if not exists SCHEMA.rows (k text collate "C" primary key, v bytea not null) with (fillfactor = 80)`),
			in(`do $$ begin alter table SCHEMA.rows alter v set compression lz4; exception when feature_not_supported then null; end $$`),
			in(`create table if not exists SCHEMA.fence (one boolean primary key default true check (one), number bigint not null,
				writer text not null, since timestamptz not null, log text not null, schema int not null)`),
		},
		exists: in(`select to_regclass('SCHEMA.fence') is not null`),
		state:  in(`select number, writer, since, log, schema from SCHEMA.fence`),
		raise: in(`insert into SCHEMA.fence as f (number, writer, since, log, schema) values (1, $1, now(), $2, $3)
			on conflict (one) do update set number = f.number + 1, writer = excluded.writer, since = excluded.since
			returning number`),
		fence:  in(`select number, writer, since from SCHEMA.fence for update`),
		logged: in(`select count(*) = 2 from pg_class where oid in ('SCHEMA.rows'::regclass, 'SCHEMA.fence'::regclass) and relpersistence = 'p'`),
		get:    in(`select k, v from SCHEMA.rows where k = any($1::text[])`),
		page:   in(`select k, v from SCHEMA.rows where k >= $1 and k < $2 order by k limit 256`),
		first:  in(`select k from SCHEMA.rows where k >= $1 and k < $2 order by k limit 1`),
		last:   in(`select k from SCHEMA.rows where k >= $1 and k < $2 order by k desc limit 1`),
		upsert: in(`insert into SCHEMA.rows (k, v) select * from unnest($1::text[], $2::bytea[]) on conflict (k) do update set v = excluded.v`),
		load:   in(`select k, v from SCHEMA.rows where k >= $1 and k < $2 order by k limit 1000`),
		remove: in(`delete from SCHEMA.rows where k = any($1::text[])`),
	}
}

// session is a statement that sets parameters of a session. The values are ours.
func (statements) session(params map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(params)) {
		b.WriteString("set " + name + " = '" + params[name] + "';")
	}
	return b.String()
}
