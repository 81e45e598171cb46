package operators

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var rates = rapid.Custom(func(t *rapid.T) Rate {
	return Rate{rapid.IntRange(1, 6).Draw(t, "burst"), time.Duration(rapid.Int64Range(1, 60).Draw(t, "per")) * time.Second}
})

// model is a bucket by the book: what is left, counted in nanoseconds of refill.
type model struct {
	left time.Duration
	at   time.Time
}

func (m *model) take(r Rate, now time.Time) bool {
	m.left = min(r.span(), m.left+now.Sub(m.at))
	m.at = now
	if m.left < r.step() {
		return false
	}
	m.left -= r.step()
	return true
}

func TestBucketAgreesWithTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, now := rates.Draw(t, "rate"), noon
		m, b := model{r.span(), now}, Bucket{}
		for range rapid.IntRange(1, 60).Draw(t, "takes") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(r.step())*2).Draw(t, "wait")))
			next, until, ok := b.Take(r, now)
			if want := m.take(r, now); ok != want {
				t.Fatalf("%s at %s: %v, the model says %v", r, now, ok, want)
			}
			if ok != until.IsZero() || !ok && next != b.at(r, now) {
				t.Fatalf("%v until %s", ok, until)
			}
			if !ok {
				exact(t, b, r, now, until)
			}
			b = next
		}
	})
}

// exact wants until to be the first instant at which b gives one.
func exact(t *rapid.T, b Bucket, r Rate, now, until time.Time) {
	_, _, early := b.Take(r, until.Add(-1))
	_, _, then := b.Take(r, until)
	if !until.After(now) || early || !then {
		t.Fatalf("until %s: just before %v, then %v", until, early, then)
	}
}

func TestReturnUndoesTake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, now, b := rates.Draw(t, "rate"), noon, Bucket{}
		for range rapid.IntRange(0, 10).Draw(t, "takes") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(r.step())).Draw(t, "wait")))
			b, _, _ = b.Take(r, now)
		}
		before := b.at(r, now)
		next, _, ok := b.Take(r, now)
		if ok && next.Return(r, now) != before {
			t.Fatalf("%v, taken %v, returned %v", before, next, next.Return(r, now))
		}
		if !(Bucket{}).Return(r, now).Idle(now) {
			t.Fatal("more than full")
		}
	})
}

// A clock that was far ahead locks nobody out for longer than the rate does.
func TestBucketsForgetAClockAhead(t *testing.T) {
	r := Rate{2, time.Minute}
	b, ahead := Bucket{}, noon.Add(1000*time.Hour)
	for range 2 {
		b, _, _ = b.Take(r, ahead)
	}
	b, until, ok := b.Take(r, noon)
	if ok || !until.Equal(noon.Add(30*time.Second)) {
		t.Errorf("%v until %s", ok, until)
	}
	if _, _, ok := b.Take(r, until); !ok {
		t.Error("still locked")
	}
}

func TestRates(t *testing.T) {
	for r, ok := range map[Rate]bool{
		{1, 1}: true, {1_000_000, 24 * time.Hour}: true, {10, time.Minute}: true,
		{}: false, {0, time.Minute}: false, {1, 0}: false, {-1, time.Minute}: false, {1, -1}: false,
		{1_000_001, time.Minute}: false, {1, 24*time.Hour + 1}: false,
	} {
		if err := r.Validate(); (err == nil) != ok {
			t.Errorf("%s: %v", r, err)
		}
		b, _, first := Bucket{}.Take(r, noon)
		if _, _, again := b.Take(r, noon); !first || !ok && r.Burst < 2 && again {
			t.Errorf("%s: %v, then %v", r, first, again)
		}
	}
}

func TestBucketJSON(t *testing.T) {
	b, _, _ := Bucket{}.Take(Rate{1, time.Minute}, noon.In(time.FixedZone("x", 60)))
	j, err := json.Marshal(b)
	var back Bucket
	if err != nil || json.Unmarshal(j, &back) != nil || back != b {
		t.Errorf("%s came back as %v, %v", j, back, err)
	}
}
