package storetest

import "hash/fnv"

// A tree is an ordered map that never changes: put and del return another one,
// which shares what stayed. It is a treap whose priorities are hashes of the
// keys, so equal maps are equal trees. A nil tree is empty.
type tree struct {
	key         string
	val         []byte
	rank        uint32
	left, right *tree
}

func (t *tree) get(key string) ([]byte, bool) {
	for t != nil {
		switch {
		case key < t.key:
			t = t.left
		case key > t.key:
			t = t.right
		default:
			return t.val, true
		}
	}
	return nil, false
}

func (t *tree) put(key string, val []byte) *tree {
	left, right := t.del(key).split(key)
	h := fnv.New32a()
	h.Write([]byte(key))
	return join(join(left, &tree{key: key, val: val, rank: h.Sum32()}), right)
}

func (t *tree) del(key string) *tree {
	if _, ok := t.get(key); !ok {
		return t
	}
	if key == t.key {
		return join(t.left, t.right)
	}
	c := *t
	if key < t.key {
		c.left = t.left.del(key)
	} else {
		c.right = t.right.del(key)
	}
	return &c
}

// split returns the keys below key and the others.
func (t *tree) split(key string) (below, rest *tree) {
	if t == nil {
		return nil, nil
	}
	c := *t
	if t.key < key {
		c.right, rest = t.right.split(key)
		return &c, rest
	}
	below, c.left = t.left.split(key)
	return below, &c
}

// join returns all keys of two trees, where those of a are below those of b.
func join(a, b *tree) *tree {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.rank > b.rank:
		c := *a
		c.right = join(a.right, b)
		return &c
	}
	c := *b
	c.left = join(a, b.left)
	return &c
}

// walk yields lo <= key < hi in order, until it is told to stop.
func (t *tree) walk(lo, hi string, yield func(string, []byte) bool) bool {
	if t == nil {
		return true
	}
	if t.key >= lo && !t.left.walk(lo, hi, yield) {
		return false
	}
	if t.key >= lo && t.key < hi && !yield(t.key, t.val) {
		return false
	}
	return t.key >= hi || t.right.walk(lo, hi, yield)
}
