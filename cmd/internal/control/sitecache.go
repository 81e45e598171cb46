package control

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// siteCache keeps the site as it was last read or written: its rows are read by
// every call, and few calls change more than one of them. What is in it counts only
// where the rows of the transaction are the same, so a write that never became
// durable does no harm.
type siteCache struct{ last atomic.Pointer[siteRows] }

// siteRows are the rows of a site, in the order of their keys, and what they say.
type siteRows struct {
	rows []row
	site lifecycle.Site
}

// load reads the site, anew only where a row differs.
func (c *siteCache) load(r store.Reader) (*siteRows, error) {
	var space [16]row // more than a site has, so that looking costs nothing
	now := space[:0]
	for key, val := range r.Range(lifecycle.RowSite, Beyond(lifecycle.RowSite)) {
		now = append(now, row{key, val})
	}
	if last := c.last.Load(); last != nil && last.same(now) {
		return last, nil
	}
	l := &loader{rows: now}
	s, err := lifecycle.Load(l.all())
	if err != nil {
		return nil, err
	}
	read := &siteRows{site: s.Site}
	for _, r := range now {
		read.rows = append(read.rows, row{r.key, bytes.Clone(r.val)})
	}
	c.last.Store(read)
	return read, nil
}

func (s *siteRows) same(rows []row) bool {
	return slices.EqualFunc(s.rows, rows, func(a, b row) bool { return a.key == b.key && bytes.Equal(a.val, b.val) })
}

// write writes the rows of a site that differ from those that load gave.
func (c *siteCache) write(tx store.Tx, was *siteRows, is lifecycle.Site) {
	made := &siteRows{rows: slices.Clone(was.rows), site: is}
	changed := false
	for key, val := range lifecycle.SiteRows(is) {
		i, had := slices.BinarySearchFunc(made.rows, key, func(r row, key string) int { return strings.Compare(r.key, key) })
		switch {
		case !had:
			made.rows = slices.Insert(made.rows, i, row{key, val})
		case bytes.Equal(made.rows[i].val, val):
			continue
		}
		made.rows[i].val, changed = val, true
		tx.Put(key, val)
		if key == lifecycle.RowSite+"policy" {
			Changed(tx, key)
		}
	}
	if changed {
		c.last.Store(made)
	}
}
