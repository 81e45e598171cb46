package postgres

import (
	"strings"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// cache is what the one writer knows of the rows: those it has read and written,
// the absent ones included. Its size is bounded: it has two halves, and when the
// young one is full the old one is dropped for it. Rows of the log are not kept,
// since they are written once and read by views.
type cache struct {
	half       int // bytes
	size       int // of young
	young, old map[string]store.Change
}

// rowCost is about what an entry takes beside its bytes.
const rowCost = 100

func newCache(bytes int) *cache {
	return &cache{half: bytes / 2, young: map[string]store.Change{}, old: map[string]store.Change{}}
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
	return v, ok
}

// put notes what has become of key.
func (c *cache) put(key string, v store.Change) {
	if strings.HasPrefix(key, store.LogPrefix) {
		return
	}
	if was, ok := c.young[key]; ok {
		c.size -= cost(key, was)
	}
	delete(c.old, key)
	if cost(key, v) > c.half/8 {
		delete(c.young, key)
		return
	}
	c.young[key] = v
	c.size += cost(key, v)
	if c.size > c.half {
		c.old, c.young, c.size = c.young, map[string]store.Change{}, 0
	}
}

// drop forgets everything.
func (c *cache) drop() { *c = *newCache(2 * c.half) }

func cost(key string, v store.Change) int { return len(key) + len(v.Val) + rowCost }
