package server

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// The rows of people and of what they call with.
const (
	rowOperator = "operator/"
	rowKey      = "apikey/"
	rowSession  = "session/"
)

// account reads an operator; false where there is none.
func account(r store.Reader, name string) (operators.Account, bool, error) {
	raw, ok := r.Get(rowOperator + name)
	if !ok {
		return operators.Account{}, false, nil
	}
	a, err := operators.DecodeAccount(raw)
	return a, err == nil, err
}

// apiKey reads a key that an operator minted.
func apiKey(r store.Reader, id string) (operators.APIKey, bool, error) {
	raw, ok := r.Get(rowKey + id)
	if !ok {
		return operators.APIKey{}, false, nil
	}
	k, err := operators.DecodeAPIKey(raw)
	return k, err == nil, err
}

// session reads a session.
func session(r store.Reader, id string) (operators.Session, bool, error) {
	raw, ok := r.Get(rowSession + id)
	if !ok {
		return operators.Session{}, false, nil
	}
	s, err := operators.DecodeSession(raw)
	if seen := instant(r, control.SessionsLedger+id); seen.After(s.Seen) {
		s.Seen = seen
	}
	return s, err == nil, err
}

// instant reads a time from a ledger; the zero time where there is none.
func instant(r store.Reader, key string) time.Time {
	raw, _ := r.Get(store.LedgerPrefix + key)
	t, err := time.Parse(time.RFC3339, string(raw))
	if err != nil {
		return time.Time{}
	}
	return t
}

// instantText is a time as ledgers keep it.
func instantText(t time.Time) []byte { return []byte(t.UTC().Format(time.RFC3339)) }

// touch notes that a session was used, where idleness would end it. It is an
// observation: where it cannot be kept, the session ends sooner.
func (s *Server) touch(ctx context.Context, id string) {
	var due bool
	err := s.Door.Store().View(ctx, func(r store.Reader) error {
		row, ok, err := session(r, id)
		_, due = row.Touch(s.Door.Now())
		due = due && ok
		return err
	})
	if err != nil || !due {
		return
	}
	now := instantText(s.Door.Now())
	_, err = s.Door.Store().Update(ctx, func(tx store.Tx) error {
		tx.Put(store.LedgerPrefix+control.SessionsLedger+id, now)
		return nil
	})
	if _, reader := errors.AsType[*store.ReadOnly](err); err != nil && !reader {
		s.Log.Warn("the use of a session could not be noted", "session", id, "error", err)
	}
}

// put writes a record as JSON.
func put(tx store.Tx, key string, v any) error {
	raw, err := json.Marshal(v)
	if err == nil {
		tx.Put(key, raw)
	}
	return err
}

// fact is one about a person or a key. It holds no secret.
func fact(name, subject, why string) journal.Fact {
	return factOf(name, subject, control.Body{Why: why})
}

func factOf(name, subject string, b control.Body) journal.Fact {
	f := journal.Fact{Type: name, Subject: subject}
	if raw, err := json.Marshal(b); err == nil && b != (control.Body{}) {
		f.Body = string(raw)
	}
	return f
}

// record is Door.Record for one fact or none.
func (s *Server) record(ctx context.Context, c control.Call, fn func(tx store.Tx, now time.Time) (*journal.Fact, error)) (control.Done, error) {
	return s.Door.Record(ctx, c, func(tx store.Tx, now time.Time) ([]journal.Fact, error) {
		f, err := fn(tx, now)
		if f == nil || err != nil {
			return nil, err
		}
		return []journal.Fact{*f}, nil
	})
}
