package postgres

import (
	"strings"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// cache is what the one writer knows of the rows. As long as all of them fit it
// holds all, so that it knows of any other key that it is absent. Once they do not,
// it holds those that were read and written lately, the absent ones included: it has
// two halves then, and when the young one is full the old one is dropped for it.
//
// Rows of the log are not kept, since they are written once and read by views.
type cache struct {
	limit      int // bytes
	whole      bool
	tried      bool // to load all
	size       int  // of young
	young, old map[string]store.Change
	keys       index // of a whole one
}

// rowCost is about what an entry takes beside its bytes.
const rowCost = 100

func newCache(bytes int) *cache {
	return &cache{limit: bytes, young: map[string]store.Change{}}
}

// get returns what is known of key.
func (c *cache) get(key string) (store.Change, bool) {
	if v, ok := c.young[key]; ok {
		return v, true
	}
	v, ok := c.old[key]
	if ok {
		c.put(key, v)
	}
	if !ok && c.whole && !uncached(key) {
		return store.Change{Gone: true}, true
	}
	return v, ok
}

// put notes what has become of key.
func (c *cache) put(key string, v store.Change) {
	if uncached(key) {
		return
	}
	n := cost(key, v)
	c.forget(key)
	switch {
	case c.whole && v.Gone:
		c.keys.remove(key)
		return
	case c.whole && c.size+n <= c.limit:
		c.keys.add(key)
	case c.whole:
		c.whole, c.keys = false, nil
	}
	if !c.whole && n > c.limit/16 {
		return
	}
	c.young[key] = v
	c.size += n
	if !c.whole && c.size > c.limit/2 {
		c.old, c.young, c.size = c.young, map[string]store.Change{}, 0
	}
}

func (c *cache) forget(key string) {
	delete(c.old, key)
	if was, ok := c.young[key]; ok {
		c.size -= cost(key, was)
		delete(c.young, key)
	}
}

// load takes in rows, of which more may come, and reports whether they still fit.
func (c *cache) load(key string, val []byte) bool {
	v := store.Change{Val: val}
	if c.size += cost(key, v); c.size > c.limit {
		return false
	}
	c.young[key] = v
	c.keys.add(key)
	return true
}

// page returns the first keys of a span, if all are known there.
func (c *cache) page(s span) (page, bool) {
	if !c.whole || uncached(s.lo) {
		return page{}, false
	}
	p := c.keys.page(s)
	if s.lo < store.LogPrefix {
		p.end = min(p.end, store.LogPrefix)
	}
	return p, true
}

// drop forgets everything.
func (c *cache) drop() { *c = *newCache(c.limit) }

func uncached(key string) bool { return strings.HasPrefix(key, store.LogPrefix) }

func cost(key string, v store.Change) int { return len(key) + len(v.Val) + rowCost }
