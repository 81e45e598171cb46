package operators

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Every claim of a try is taken, or none; a ledger is sorted, bounded and
// validates; the one it was called on stays as it was.
func TestLedgerAgreesWithBuckets(t *testing.T) {
	kinds := map[string]Rate{"a": {2, 10 * time.Second}, "b": {3, 7 * time.Second}, "c": {5, 20 * time.Second}}
	rapid.Check(t, func(t *rapid.T) {
		now, l, plain := noon, Ledger{}, map[string]Bucket{}
		for range rapid.IntRange(1, 40).Draw(t, "tries") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(5*time.Second)).Draw(t, "wait")))
			var claims []Claim
			for kind, r := range kinds {
				claims = append(claims, Claim{kind, rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, kind), r})
			}
			before := slices.Clone(l.Entries)
			next, err := l.Take(now, claims...)
			want := allOrNone(plain, claims, now)
			if (err == nil) != want {
				t.Fatalf("%v: %v", claims, err)
			}
			if !reflect.DeepEqual(before, l.Entries) || next.Validate() != nil {
				t.Fatalf("%v became %v; next %v", before, l.Entries, next)
			}
			if bad, ok := errors.AsType[*RateLimited](err); err != nil {
				if !ok || !reflect.DeepEqual(next, l) || bad.Code() != "RATE_LIMITED" {
					t.Fatalf("%#v", err)
				}
				_, early := l.Take(bad.Until.Add(-1), claims...)
				_, then := l.Take(bad.Until, claims...)
				if early == nil || then != nil {
					t.Fatalf("until %s: %v, %v", bad.Until, early, then)
				}
			}
			l = next
		}
		if rest := l.at(now.Add(time.Minute), nil); len(rest.Entries) != 0 {
			t.Fatalf("kept: %v", rest)
		}
	})
}

// allOrNone is Take on plain buckets.
func allOrNone(plain map[string]Bucket, claims []Claim, now time.Time) bool {
	next := map[string]Bucket{}
	for _, c := range claims {
		b, _, ok := plain[c.key()].Take(c.Rate, now)
		if !ok {
			return false
		}
		next[c.key()] = b
	}
	for k, b := range next {
		plain[k] = b
	}
	return true
}

func TestFullLedgersShare(t *testing.T) {
	r := Rate{2, time.Minute}
	var l Ledger
	for i := range MaxEntries {
		l.put(fmt.Sprintf("source/%04d", i), Bucket{noon.Add(30 * time.Second)})
	}
	for i := range 5 {
		next, err := l.Take(noon, Claim{"source", fmt.Sprint("new", i), r})
		if (err == nil) != (i < 2) || len(next.Entries) != MaxEntries+1 {
			t.Errorf("new %d: %d entries, %v", i, len(next.Entries), err)
		}
		l = next
	}
	if _, err := l.Take(noon, Claim{"source", "0007", r}); err != nil {
		t.Errorf("a known one shares with others: %v", err)
	}
	l = l.Return(noon, Claim{"source", "new0", r})
	if _, err := l.Take(noon, Claim{"source", "new9", r}); err != nil {
		t.Errorf("what was returned is not there: %v", err)
	}
	if next, err := l.Take(noon.Add(2*time.Minute), Claim{"source", "new", r}); err != nil || len(next.Entries) != 1 {
		t.Errorf("%d entries, %v", len(next.Entries), err)
	}
}

func TestGate(t *testing.T) {
	limits := Limits{Account: Rate{2, time.Hour}, Source: Rate{3, time.Hour}, Total: Rate{5, time.Hour}}
	home, away := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	near, far := netip.MustParseAddr("2001:db8::ffff:2"), netip.MustParseAddr("2001:db8:0:1::1")
	var l Ledger
	for i, c := range []struct {
		name  string
		from  netip.Addr
		whose string
	}{
		{"alice", home, ""}, {"alice", away, ""}, {"alice", far, "account"},
		{"bob", near, ""}, {"carol", away, ""}, {"dave", near, "source"},
		{"BAD NAME", far, ""}, {"erin", home, "total"}, {"alice", home, "account"},
	} {
		next, err := limits.Take(l, c.name, c.from, noon)
		if c.whose == "" && err != nil {
			t.Errorf("%d: %v", i, err)
		}
		if bad, ok := errors.AsType[*RateLimited](err); c.whose != "" && (!ok || bad.Whose != c.whose || !bad.Until.After(noon)) {
			t.Errorf("%d: %v, want %s", i, err, c.whose)
		}
		l = next
	}
	l = limits.Return(l, "alice", home, noon)
	if _, err := limits.Take(l, "alice", far, noon); err != nil {
		t.Errorf("a success counts: %v", err)
	}
	j, err := json.Marshal(l)
	var back Ledger
	if err != nil || json.Unmarshal(j, &back) != nil || !reflect.DeepEqual(back, l) {
		t.Errorf("%s came back as %v, %v", j, back, err)
	}
}

func TestAMillionSourcesDoNotGrowTheLedger(t *testing.T) {
	var l Ledger
	var most, passed int
	for i := range 1_000_000 {
		addr := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		now := noon.Add(time.Duration(i) * time.Millisecond) // 16 minutes in all
		next, err := Limits{}.Take(l, fmt.Sprint("u", i), addr, now)
		if err == nil {
			passed++
		}
		l = next
		most = max(most, len(l.Entries))
	}
	// What passed within a bucket's longest life has two entries, and there is
	// the one for all.
	if most > 2*2*300+1 || passed > 2*300+40 {
		t.Errorf("%d entries, %d passed", most, passed)
	}
}

func TestSource(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.7": "192.0.2.7/32", "::ffff:192.0.2.7": "192.0.2.7/32",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64", "::1": "::/64",
	} {
		if got := Source(netip.MustParseAddr(in)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if got := Source(netip.Addr{}); got != "unknown" {
		t.Error(got)
	}
}

func TestLimitsDefaults(t *testing.T) {
	if err := (Limits{}).Validate(); err != nil {
		t.Error(err)
	}
	wants(t, "half a rate", Limits{Total: Rate{Burst: 5}}.Validate(), "INVALID_INPUT", "Rate.Per")
}

func TestLedgerValidates(t *testing.T) {
	for name, l := range map[string]Ledger{
		"not sorted": {[]Entry{{Key: "b/"}, {Key: "a/"}}},
		"twice":      {[]Entry{{Key: "a/"}, {Key: "a/"}}},
		"long":       {make([]Entry, MaxEntries+100)},
	} {
		wants(t, name, l.Validate(), "INVALID_INPUT", "delete it")
	}
}

func FuzzLedger(f *testing.F) {
	f.Add([]byte(`{"Entries":[{"Key":"account/alice","Full":"2026-05-01T12:00:00Z"}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var l Ledger
		if json.Unmarshal(in, &l) != nil || l.Validate() != nil {
			return
		}
		next, err := Limits{}.Take(l, "alice", netip.Addr{}, noon)
		if err == nil && next.Validate() != nil {
			t.Fatalf("%v became %v", l, next)
		}
	})
}
