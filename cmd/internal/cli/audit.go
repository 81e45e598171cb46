package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// live names the server's own rows among the pieces of a chain.
const live = "live"

// auditVerify walks the audit chain here, so that nobody need be believed.
func (a *app) auditVerify() *cobra.Command {
	var heads []string
	c := a.leaf("verify FILE...|live", "Verify the audit chain: files in their order, and live for the server's rows", "ingot audit verify sealed-1.log live --head 812:9f86d081...", nil)
	c.Args = between(1, -1)
	c.ValidArgsFunction = nil // files
	c.Flags().StringArrayVar(&heads, "head", nil, "a `HEAD` that the chain must have, as 'ingot audit head' printed it (repeat for more)")
	c.RunE = func(c *cobra.Command, words []string) error {
		a.started = true
		if err := a.begin(c); err != nil {
			return err
		}
		w := walk{app: a}
		for _, text := range heads {
			h, err := journal.ParseHead(text)
			if err != nil {
				return usage("--head: %v", err)
			}
			w.known = append(w.known, h)
		}
		return w.verify(c.Context(), words)
	}
	return c
}

// A walk goes along a chain in one or several pieces.
type walk struct {
	*app
	known []journal.Head

	name string       // of the piece that is read
	from journal.Head // before the first row
	last uint64       // revision of the last row that was read
	rows uint64
	fail error // of a piece that is no stream, cannot be read, or does not follow
}

// verify walks all pieces as one chain.
func (w *walk) verify(ctx context.Context, names []string) error {
	first, err := w.open(ctx, names[0])
	if err != nil {
		return err
	}
	defer first.Close()
	s, err := journal.ReadStream(first)
	if err != nil {
		return w.harmed(err)
	}
	w.from, w.last = s.From, s.From.Revision
	head, err := journal.Verify(s.From, w.pieces(ctx, s, names[1:]), w.known...)
	switch {
	case w.fail != nil:
		return w.fail
	case err != nil:
		return w.harmed(err)
	}
	return w.sound(ctx, head)
}

// pieces yields the rows of a stream, and then those of the other pieces.
func (w *walk) pieces(ctx context.Context, s *journal.Stream, names []string) iter.Seq2[journal.Row, error] {
	return func(yield func(journal.Row, error) bool) {
		if !w.piece(s, yield) {
			return
		}
		for _, name := range names {
			if !w.next(ctx, name, yield) {
				return
			}
		}
	}
}

func (w *walk) piece(s *journal.Stream, yield func(journal.Row, error) bool) bool {
	for row, err := range s.Rows() {
		if err == nil {
			w.last, w.rows = row.Revision, w.rows+1
		}
		if !yield(row, err) || err != nil {
			return false
		}
	}
	return true
}

// next reads one more piece, which must begin where the one before ended.
func (w *walk) next(ctx context.Context, name string, yield func(journal.Row, error) bool) bool {
	src, err := w.open(ctx, name)
	if err != nil {
		w.fail = err
		return false
	}
	defer src.Close()
	s, err := journal.ReadStream(src)
	if err != nil {
		w.fail = w.harmed(err)
		return false
	}
	if s.From.Revision != w.last {
		w.fail = &unsound{fmt.Sprintf("%s begins after revision %d, and the rows before it end at %d", name, s.From.Revision, w.last)}
		return false
	}
	return w.piece(s, yield)
}

// open opens a file, or the server's rows after those that were read.
func (w *walk) open(ctx context.Context, name string) (io.ReadCloser, error) {
	w.name = name
	if name != live {
		f, err := os.Open(w.path(name))
		if err != nil {
			return nil, usage("%v", err)
		}
		return f, nil
	}
	v := &verb{app: w.app, op: api.AuditRowsRead, def: api.AuditRowsRead.Def}
	conn, err := w.connect(v.def)
	if err != nil {
		return nil, err
	}
	body, err := v.open(ctx, conn, reflect.ValueOf(&api.AuditRows{After: w.last}))
	return body, err
}

// harmed says in which piece the chain breaks.
func (w *walk) harmed(err error) error {
	if b, ok := errors.AsType[*journal.Broken](err); ok {
		return &broken{w.name, b}
	}
	if bad, ok := errors.AsType[*journal.Malformed](err); ok {
		return &unsound{w.name + ": " + bad.Error()}
	}
	return err
}

// broken is a chain that was harmed. It ends with exit code 1.
type broken struct {
	name string
	*journal.Broken
}

// Error names the piece, the first harm and the revision.
func (e *broken) Error() string { return e.name + ": " + e.Broken.Error() }

func (*broken) exit() Exit { return Other }

// An unsound chain is one that cannot be walked: a piece is no piece, or does not
// follow on the one before. To whoever relies on the chain it is as bad as a broken
// one, and ends with the same exit code.
type unsound struct{ what string }

// Error says what is wrong, and what to give instead.
func (e *unsound) Error() string {
	return withNext(e.what, "give all pieces in the order of their revisions, as `ingot audit rows --to FILE` writes them")
}

// Code is the error's wire name (API-3).
func (*unsound) Code() string { return "INVALID_STATE" }

func (*unsound) exit() Exit { return Other }

func (w *walk) sound(ctx context.Context, head journal.Head) error {
	if w.structured() {
		return w.value(ctx, "audit.verify", must(map[string]any{"from": w.from.String(), "head": head.String(), "rows": w.rows, "sound": true}))
	}
	return w.printf("sound: %d rows\nfrom:  %s\nhead:  %s\nKeep the head where the store's keeper cannot write, and give it as --head next time.\n", w.rows, w.from, head)
}
