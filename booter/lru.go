package booter

import "container/list"

// lru maps keys to values and forgets the key touched longest ago when it
// would hold more than max.
type lru[K comparable, V any] struct {
	max   int
	at    map[K]*list.Element
	order *list.List // of *entry[K, V], the last touched first
}

type entry[K comparable, V any] struct {
	key K
	val V
}

// newLRU makes room for at least one.
func newLRU[K comparable, V any](most int) lru[K, V] {
	return lru[K, V]{max(most, 1), map[K]*list.Element{}, list.New()}
}

// get returns the value of k, nil if there is none. It does not count as a
// touch, so asking about a key does not keep it.
func (r *lru[K, V]) get(k K) *V {
	e, ok := r.at[k]
	if !ok {
		return nil
	}
	return &e.Value.(*entry[K, V]).val
}

// touch makes k the last touched, with a zero value if it is new.
func (r *lru[K, V]) touch(k K) *V {
	if e, ok := r.at[k]; ok {
		r.order.MoveToFront(e)
		return &e.Value.(*entry[K, V]).val
	}
	if r.order.Len() >= r.max {
		r.drop(r.order.Back().Value.(*entry[K, V]).key)
	}
	e := &entry[K, V]{key: k}
	r.at[k] = r.order.PushFront(e)
	return &e.val
}

// drop forgets k.
func (r *lru[K, V]) drop(k K) {
	if e, ok := r.at[k]; ok {
		r.order.Remove(e)
		delete(r.at, k)
	}
}
