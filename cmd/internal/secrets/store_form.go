package secrets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
)

// storeForm is the form of a store's content.
const storeForm = 1

// What a store's file holds, under its encryption.
type (
	storedBook struct {
		Form  int                    `json:"form"`
		Names map[string]storedEntry `json:"names"`
	}
	storedEntry struct {
		Now  stored  `json:"now"`
		Next *stored `json:"next,omitempty"`
	}
	stored struct {
		Username string `json:"username"`
		Password bared  `json:"password"`
		Version  string `json:"version"`
	}
	// bared is a password on its way into and out of the encryption.
	bared string
)

// Format writes [redacted], whatever the verb.
func (bared) Format(f fmt.State, verb rune) { redacted{}.Format(f, verb) }

func (c Credentials) stored() stored {
	return stored{c.Username, bared(c.Password.Show()), c.Version}
}

func (s stored) credentials() (Credentials, error) {
	c, err := newCredentials(s.Username, string(s.Password))
	if err == nil && (s.Version == "" || len(s.Version) > 64) {
		err = errors.New("a version is missing or long")
	}
	c.Version = s.Version
	return c, err
}

// encode returns b encrypted to the first of the identities.
func (b book) encode(to Identities) ([]byte, error) {
	whole := storedBook{storeForm, map[string]storedEntry{}}
	for name, e := range b {
		s := storedEntry{Now: e.now.stored()}
		if e.pending() {
			next := e.next.stored()
			s.Next = &next
		}
		whole.Names[name] = s
	}
	plain, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	r, err := to.first()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := EncryptTo(&out, Recipients{[]age.Recipient{r}})
	if err != nil {
		return nil, err
	}
	if _, err = w.Write(plain); err == nil {
		err = w.Close() // it writes the end
	}
	return out.Bytes(), err
}

// first is the recipient that the first identity opens for.
func (i Identities) first() (age.Recipient, error) {
	if i.reveal != nil {
		switch id := i.reveal()[0].(type) {
		case *age.X25519Identity:
			return id.Recipient(), nil
		case *age.HybridIdentity:
			return id.Recipient(), nil
		}
	}
	return nil, &BadKeys{"identities", "the first is of no kind that a store is encrypted to"}
}

// decode opens what encode made. The error carries nothing of it.
func decode(raw []byte, with Identities) (book, error) {
	r, err := DecryptWith(bytes.NewReader(raw), with)
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxStore))
	if err != nil {
		return nil, err
	}
	return parseBook(plain)
}

// parseBook reads the content. The error carries nothing of it: encoding/json's
// own would.
func parseBook(plain []byte) (book, error) {
	var whole storedBook
	dec := json.NewDecoder(bytes.NewReader(plain))
	dec.DisallowUnknownFields()
	if dec.Decode(&whole) != nil || whole.Form != storeForm || len(whole.Names) > maxNames {
		return nil, errors.New("its content is none of this version's: it was made by a later one, or by something else")
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("its content does not end where it should")
	}
	b := make(book, len(whole.Names))
	for name, s := range whole.Names {
		var e entry
		var err1, err2 error
		e.now, err1 = s.Now.credentials()
		if s.Next != nil {
			e.next, err2 = s.Next.credentials()
		}
		if err1 != nil || err2 != nil || !storeName.MatchString(name) {
			return nil, errors.New("one of its names stands for no credentials")
		}
		b[name] = e
	}
	return b, nil
}
