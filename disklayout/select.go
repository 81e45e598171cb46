package disklayout

import (
	"fmt"
	"slices"
	"strings"
)

// find returns the place of the one disk that a selector finds among all
// (DISK-2). Disks that can never be written are no candidates; those that
// cannot for another reason are, so that nothing is chosen by elimination.
func (s *Selector) find(all []seen) (int, error) {
	m := s.matcher()
	found, out := []int(nil), -1 // candidates; the first that is barred
	for i := range all {
		switch {
		case !m.matches(&all[i]):
		case all[i].barred == "":
			found = append(found, i)
		case out < 0:
			out = i
		}
	}
	switch {
	case len(found) == 0 && out >= 0:
		return 0, all[out].explain(all[out].barred)
	case len(found) == 0:
		return 0, refuse(NoSuchDisk, nil, fmt.Sprintf("none of the %d announced disks is %s", len(all), s))
	case len(found) > 1:
		return 0, s.ambiguous(all, found)
	}
	d := &all[found[0]]
	if s.Name != "" && s.Name != d.Name {
		return 0, refuse(NameMismatch, d, "its kernel name is "+plain(d.Name)+", not "+plain(s.Name))
	}
	return found[0], nil
}

// ambiguous names the candidates; where they share a serial, that is the
// reason.
func (s *Selector) ambiguous(all []seen, found []int) error {
	first := &all[found[0]]
	alike := func(i int) bool { return all[i].serial == first.serial && all[i].flaw == first.flaw }
	if (first.flaw == DuplicateSerial || first.flaw == ManyPaths) && !slices.ContainsFunc(found, func(i int) bool { return !alike(i) }) {
		return first.explain(first.flaw)
	}
	e := refuse(Ambiguous, nil, fmt.Sprintf("%d disks are %s", len(found), s))
	for _, i := range found {
		e.Candidates = append(e.Candidates, all[i].called())
	}
	return e
}

// A matcher is a selector in canonical forms.
type matcher struct {
	*Selector
	serial, wwn, model, transport string
}

func (s *Selector) matcher() matcher {
	return matcher{s, CanonicalSerial(s.Serial), CanonicalWWN(s.WWN), fold(s.Model), trim(s.Transport)}
}

func (m *matcher) matches(d *seen) bool {
	switch {
	case m.serial != "" && m.serial != d.serial,
		m.wwn != "" && m.wwn != d.wwn,
		m.MinSize > d.Size,
		m.MaxSize != 0 && m.MaxSize < d.Size,
		m.Rotational != nil && (d.Rotational == nil || *d.Rotational != *m.Rotational),
		m.transport != "" && !strings.EqualFold(m.transport, trim(d.Transport)):
		return false
	}
	return m.model == "" || begins(fold(d.Model), m.model)
}

// begins is strings.HasPrefix in any case.
func begins(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// String lists the fields that are set, for errors.
func (s Selector) String() string {
	var parts []string
	add := func(set bool, what, value string) {
		if set {
			parts = append(parts, what+" "+value)
		}
	}
	add(s.Serial != "", "serial", plain(s.Serial))
	add(s.WWN != "", "WWN", plain(s.WWN))
	add(s.Model != "", "model", plain(s.Model)+"*")
	add(s.MinSize != 0, "from", fmt.Sprint(s.MinSize, " bytes"))
	add(s.MaxSize != 0, "up to", fmt.Sprint(s.MaxSize, " bytes"))
	add(s.Rotational != nil, "rotational", fmt.Sprint(s.Rotational != nil && *s.Rotational))
	add(s.Transport != "", "transport", plain(s.Transport))
	return strings.Join(parts, ", ")
}
