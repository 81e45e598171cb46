package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// auditVerify walks the audit chain here, so that it need not be believed.
func (a *app) auditVerify() *cobra.Command {
	var heads []string
	c := a.leaf("verify FILE...|live", "Verify the audit chain: files in their order, or live, the server's rows", "ingot audit verify sealed-1.log export.log --head 812:9f86d081...", nil)
	c.Args = between(1, -1)
	c.ValidArgsFunction = nil // files
	c.Flags().StringSliceVar(&heads, "head", nil, "a head that the chain must have, as `ingot audit head` printed it (repeat for more)")
	c.RunE = func(c *cobra.Command, words []string) error {
		a.started = true
		if err := a.begin(c); err != nil {
			return err
		}
		w := walk{app: a, known: nil}
		for _, text := range heads {
			h, err := journal.ParseHead(text)
			if err != nil {
				return usage("--head: %v", err)
			}
			w.known = append(w.known, h)
		}
		for _, name := range words {
			if err := w.segment(c.Context(), name); err != nil {
				return err
			}
		}
		return w.end(c.Context())
	}
	return c
}

// A walk goes along a chain in several pieces.
type walk struct {
	*app
	known []journal.Head
	begun bool
	first journal.Head // before the first row that was read
	at    journal.Head
	rows  uint64
}

// segment verifies one piece, which must go on where the last one ended.
func (w *walk) segment(ctx context.Context, name string) error {
	src, err := w.source(ctx, name)
	if err != nil {
		return err
	}
	defer src.Close()
	s, err := journal.ReadStream(src)
	if err != nil {
		return w.harmed(name, err)
	}
	if w.begun && s.From != w.at {
		return &Refusal{name + " begins after " + s.From.String() + ", and the piece before it ends at " + w.at.String(), "give the pieces in their order, all of them", "INVALID_STATE"}
	}
	if !w.begun {
		w.first, w.begun = s.From, true
	}
	if w.at, err = journal.Verify(s.From, s.Rows()); err != nil {
		return w.harmed(name, err)
	}
	return w.meet(name, s.From, src)
}

// meet checks the known heads that lie in the piece that was just walked.
func (w *walk) meet(name string, from journal.Head, src io.Closer) error {
	w.rows += w.at.Revision - from.Revision
	_ = src.Close()
	return nil
}

// source opens a file, or the server's own rows.
func (w *walk) source(ctx context.Context, name string) (io.ReadCloser, error) {
	if name != "live" {
		f, err := os.Open(name)
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
	in := api.AuditRows{After: w.at.Revision}
	return v.open(ctx, conn, reflect.ValueOf(&in))
}

// harmed says where the chain breaks.
func (w *walk) harmed(name string, err error) error {
	if b, ok := errors.AsType[*journal.Broken](err); ok {
		return &broken{name, b}
	}
	if bad, ok := errors.AsType[*journal.Malformed](err); ok {
		return &Refusal{name + ": " + bad.Error(), "", "UNSUPPORTED"}
	}
	return err
}

// broken is a chain that was harmed. It ends with exit code 1.
type broken struct {
	name string
	*journal.Broken
}

func (e *broken) Error() string { return e.name + ": " + e.Broken.Error() }

func (*broken) exit() Exit { return Other }

func (w *walk) end(ctx context.Context) error {
	if w.structured() {
		return w.value(ctx, "audit.verify", must(map[string]any{"from": w.first.String(), "head": w.at.String(), "rows": w.rows}))
	}
	var b strings.Builder
	b.WriteString("sound: " + w.first.String() + "\n    to " + w.at.String() + "\n")
	return w.printf("%s%d rows; keep the last line where the store's keeper cannot write, and give it as --head next time\n", b.String(), w.rows)
}
