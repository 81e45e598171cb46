package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/server/httpop"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/identity/keys"
	protocol "github.com/ingotmetal/ingot/liveness/session"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// The rhythm of an approved machine's session.
const (
	liveBeat = 15 * time.Second
	liveNote = time.Minute // how often that it was heard of is kept
	// livePause is how long a dead key may keep its session.
	livePause = time.Second
)

// Live serves the sessions of approved machines, who prove themselves by their bound
// key (REG-15). A session ends with its key: within moments of the commit that revokes
// it (REG-11). An approved machine is told the hash of the root password that an operator
// set, when the session opens and as soon as it changes (BOOT-3).
func (s *Server) Live() *Live {
	l := &Live{server: s}
	l.sessions = &sessions.Handler{Now: s.Door.Now, Log: s.Log, Serve: l.serve}
	return l
}

// Live is the handler of these sessions.
type Live struct {
	server   *Server
	sessions *sessions.Handler
}

// Open is how many sessions there are now.
func (l *Live) Open() int { return l.sessions.Open() }

// ServeHTTP proves the caller, and then runs its session.
func (l *Live) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, err := l.server.authenticate(r.Context(), api.Def{Name: "agent.session", Auth: api.Key, Action: keys.AgentRefresh}, r)
	if err == nil && caller(ctx).server == (registration.ServerID{}) {
		err = refused("ACCESS_DENIED", "sessions are for machines by their own keys", "")
	}
	if err != nil {
		httpop.Answer(w, httpop.Problem(err, l.server.Door.Now()))
		return
	}
	l.sessions.ServeHTTP(w, r.WithContext(ctx))
}

// serve runs one session. It ends when its key no longer proves anything, which it
// asks of the store whenever the log has grown.
func (l *Live) serve(ctx context.Context, c *sessions.Conn) {
	ctx, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer stop()
	var noted time.Time
	for e := range c.Events() {
		switch e := e.(type) {
		case protocol.Hello:
			if !sameMachine(e.Server, caller(ctx).server) {
				c.Machine().Bye("ACCESS_DENIED", "the key is another machine's")
				return
			}
			c.Machine().Welcome(liveBeat, c.Now())
			beside.Go(func() { l.watch(ctx, c) }) // a hello comes once
		case protocol.Beat:
		default:
			continue // nothing else is said here yet
		}
		if now := c.Now(); now.Sub(noted) >= liveNote {
			noted = now
			beside.Go(func() { l.note(ctx) })
		}
	}
}

func sameMachine(text string, id registration.ServerID) bool {
	said, err := registration.ParseServerID(text)
	return err == nil && said.Key() == id.Key()
}

// note keeps that the machine was heard of. It is an observation: where it cannot be
// kept, the next one is.
func (l *Live) note(ctx context.Context) {
	s := l.server
	now := instantText(s.Door.Now())
	_, err := s.Door.Store().Update(ctx, func(tx store.Tx) error {
		tx.Put(store.LedgerPrefix+control.SeenLedger+caller(ctx).server.Key().String(), now)
		return nil
	})
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("that a machine was heard of could not be kept", "error", err)
	}
}

// watch ends the session when its key is dead, and tells the machine what the operator
// sets for it.
func (l *Live) watch(ctx context.Context, c *sessions.Conn) {
	st := l.server.Door.Store()
	root := rootTold{server: l.server, of: caller(ctx).server}
	for {
		var rev store.Rev
		err := st.View(ctx, func(r store.Reader) error {
			rev = store.Rev(r.Head().Revision)
			if err := still(ctx, r); err != nil {
				return err
			}
			return root.look(r)
		})
		if err != nil {
			if ctx.Err() == nil {
				p := httpop.Problem(err, l.server.Door.Now())
				c.Do(func(m *protocol.Server) { m.Bye(p.Name, p.Detail) })
			}
			return
		}
		root.tell(c)
		select {
		case <-ctx.Done():
			return
		case <-st.Failed():
			return
		case <-st.Changed(rev):
		}
		select { // many sessions need not look at each of many commits
		case <-ctx.Done():
			return
		case <-time.After(livePause):
		}
	}
}
