package server

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// scanMost is how many rows one call of a list looks at: a filter that few rows
// pass makes short pages, not long calls (API-2).
const scanMost = 1000

// scanFor is how long one call of a list looks at rows, well within store.MaxView.
const scanFor = 250 * time.Millisecond

// defaultPage is the length of a page (API-2).
const defaultPage = 50

// A lister is a list over the rows below a prefix, in the order of their names.
type lister struct {
	prefix string
	page   api.Page
	valid  func(name string) bool
	shared bool // rows of every tenant; take leaves out those of others
}

// list calls take for each row from the cursor on, until it took a page. The
// cursor is the name of the last row that was looked at; the next one is set where
// there may be more. To callers of another tenant there is nothing.
func (s *Server) list(ctx context.Context, l lister, cursor *string, take func(r store.Reader, name string) (bool, error)) error {
	after, err := l.after()
	if err != nil {
		return err
	}
	if s.foreign(ctx) && !l.shared {
		return nil
	}
	limit := l.page.Limit
	if limit == 0 {
		limit = defaultPage
	}
	return s.Door.Store().View(ctx, func(r store.Reader) error {
		names, more := l.names(r, after)
		*cursor = ""
		took, begun := 0, s.Door.Now()
		for i, name := range names {
			ok, err := take(r, name)
			if err != nil {
				return err
			}
			if ok {
				took++
			}
			if (took == limit || s.Door.Now().Sub(begun) > scanFor) && (more || i < len(names)-1) {
				*cursor = l.cursor(name)
				return nil
			}
		}
		if more {
			*cursor = l.cursor(names[len(names)-1])
		}
		return nil
	})
}

// cursor is the form in which callers get and give back the name of a row. The
// list's own prefix is in it, so that one list takes no other's.
func (l *lister) cursor(name string) string { return opaque(l.prefix + name) }

// after is the name that the cursor has; "" without one.
func (l *lister) after() (string, error) {
	if l.page.Cursor == "" {
		return "", nil
	}
	text, ok := plain(l.page.Cursor)
	name, own := strings.CutPrefix(text, l.prefix)
	if !ok || !own || !l.valid(name) {
		return "", badCursor()
	}
	return name, nil
}

func badCursor() error { return invalid("query.cursor", "next_cursor of the page before") }

// opaque and plain are the two ways of a cursor (API-2). It is no secret.
func opaque(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func plain(cursor string) (string, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	return string(raw), err == nil
}

// validName takes the names of what people and their keys are called.
func validName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_.@-") == ""
}

// names are the rows that a call may look at, and whether there are more.
func (l *lister) names(r store.Reader, after string) (names []string, more bool) {
	lo := l.prefix
	if after != "" {
		lo += after + "\x00"
	}
	for key := range r.Range(lo, control.Beyond(l.prefix)) {
		if len(names) == scanMost {
			return names, true
		}
		names = append(names, strings.TrimPrefix(key, l.prefix))
	}
	return names, false
}
