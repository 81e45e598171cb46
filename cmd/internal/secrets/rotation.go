package secrets

import "context"

// PutPending keeps credentials that are about to be set on a BMC beside those in
// force, so that a crash between the two loses neither. Asked again with the
// same pair, it changes nothing; while another one waits it is refused, code
// CONFLICT. Then set them on the BMC, sign in by them, and Confirm, or RollBack.
// The error is that of [Store.Put], with the code NOT_FOUND for a name that has
// nothing in force.
func (s *Store) PutPending(ctx context.Context, name, username string, password Password) (Kept, error) {
	c := Credentials{Username: username, Password: password}
	if err := checkKept(name, c); err != nil {
		return Kept{}, err
	}
	k := Kept{Ref: storeRef(name)}
	err := s.change(ctx, func(b book) (bool, error) {
		e, known := b[name]
		switch {
		case !known:
			return false, absent(name)
		case e.pending() && e.next.same(c):
			k.Version = e.next.Version
			return false, nil
		case e.pending():
			return false, &Refused{name, "has another rotation that is not confirmed: confirm it or roll it back", "CONFLICT"}
		case e.now.same(c):
			return false, &Refused{name, "has these credentials in force", "INVALID_STATE"}
		}
		var err error
		c.Version, err = s.draw()
		e.next = c
		b[name], k.Version, k.Changed = e, c.Version, true
		return true, err
	})
	if err != nil {
		return Kept{}, err
	}
	return k, nil
}

// Confirm puts the pending credentials of that version in force, and forgets the
// old. Confirmed already, it changes nothing. The error is [*Refused], code
// INVALID_STATE where another version waits or none, or [*BadFile] or ctx's.
func (s *Store) Confirm(ctx context.Context, name, version string) error {
	return s.change(ctx, func(b book) (bool, error) {
		e, known := b[name]
		switch {
		case !known:
			return false, absent(name)
		case e.now.Version == version && !e.pending():
			return false, nil
		case !e.pending() || e.next.Version != version:
			return false, &Refused{name, "has no pending credentials of this version", "INVALID_STATE"}
		}
		b[name] = entry{now: e.next}
		return true, nil
	})
}

// RollBack forgets the pending credentials of that version; those in force stay.
// Where none wait it changes nothing, unless they are in force: then it is
// refused, code INVALID_STATE. The error is [*Refused], [*BadFile] or ctx's.
func (s *Store) RollBack(ctx context.Context, name, version string) error {
	return s.change(ctx, func(b book) (bool, error) {
		e, known := b[name]
		switch {
		case !known:
			return false, absent(name)
		case e.now.Version == version:
			return false, &Refused{name, "has these credentials in force: they are confirmed", "INVALID_STATE"}
		case !e.pending():
			return false, nil
		case e.next.Version != version:
			return false, &Refused{name, "has no pending credentials of this version", "INVALID_STATE"}
		}
		b[name] = entry{now: e.now}
		return true, nil
	})
}
