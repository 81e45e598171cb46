package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/agent"
)

// rooted is a machine's shadow file: what it was told, and when.
type rooted struct {
	mu    sync.Mutex
	told  []string
	fails int // so often it cannot be set
}

func (r *rooted) set(_ context.Context, hash api.Secret) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails > 0 {
		r.fails--
		return errors.New("read-only file system")
	}
	r.told = append(r.told, hash.Show())
	return nil
}

func (r *rooted) has() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.told)
}

// rootPassword is an operator who sets it, or clears it.
func (p *plane) rootPassword(hash api.Secret) {
	p.t.Helper()
	in := api.SetRootPassword{RegistrationChange: api.RegistrationChange{RegistrationRef: api.RegistrationRef{Server: uuid}}}
	in.Body.Hash, in.Body.Clear = hash, hash == ""
	_, err := api.RegistrationRootPassword.Call(p.t.Context(), p.ada, &in)
	p.must(err)
}

// live runs the machine's agent while f runs.
func (p *plane) live(life int, r *rooted, f func()) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.t.Context())
	a, ended := p.agent(life), make(chan error, 1)
	a.SetRoot = r.set
	go func() { ended <- a.Run(ctx) }()
	time.Sleep(5 * time.Second)
	f()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		p.t.Errorf("the agent ended: %v", err)
	}
}

// BOOT-3, REG-16: the hash of the root password reaches an approved machine by its own
// session, when that opens and at each change, and is seen nowhere.
func TestRootPasswordByTheSession(t *testing.T) {
	registering(t, func(t *testing.T, p *plane) {
		p.operated(func() { p.must(p.agent(1).Register(t.Context())) })
		var r rooted
		is := func(when string, want ...string) {
			t.Helper()
			if got := r.has(); !slices.Equal(got, want) {
				t.Errorf("%s: it was told %q, want %q", when, got, want)
			}
		}
		p.live(2, &r, func() {
			is("at first", "")
			p.rootPassword("$6$CANARY$one")
			time.Sleep(5 * time.Second)
			is("set", "", "$6$CANARY$one")
			p.rootPassword("$6$CANARY$one") // sealed anew, so told anew
			p.label("rack", "7")            // which is none of its business
			time.Sleep(5 * time.Second)
			is("set again", "", "$6$CANARY$one", "$6$CANARY$one")
		})
		p.rootPassword("$6$CANARY$two") // while it is away
		p.live(3, &r, func() {
			is("away", "", "$6$CANARY$one", "$6$CANARY$one", "$6$CANARY$two")
			p.rootPassword("")
			time.Sleep(5 * time.Second)
			is("cleared", "", "$6$CANARY$one", "$6$CANARY$one", "$6$CANARY$two", "")
		})
		for what, text := range map[string]string{"the log": p.logs.String(), "what is told": fmt.Sprintf("%v %+v", p.told, p.told)} {
			if strings.Contains(text, "CANARY") {
				t.Errorf("%s has the hash: %s", what, text)
			}
		}
	})
}

// What cannot be set is tried again, until something newer comes.
func TestRootPasswordIsTriedAgain(t *testing.T) {
	registering(t, func(t *testing.T, p *plane) {
		p.operated(func() { p.must(p.agent(1).Register(t.Context())) })
		p.rootPassword("$6$CANARY$one")
		r := rooted{fails: 5}
		p.live(2, &r, func() {
			p.rootPassword("$6$CANARY$two")
			time.Sleep(5 * time.Minute)
			if got := r.has(); !slices.Equal(got, []string{"$6$CANARY$two"}) || strings.Count(p.logs.String(), "the root password is not set") != 1 || r.fails != 0 || strings.Contains(p.logs.String(), "CANARY") {
				t.Errorf("%q\n%s", got, p.logs.String())
			}
		})
	})
}

// An agent that does not set passwords, as one that only looks, is none the worse.
func TestRootPasswordIsLeftAlone(t *testing.T) {
	registering(t, func(t *testing.T, p *plane) {
		p.operated(func() { p.must(p.agent(1).Register(t.Context())) })
		p.rootPassword("$6$CANARY$one")
		go p.disable(time.Minute)
		err := p.agent(2).Run(t.Context())
		if _, ok := errors.AsType[*agent.Revoked](err); !ok || strings.Contains(p.logs.String(), "CANARY") {
			t.Errorf("%v\n%s", err, p.logs.String())
		}
	})
}

// label sets a label.
func (p *plane) label(key, value string) {
	p.t.Helper()
	in := api.SetLabels{RegistrationChange: api.RegistrationChange{RegistrationRef: api.RegistrationRef{Server: uuid}}}
	in.Body.Set = map[string]string{key: value}
	_, err := api.RegistrationLabel.Call(p.t.Context(), p.ada, &in)
	p.must(err)
}
