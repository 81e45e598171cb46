package postgres

import (
	"context"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// load reads all rows but the log's into the cache, if they fit. It does so once
// for a blank cache. What changes meanwhile changes by another writer, whom the
// fence betrays before anything that was read here counts.
func (w *writer) load(ctx context.Context) error {
	if w.cache.tried {
		return nil
	}
	w.cache.drop()
	w.cache.tried = true
	for _, s := range []span{{"", store.LogPrefix}, {store.LogPrefix + "\x7f", "\x7f"}} {
		fits, err := w.loadSpan(ctx, s)
		if err != nil || !fits {
			w.cache.drop()
			w.cache.tried = err == nil
			return err
		}
	}
	w.cache.whole = true
	return nil
}

func (w *writer) loadSpan(ctx context.Context, s span) (fits bool, err error) {
	for at := s.lo; ; {
		keys, err := w.loadPage(ctx, span{at, s.hi}, &fits)
		if err != nil || len(keys) < loadRows || !fits {
			return fits, err
		}
		at = keys[len(keys)-1] + "\x01"
	}
}

func (w *writer) loadPage(ctx context.Context, s span, fits *bool) (keys []string, err error) {
	ctx, cancel := w.call(ctx)
	defer cancel()
	rows, err := w.conn.Query(ctx, w.o.sql.load, s.lo, s.hi)
	if err != nil {
		return nil, err
	}
	*fits = true
	err = eachRow(rows, func(k string, v []byte) {
		keys = append(keys, k)
		*fits = *fits && w.cache.load(k, v)
	})
	return keys, err
}
