package server

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/carry"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/ingotmetal/ingot/cmd/internal/server/httpop"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/identity/keys"
)

// booterName is that of the bodies in which booters name themselves.
var booterName = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// Carry is where booters come to carry connections to BMCs (MACH-6), at [carry.Path].
// Their key is that with which they follow the site; a line ends with its key. A name
// belongs to the key that carried under it first, until that is revoked.
func (s *Server) Carry(d *carry.Desk) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, err := s.porter(r)
		if err == nil {
			err = s.named(ctx, r.URL.Query().Get("booter"))
		}
		if err != nil {
			httpop.Answer(w, httpop.Problem(err, s.Door.Now()))
			return
		}
		booter := r.URL.Query().Get("booter")
		ctx, stop := context.WithCancel(ctx)
		var beside sync.WaitGroup
		defer beside.Wait()
		defer stop()
		beside.Go(func() {
			defer stop()
			s.keyLives(ctx)
		})
		s.Log.Info("a booter carries connections to BMCs", "booter", booter, "source", serve.SourceFrom(ctx).String())
		err = d.Accept(ctx, w, r, booter)
		s.Log.LogAttrs(ctx, slog.LevelInfo, "a booter carries no connections any more", slog.String("booter", booter), slog.Any("error", err))
	})
}

// porter proves that a request is a booter's.
func (s *Server) porter(r *http.Request) (context.Context, error) {
	d := api.Def{Name: "booter.carry", Auth: api.Key, Action: keys.BooterSnapshot}
	ctx, err := s.authenticate(r.Context(), d, r)
	if err != nil {
		return ctx, err
	}
	if err := s.allowed(ctx, d, func(string) string { return "" }); err != nil {
		return ctx, err
	}
	if s.foreign(ctx) {
		return ctx, refused("ACCESS_DENIED", "the site is another tenant's", "")
	}
	if !booterName.MatchString(r.URL.Query().Get("booter")) {
		return ctx, invalid("booter", "a booter's name: 1-128 of A-Z, a-z, 0-9, '.', '_', ':' and '-'")
	}
	return ctx, nil
}

// carriersLedger has a row for each name under which a booter carried: the ID of the key
// that did first.
const carriersLedger = "carrier/"

// maxNames is how many booters may carry with one key.
const maxNames = 64

// named binds a booter's name to the caller's key, so that a booter of one site cannot
// take the connections of another's.
func (s *Server) named(ctx context.Context, booter string) error {
	key := caller(ctx).id
	var bound bool
	err := s.Door.Store().View(ctx, func(r store.Reader) error {
		raw, _ := r.Get(store.LedgerPrefix + carriersLedger + booter)
		_, kept, err := apiKey(r, key)
		if err == nil && !kept { // a session has no name that outlives it
			err = refused("ACCESS_DENIED", "connections to BMCs are carried with a booter's own key alone", "mint one with ingot key mint --scope booter")
		}
		bound = string(raw) == key
		return err
	})
	if err != nil || bound {
		return err
	}
	_, err = s.Door.Store().Update(ctx, func(tx store.Tx) error { return bindName(tx, booter, key) })
	if err != nil {
		s.Log.Warn("a booter may not carry connections to BMCs", "booter", booter, "key", key, "error", err)
		return err
	}
	s.Log.Info("a booter's name is bound to its key", "booter", booter, "key", key)
	return nil
}

// bindName binds a name that no key holds which still opens something, and forgets the
// names of those that do not.
func bindName(tx store.Tx, booter, key string) error {
	prefix := store.LedgerPrefix + carriersLedger
	var dead []string
	names := 0
	for row, raw := range tx.Range(prefix, control.Beyond(prefix)) {
		holder, kept, err := apiKey(tx, string(raw))
		switch {
		case err != nil:
			return err
		case !kept || !holder.Key.Revoked.IsZero():
			dead = append(dead, row)
		case string(raw) == key:
			names++
		case row == prefix+booter:
			return refused("CONFLICT", "booter "+booter+" carries with another key, "+string(raw), "give the booter that key, or revoke it: ingot key revoke "+string(raw)+"; a booter of its own needs a name of its own")
		}
	}
	if names >= maxNames {
		return refused("CONFLICT", "the key carries for as many booters as a key may", "mint a key for each booter, and revoke this one")
	}
	for _, row := range dead {
		tx.Delete(row)
	}
	tx.Put(prefix+booter, []byte(key))
	return nil
}

// keyLives returns when the caller is shut out, or the store or the request ends. A stop
// of the server does not end a line: who dials has yet to log out of BMCs, and closes the
// desk then.
func (s *Server) keyLives(ctx context.Context) {
	st := s.Door.Store()
	for {
		var rev store.Rev
		err := st.View(ctx, func(r store.Reader) error {
			rev = store.Rev(r.Head().Revision)
			return still(ctx, r)
		})
		if err != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-st.Failed():
			return
		case <-st.Changed(rev):
		}
		select { // it need not look at each of many commits
		case <-ctx.Done():
			return
		case <-time.After(livePause):
		}
	}
}
