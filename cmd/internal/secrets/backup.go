package secrets

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
)

// maxKeys bounds a list of age recipients or identities, and maxKeyText its
// text in bytes. A post-quantum key has about 2,000 characters.
const (
	maxKeys    = 32
	maxKeyText = 128 << 10
)

// Recipients are the age public keys that backups are encrypted to. Anybody may
// see them.
type Recipients struct {
	list []age.Recipient
}

// ParseRecipients reads a configuration's list, one age public key each: age1...
// or age1pq1..., of one kind, at most 32. The error is [*BadKeys].
func ParseRecipients(list []string) (Recipients, error) {
	bad := func(why string) (Recipients, error) { return Recipients{}, &BadKeys{"recipients", why} }
	if len(list) == 0 || len(list) > maxKeys {
		return bad(fmt.Sprintf("there are %d, want 1 to %d", len(list), maxKeys))
	}
	var out Recipients
	for i, s := range list {
		if len(s) > maxKeyText/maxKeys || strings.ContainsAny(s, "\r\n") {
			return bad(fmt.Sprintf("number %d is not one public key", i+1))
		}
		if strings.HasPrefix(strings.ToUpper(strings.TrimSpace(s)), "AGE-SECRET-KEY-") {
			return bad(fmt.Sprintf("number %d is a secret key: take it out, replace it, and write the public key that age-keygen -y prints", i+1))
		}
		r, err := age.ParseRecipients(strings.NewReader(s))
		if err != nil || len(r) != 1 {
			return bad(fmt.Sprintf("number %d is no age public key (age1...)", i+1))
		}
		out.list = append(out.list, r[0])
	}
	if _, err := age.Encrypt(io.Discard, out.list...); err != nil {
		return bad("these cannot be used together: all must be post-quantum (age1pq1...) or none")
	}
	return out, nil
}

// EncryptTo returns a writer whose plaintext goes to w encrypted to every one of
// the recipients. Close it, else the end is missing and the backup does not
// decrypt. The file key is drawn from the process's source of randomness, since
// age takes no other. The error is [*BadKeys], or w's.
func EncryptTo(w io.Writer, to Recipients) (io.WriteCloser, error) {
	if len(to.list) == 0 {
		return nil, &BadKeys{"recipients", "there are none: a backup is not written in clear"}
	}
	out, err := age.Encrypt(w, to.list...)
	if err != nil {
		return nil, fmt.Errorf("secrets: begin an encrypted backup: %w", err)
	}
	return out, nil
}

// Identities are the age secret keys that open backups. They print as
// [redacted].
type Identities struct {
	redacted
	reveal func() []age.Identity
}

// ParseIdentities reads an identity file as age-keygen writes it: at most 32
// keys, lines that begin with # left out. The error is [*BadKeys] and carries
// nothing of the text; that of reading r is wrapped.
func ParseIdentities(r io.Reader) (Identities, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxKeyText+1))
	if err != nil {
		return Identities{}, fmt.Errorf("secrets: read age identities: %w", err)
	}
	if len(text) > maxKeyText {
		return Identities{}, &BadKeys{"identities", fmt.Sprintf("more than %d bytes", maxKeyText)}
	}
	list, err := age.ParseIdentities(strings.NewReader(string(text)))
	if err != nil || len(list) > maxKeys {
		return Identities{}, &BadKeys{"identities", fmt.Sprintf("want 1 to %d lines of AGE-SECRET-KEY-...", maxKeys)}
	}
	return Identities{reveal: func() []age.Identity { return list }}, nil
}

// DecryptWith returns a reader of the plaintext of a backup. Use what it gives
// only when it has ended with io.EOF: a cut or altered backup fails there, not
// here. Its errors and its reader's are [*Unreadable].
func DecryptWith(r io.Reader, with Identities) (io.Reader, error) {
	if with.reveal == nil {
		return nil, &BadKeys{"identities", "there are none"}
	}
	plain, err := age.Decrypt(r, with.reveal()...)
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, &Unreadable{Why: "it was made for none of these identities"}
	}
	if err != nil {
		return nil, &Unreadable{Why: "its beginning is not that of an age file, or was cut or altered", Err: err}
	}
	return strict{plain}, nil
}

// strict gives a failing reader's errors their type.
type strict struct{ from io.Reader }

func (s strict) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	if err != nil && err != io.EOF {
		err = &Unreadable{Why: "it was cut or altered", Err: err}
	}
	return n, err
}
