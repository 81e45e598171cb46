package server

import (
	"encoding/json"

	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/identity/claim"
)

// triesLedger is the site's wrong claim codes (REG-5).
const triesLedger = "claim-tries"

// wrongTries counts one operator's wrong claim codes, in the transaction that
// compares them.
type wrongTries struct {
	*Server
	look     *control.Look
	operator string
	ledger   claim.Ledger
}

// allow decides whether another code is heard.
func (w *wrongTries) allow() error {
	if raw, ok := w.look.Get(store.LedgerPrefix + triesLedger); ok {
		_ = json.Unmarshal(raw, &w.ledger) // what cannot be read counts for nothing
	}
	return w.ledger.Allow(w.Codes, w.operator, w.look.Now)
}

// count counts a refusal if it is a wrong code, and reports whether it is.
func (w *wrongTries) count(refusal error) bool {
	if !isWrongCode(refusal) {
		return false
	}
	next, err := w.ledger.Count(w.Codes, w.operator, w.look.Now)
	if err != nil {
		return false
	}
	raw, err := json.Marshal(next)
	if err != nil {
		return false
	}
	w.look.Note(triesLedger, raw)
	return true
}
