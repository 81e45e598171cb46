package secrets_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/cmd/internal/secrets"
)

var seed = secrets.Place{Purpose: secrets.TOTPSeed, Row: "operator/alice", Epoch: 5}

// vector is "hello" sealed for seed by another program, under the master secret
// of ones and with the nonce 0 to 11.
const vector = "AQABAgMEBQYHCAkKC0WUoPokn23kWObB_TEwMxXBm1gwKg"

func TestSealVector(t *testing.T) {
	s := secrets.NewSealer(master(t, 1), &steps{})
	if got, err := s.Seal(seed, []byte("hello")); err != nil || got != vector {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := s.Open(seed, vector); err != nil || string(got) != "hello" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestSealedValuesDoNotMove(t *testing.T) {
	s := secrets.NewSealer(master(t, 1), &steps{})
	for name, place := range map[string]secrets.Place{
		"another row":        {Purpose: seed.Purpose, Row: "operator/bob", Epoch: 5},
		"another purpose":    {Purpose: secrets.RootHash, Row: seed.Row, Epoch: 5},
		"a later epoch":      {Purpose: seed.Purpose, Row: seed.Row, Epoch: 6},
		"no epoch":           {Purpose: seed.Purpose, Row: seed.Row},
		"a shifted boundary": {Purpose: seed.Purpose + "o", Row: seed.Row[1:], Epoch: 5},
	} {
		got, err := s.Open(place, vector)
		wants(t, name, err, "INVALID_CONFIG", "sealed elsewhere")
		if got != nil {
			t.Errorf("%s: gives %q", name, got)
		}
	}
	_, err := secrets.NewSealer(master(t, 2), &steps{}).Open(seed, vector)
	wants(t, "another master", err, "INVALID_CONFIG", "restore the master secret")
}

func TestOpenRefusesForms(t *testing.T) {
	s := secrets.NewSealer(master(t, 1), &steps{})
	for name, in := range map[string]string{
		"nothing":      "",
		"padded":       vector + "=",
		"a line break": vector[:9] + "\n" + vector[9:],
		"cut":          vector[:38],
		"other form":   "Ag" + vector[2:],
		"standard 64":  strings.ReplaceAll(vector, "_", "/"),
		"long":         strings.Repeat("A", 100_000),
	} {
		if _, err := s.Open(seed, in); err == nil {
			t.Errorf("%s opens", name)
		} else {
			wants(t, name, err, "INVALID_CONFIG", seed.Row)
		}
	}
}

func TestSealRefuses(t *testing.T) {
	s := secrets.NewSealer(master(t, 1), &steps{})
	_, err := s.Seal(secrets.Place{Purpose: secrets.RootHash}, []byte("x"))
	wants(t, "no row", err, "INVALID_INPUT", "no row")
	_, err = s.Seal(secrets.Place{Row: "node/a"}, []byte("x"))
	wants(t, "no purpose", err, "INVALID_INPUT", "no purpose")
	_, err = s.Seal(seed, make([]byte, secrets.MaxPlain+1))
	wants(t, "too long", err, "INVALID_INPUT", "at most 65536")
	dry := errors.New("dry")
	if _, err = secrets.NewSealer(master(t, 1), iotest.ErrReader(dry)).Seal(seed, nil); !errors.Is(err, dry) {
		t.Errorf("no entropy: %v", err)
	}
	if _, err = secrets.NewSealer(master(t, 1), bytes.NewReader([]byte("short"))).Seal(seed, nil); err == nil {
		t.Error("seals with half a nonce")
	}
}

// Whatever is sealed opens at its place and, with any one byte changed or at any
// other place, nowhere.
func TestSealedValuesReadBack(t *testing.T) {
	s := secrets.NewSealer(master(t, 1), rand.Reader)
	places := rapid.Custom(func(t *rapid.T) secrets.Place {
		return secrets.Place{
			Purpose: rapid.SampledFrom([]secrets.Purpose{secrets.AgentKey, secrets.SetupKeys, secrets.RootHash}).Draw(t, "purpose"),
			Row:     rapid.StringMatching(`[ab]{1,2}`).Draw(t, "row"),
			Epoch:   rapid.Uint64Range(0, 2).Draw(t, "epoch"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		at, other := places.Draw(t, "at"), places.Draw(t, "other")
		plain := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "plain")
		sealed, err := s.Seal(at, plain)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Open(at, sealed); err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("%x came back as %x, %v", plain, got, err)
		}
		if _, err := s.Open(other, sealed); (err == nil) != (at == other) {
			t.Fatalf("sealed at %s, opened at %s: %v", at, other, err)
		}
		i := rapid.IntRange(0, len(sealed)-1).Draw(t, "i")
		changed := sealed[:i] + string([]byte{rapid.Byte().Draw(t, "to")}) + sealed[i+1:]
		if _, err := s.Open(at, changed); (err == nil) != (changed == sealed) {
			t.Fatalf("%q: %v", changed, err)
		}
		if again, err := s.Seal(at, plain); err != nil || again == sealed {
			t.Fatalf("the same text twice: %s, %v", again, err)
		}
	})
}

// alone is entropy that only one may read at a time.
type alone struct {
	steps
	busy atomic.Bool
	met  atomic.Bool
}

func (a *alone) Read(p []byte) (int, error) {
	if !a.busy.CompareAndSwap(false, true) {
		a.met.Store(true)
	}
	runtime.Gosched()
	n, err := a.steps.Read(p)
	a.busy.Store(false)
	return n, err
}

func TestOneSealerReadsEntropyAtATime(t *testing.T) {
	var entropy alone
	s := secrets.NewSealer(master(t, 1), &entropy)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if _, err := s.Seal(seed, []byte("x")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if entropy.met.Load() {
		t.Error("two read at once")
	}
}

func TestUnsealableCarriesNothing(t *testing.T) {
	_, err := secrets.NewSealer(master(t, 2), &steps{}).Open(seed, vector)
	if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, "AQAB") || strings.Contains(text, "hello") {
		t.Errorf("carries the value: %s", text)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(vector)
	f.Add("AQ")
	s := secrets.NewSealer(master(f, 1), &steps{})
	f.Fuzz(func(t *testing.T, in string) {
		if _, err := s.Open(seed, in); err == nil && in != vector {
			t.Fatalf("%q opens", in)
		}
	})
}
