package machine

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ingotmetal/ingot/bmc"
)

// A redactor takes the passwords that were in use out of errors, in case a
// driver, a BMC or a source has put one in.
type redactor struct {
	mu    sync.Mutex
	words []string // oldest first
}

// maxWords bounds what is remembered: some passwords in each of their spellings.
const maxWords = 64

// learn adds a password in the spellings in which it travels.
func (r *redactor) learn(user string, s bmc.Secret) {
	p := s.Show()
	if p == "" {
		return
	}
	quoted := strconv.Quote(p)
	spellings := []string{
		p, url.QueryEscape(p), url.PathEscape(p), quoted[1 : len(quoted)-1],
		base64.StdEncoding.EncodeToString([]byte(user + ":" + p)), base64.StdEncoding.EncodeToString([]byte(p)),
	}
	if b, err := json.Marshal(p); err == nil {
		spellings = append(spellings, string(b[1:len(b)-1]))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range spellings {
		if !slices.Contains(r.words, w) {
			r.words = append(r.words, w)
		}
	}
	if over := len(r.words) - maxWords; over > 0 {
		r.words = slices.Delete(r.words, 0, over)
	}
}

func (r *redactor) text(s string) string {
	r.mu.Lock()
	words := slices.Clone(r.words)
	r.mu.Unlock()
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	for _, w := range words {
		s = strings.ReplaceAll(s, w, "[redacted]")
	}
	return s
}

// err is err where no text in it holds a password; else a copy without.
func (r *redactor) err(err error) error {
	if err == nil || r.clean(err) {
		return err
	}
	e, ok := errors.AsType[*bmc.Error](err)
	if !ok {
		return errors.New(r.text(err.Error()))
	}
	c := *e
	c.Op, c.Why, c.Do, c.Err = r.text(e.Op), r.text(e.Why), r.text(e.Do), r.err(e.Err)
	return &c
}

// clean reports whether nothing in the tree of err says a password.
func (r *redactor) clean(err error) bool {
	if err == nil {
		return true
	}
	said := err.Error()
	if e, ok := err.(*bmc.Error); ok { // its text is cut, and perhaps in the middle of one
		said = e.Op + "\n" + e.Why + "\n" + e.Do
	}
	if r.text(said) != said {
		return false
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return r.clean(e.Unwrap())
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(err error) bool { return !r.clean(err) })
	}
	return true
}
