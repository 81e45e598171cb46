package server

import (
	"context"
	"iter"
	"net/http"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

func (s *Server) auditHead(ctx context.Context, _ *api.Empty) (api.AuditHead, error) {
	var out api.AuditHead
	err := s.Door.Store().View(ctx, func(r store.Reader) error {
		out = api.AuditHead{Head: r.Head().String(), Revision: r.Head().Revision}
		return nil
	})
	return out, err
}

// auditPage is how many rows are read in one view.
const auditPage = 1000

// auditRows streams rows of the chain, in the form that a verifier reads
// (journal.WriteStream).
func (s *Server) auditRows(ctx context.Context, in *api.AuditRows, w http.ResponseWriter) error {
	var from, head journal.Head
	err := s.Door.Store().View(ctx, func(r store.Reader) error {
		from, head = r.Base(), r.Head()
		switch {
		case in.After > head.Revision:
			return refused("CONFLICT", "the chain ends before that row", "leave it out, or ask the store that has it")
		case in.After < from.Revision && in.After != 0:
			return refused("CONFLICT", "rows up to there have left for sealed segments", "verify the segments, then go on from the last")
		case in.After > from.Revision:
			return at(r, in.After, &from)
		}
		return nil
	})
	if err != nil {
		return err
	}
	until := head.Revision
	if in.Until != 0 {
		until = min(until, in.Until)
	}
	_, err = journal.WriteStream(w, from, s.rows(ctx, from.Revision, until))
	return err
}

// at is the head at a row.
func at(r store.Reader, rev uint64, head *journal.Head) error {
	raw, _ := r.Get(store.LogKey(store.Rev(rev)))
	row, err := journal.ParseRow(raw)
	if err == nil {
		*head = journal.Head{Revision: rev, Hash: row.Hash()}
	}
	return err
}

// rows yields the rows after a revision up to and including another, a page a view.
func (s *Server) rows(ctx context.Context, after, until uint64) iter.Seq2[journal.Row, error] {
	return func(yield func(journal.Row, error) bool) {
		for after < until {
			var page []journal.Row
			err := s.Door.Store().View(ctx, func(r store.Reader) error {
				page = nil
				for row, err := range store.Rows(r, store.Rev(after)) {
					if err != nil {
						return err
					}
					if page = append(page, row); len(page) == auditPage || row.Revision == until {
						return nil
					}
				}
				return nil
			})
			if err == nil && len(page) == 0 {
				err = refused("CONFLICT", "the rows have left for a sealed segment meanwhile", "call again")
			}
			if err != nil {
				yield(journal.Row{}, err)
				return
			}
			for _, row := range page {
				if !yield(row, nil) {
					return
				}
				after = row.Revision
			}
		}
	}
}

// backup copies the store as it stands.
func (s *Server) backup(ctx context.Context, _ *api.Empty, w http.ResponseWriter) error {
	if s.Backup == nil {
		return refused("UNSUPPORTED", "this store makes no copies of itself", "back it up with the database's own tools")
	}
	return s.Backup(ctx, w)
}
