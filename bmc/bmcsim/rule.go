package bmcsim

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// A Rule spoils requests. Those that Method and Path match are counted from 1; Nth,
// Every, After and Times say which of them are spoiled. A field that is zero does not
// choose.
type Rule struct {
	Method string // "" is any
	Path   string // a pattern in which * is any run of characters, slashes too; letters of any case; "" is any
	Nth    int    // the one with this number
	Every  int    // those whose number this divides
	After  int    // those with a higher number
	Times  int    // so many at most
	Effect Effect
}

// Drops of a connection.
const (
	DropBefore = "before" // nothing was done
	DropAfter  = "after"  // it was done, and the reply is lost
)

// A Spoil is what becomes of a body.
type Spoil string

// The spoiled bodies.
const (
	SpoilTruncated Spoil = "truncated" // half of it, and the connection is dropped
	SpoilEndless   Spoil = "endless"   // it goes on for ever
	SpoilDrip      Spoil = "drip"      // a byte every Effect.Every
	SpoilGarbage   Spoil = "garbage"   // no JSON
	SpoilTwice     Spoil = "twice"     // two JSON documents
	SpoilTypes     Spoil = "types"     // strings are numbers, and lists are strings
)

func (s Spoil) streams() bool { return s == SpoilTruncated || s == SpoilEndless || s == SpoilDrip }

// An Effect is what happens to a request. Its parts can be combined.
type Effect struct {
	Delay time.Duration // before anything
	Drop  string        // DropBefore or DropAfter

	// Status is answered instead, and the request is not carried out. Answer is the
	// body; "" is a Redfish error with MessageID, and Message.
	Status             int
	Answer             string
	MessageID, Message string
	// Replies is the status of the answer to a request that was carried out.
	Replies int

	RetryAfter time.Duration // told with an answer
	RetryDate  bool          // as a date
	// Redirect is the Location of the Status (default 307); {path} is the request's.
	Redirect string

	Body  Spoil
	Every time.Duration // of SpoilDrip; default 1 s

	// Links replaces every @odata.id in the body; {path} is the old one.
	Links string
	// NextLink is added to collections; {path} is the request's.
	NextLink string
	Shuffle  bool           // members come in reverse order
	Set      map[string]any // merged into the body
	Reboot   bool           // the BMC restarts when the request was carried out
}

// Validate says what cannot be.
func (r Rule) Validate() error {
	e := r.Effect
	switch {
	case r.Nth < 0 || r.Every < 0 || r.After < 0 || r.Times < 0:
		return fmt.Errorf("a number is less than 0")
	case e.Delay < 0 || e.RetryAfter < 0 || e.Every < 0:
		return fmt.Errorf("a time is less than 0")
	case e.Drop != "" && e.Drop != DropBefore && e.Drop != DropAfter:
		return fmt.Errorf("the drop %q is unknown", e.Drop)
	case e.Status != 0 && (e.Status < 200 || e.Status > 599) || e.Replies != 0 && (e.Replies < 200 || e.Replies > 599):
		return fmt.Errorf("no status")
	}
	switch e.Body {
	case "", SpoilTruncated, SpoilEndless, SpoilDrip, SpoilGarbage, SpoilTwice, SpoilTypes:
		return nil
	}
	return fmt.Errorf("the body %q is unknown", e.Body)
}

// ruleState counts.
type ruleState struct{ seen, done int }

// effects are those of the rules that a request meets.
func (b *BMC) effects(r *http.Request) []Effect {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Effect
	for i, rule := range b.o.Rules {
		if rule.Method != "" && rule.Method != r.Method || rule.Path != "" && !glob(strings.ToLower(rule.Path), strings.ToLower(r.URL.Path)) {
			continue
		}
		s := &b.rules[i]
		s.seen++
		if rule.Nth != 0 && s.seen != rule.Nth || rule.Every != 0 && s.seen%rule.Every != 0 || s.seen <= rule.After || rule.Times != 0 && s.done >= rule.Times {
			continue
		}
		s.done++
		out = append(out, rule.Effect)
	}
	return out
}

// glob matches s with a pattern in which * is any run of characters.
func glob(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	s, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, parts[len(parts)-1])
}
