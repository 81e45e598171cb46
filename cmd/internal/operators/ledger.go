package operators

import (
	"cmp"
	"slices"
	"time"
)

// MaxEntries bounds a Ledger. Beyond it, keys that are not in it share one bucket
// for each kind.
const MaxEntries = 4096

// A Ledger holds the buckets of many keys. It is a value: a method never changes
// the Ledger it is called on. The zero Ledger is empty.
//
// Take belongs into the transaction that read the ledger; else many at once pass
// together.
type Ledger struct {
	Entries []Entry // sorted by key, each once; those that are full are left out
}

// An Entry is the bucket of a key.
type Entry struct {
	Key string
	Bucket
}

// A Claim is one thing to take from a bucket. In one ledger, keys of one kind
// always have the same rate.
type Claim struct {
	Kind, Name string // the key is both, with a slash between
	Rate       Rate
}

func (c Claim) key() string { return c.Kind + "/" + c.Name }

// others is the bucket that a kind's keys share where there is no room.
func (c Claim) others() string { return c.Kind + "/*" }

// Take returns l after all of the claims, or, where one finds its bucket empty,
// l as it is and [*RateLimited] for the one that has to wait longest. A refusal
// copies nothing, unless l is full: it is what a flood meets.
func (l Ledger) Take(now time.Time, claims ...Claim) (Ledger, error) {
	if len(l.Entries) < MaxEntries {
		if err := l.take(now, claims, false); err != nil {
			return l, err
		}
	}
	next := l.at(now, claims)
	if err := next.take(now, claims, true); err != nil {
		return l, err
	}
	return next, nil
}

// take takes the claims one by one, and reports the refusal that lasts longest.
// Where keep is false it leaves l as it is.
func (l *Ledger) take(now time.Time, claims []Claim, keep bool) error {
	var refused *RateLimited
	for _, c := range claims {
		i, key := l.find(c)
		var b Bucket
		if i >= 0 {
			b = l.Entries[i].Bucket
		}
		b, until, ok := b.Take(c.Rate, now)
		if !ok && (refused == nil || until.After(refused.Until)) {
			refused = &RateLimited{Whose: c.Kind, Rate: c.Rate, Until: until}
		}
		if ok && keep {
			l.put(key, b)
		}
	}
	if refused != nil {
		return refused
	}
	return nil
}

// Return returns l after the claims are given back.
func (l Ledger) Return(now time.Time, claims ...Claim) Ledger {
	next := l.at(now, claims)
	for _, c := range claims {
		if i, key := next.find(c); i >= 0 {
			next.put(key, next.Entries[i].Bucket.Return(c.Rate, now))
		}
	}
	return next.at(now, claims)
}

// at returns a copy of l without what is full, and with nothing further ahead
// than the longest of the claims allows: a clock was ahead then.
func (l Ledger) at(now time.Time, claims []Claim) Ledger {
	var longest time.Duration
	for _, c := range claims {
		longest = max(longest, c.Rate.span())
	}
	last := stamp(now).Add(longest)
	next := Ledger{make([]Entry, 0, min(len(l.Entries)+len(claims), MaxEntries+len(claims)))}
	for _, e := range l.Entries {
		if e.Idle(now) {
			continue
		}
		if e.Full.After(last) {
			e.Full = last
		}
		next.Entries = append(next.Entries, e)
	}
	return next
}

// find returns where c's bucket is, below zero where it is not there yet, and the
// key under which to put it.
func (l Ledger) find(c Claim) (int, string) {
	for _, key := range []string{c.key(), c.others()} {
		if i, ok := l.search(key); ok {
			return i, key
		}
		if key == c.key() && len(l.Entries) < MaxEntries {
			return -1, key
		}
	}
	return -1, c.others()
}

func (l Ledger) search(key string) (int, bool) {
	return slices.BinarySearchFunc(l.Entries, key, func(e Entry, key string) int { return cmp.Compare(e.Key, key) })
}

// put changes l, which must be nobody else's yet.
func (l *Ledger) put(key string, b Bucket) {
	if i, ok := l.search(key); ok {
		l.Entries[i].Bucket = b
	} else {
		l.Entries = slices.Insert(l.Entries, i, Entry{key, b})
	}
}

// Validate reports, as [*Invalid], a ledger that no method made.
func (l Ledger) Validate() error {
	sorted := true
	for i, e := range l.Entries {
		sorted = sorted && (i == 0 || l.Entries[i-1].Key < e.Key)
	}
	if !sorted || len(l.Entries) > MaxEntries+64 {
		return &Invalid{"ledger", "is not sorted or too long; delete it, which only forgets tries"}
	}
	return nil
}
