package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/whole"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// LogSealed is the fact that rows of the log have left for a segment.
const LogSealed = "log.sealed"

// Sealed is the body of LogSealed, and what a segment is checked by.
type Sealed struct {
	File string `json:"file"`
	From string `json:"from"` // the head before its first row
	To   string `json:"to"`   // its last row
}

// The bounds of one segment.
const (
	segmentRows  = 10_000
	segmentBytes = 64 << 20
)

// A Sealer moves the old rows of the log into files, each a segment that can be
// verified alone. A file is durable before its rows leave the store, and is never
// written again.
type Sealer struct {
	Door *Door
	Dir  string        // of the segments; made with mode 0700
	Age  time.Duration // rows younger than this stay
	Keep uint64        // at least so many rows stay
}

// Pass seals what is old enough, and returns the segments that it made. The last
// may be a short one: a pass a day makes a segment a day.
func (s *Sealer) Pass(ctx context.Context) ([]Sealed, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, err
	}
	var made []Sealed
	for {
		rows, from, full, err := s.old(ctx)
		if err != nil || len(rows) == 0 {
			return made, err
		}
		seg, err := s.write(from, rows)
		if err != nil {
			return made, err
		}
		if err := s.leave(ctx, seg, rows); err != nil {
			return made, err
		}
		made = append(made, seg)
		if !full { // else the row that tells of each segment would make the next
			return made, nil
		}
	}
}

// old reads the rows for the next segment, and whether they fill it.
func (s *Sealer) old(ctx context.Context) (rows []journal.Row, from journal.Head, full bool, err error) {
	err = s.Door.store.View(ctx, func(r store.Reader) error {
		rows, from, full = nil, r.Base(), false
		end, size := s.Door.now().Add(-s.Age), 0
		for row, err := range store.Rows(r, store.Rev(from.Revision)) {
			if err != nil {
				return err
			}
			if row.Time.After(end) || row.Revision+max(s.Keep, 1) > r.Head().Revision {
				return nil
			}
			rows = append(rows, row)
			for _, f := range row.Facts {
				size += len(f.Body)
			}
			if full = len(rows) == segmentRows || size > segmentBytes; full {
				return nil
			}
		}
		return nil
	})
	return rows, from, full, err
}

// write makes the segment's file, durable under its own name.
func (s *Sealer) write(from journal.Head, rows []journal.Row) (Sealed, error) {
	name := fmt.Sprintf("%016x-%016x.ingotlog", rows[0].Revision, rows[len(rows)-1].Revision)
	path := filepath.Join(s.Dir, name)
	var to journal.Head
	err := whole.Replace(path, func(f *os.File) (err error) {
		to, err = journal.WriteStream(f, from, each(rows))
		return err
	})
	return Sealed{File: name, From: from.String(), To: to.String()}, err
}

func each(rows []journal.Row) func(func(journal.Row, error) bool) {
	return func(yield func(journal.Row, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// leave drops the sealed rows, with what found them.
func (s *Sealer) leave(ctx context.Context, seg Sealed, rows []journal.Row) error {
	body, err := json.Marshal(seg)
	if err != nil {
		return err
	}
	last := rows[len(rows)-1]
	_, err = s.Door.Record(ctx, Call{Actor: "sealer"}, func(tx store.Tx, _ time.Time) ([]journal.Fact, error) {
		if raw, ok := tx.Get(store.LogKey(store.Rev(last.Revision))); !ok || !same(raw, last) {
			return nil, conflict("the log is not what was sealed", "verify it")
		}
		for _, row := range rows {
			for _, f := range row.Facts {
				tx.Delete(eventKey(f.Subject, store.Rev(row.Revision)))
			}
		}
		tx.Trim(store.Rev(last.Revision))
		return []journal.Fact{{Type: LogSealed, Subject: "site", Body: string(body)}}, nil
	})
	return err
}

func same(raw []byte, row journal.Row) bool {
	want, err := row.MarshalBinary()
	return err == nil && bytes.Equal(raw, want)
}
