package tftp

import (
	"fmt"
	"log/slog"
)

// shown quotes a name that may hold anything.
func shown(sent string) string { return fmt.Sprintf("%.*q", maxName, sent) }

// attrs are the fields of a transfer's log line.
func (t Transfer) attrs() []slog.Attr {
	attrs := []slog.Attr{
		slog.String("outcome", string(t.Outcome)),
		slog.String("client", t.Client.String()),
		slog.String("name", t.Name),
	}
	if t.Local.IsValid() {
		attrs = append(attrs, slog.String("local", t.Local.String()))
	}
	if t.Block > 0 {
		attrs = append(attrs, slog.Int64("size", t.Size), slog.Int64("bytes", t.Bytes), slog.Int("block", t.Block),
			slog.Int("window", t.Window), slog.Int64("resent", t.Resent), slog.Duration("took", t.Took))
	}
	if t.Err != nil {
		attrs = append(attrs, slog.String("error", t.Err.Error()))
	}
	return attrs
}
