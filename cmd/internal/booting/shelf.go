package booting

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ingotmetal/ingot/cmd/internal/whole"
	"github.com/ingotmetal/ingot/identity/bundle"
)

// A shelf keeps the sealed bundles that were drained, each in a file of its own until
// its setup has ended. Its text is what the names of the files begin with; "" keeps
// nothing.
//
// A bundle is handed out once (SET-6): one that was drained and cannot be kept is lost
// with this booter. So there is a [room] first, as long as the bundle may be and on
// the medium, and the drain comes after.
type shelf string

// roomFor is what a kept bundle has beside its plan, in bytes: the sealed text, and
// the names of its members.
const roomFor = 2*bundle.MaxSize + 1024

// unkeepable are names that are no UUID's. None comes from the control plane.
func unkeepable(server string) bool {
	return server == "" || strings.Trim(server, "0123456789abcdef-") != ""
}

func (s shelf) path(server string) string { return string(s) + "-" + server + ".json" }

// A room is the file of a bundle that is not here yet: spaces, to be written over.
type room struct {
	path string
	file *os.File
	size int
}

// reserve makes room for a bundle with a plan. A room for a setup before is taken
// over.
func (s shelf) reserve(server string, plan any) (*room, error) {
	if s == "" || unkeepable(server) {
		return nil, nil
	}
	raw, err := json.Marshal(plan)
	if err != nil {
		return nil, err
	}
	r := &room{path: s.path(server), size: len(raw) + roomFor}
	if r.file, err = os.OpenFile(r.path, os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600); err != nil {
		return nil, err
	}
	_, err = r.file.Write(bytes.Repeat([]byte(" "), r.size))
	if err = errors.Join(err, r.file.Sync()); err == nil {
		err = whole.SyncName(r.path)
	}
	if err != nil {
		r.leave()
		return nil, err
	}
	return r, nil
}

// keep writes the bundle into its room, and lets go of the file.
func (r *room) keep(h handed) error {
	if r == nil {
		return nil
	}
	if !h.Sealed {
		r.leave()
		return nil
	}
	raw, err := json.Marshal(h)
	if err == nil {
		_, err = r.file.WriteAt(raw, 0)
	}
	return errors.Join(err, r.file.Sync(), r.file.Close())
}

// leave gives the room back.
func (r *room) leave() {
	if r != nil {
		_ = r.file.Close()
		_ = os.Remove(r.path) // an empty one is removed at the next start
	}
}

// drop forgets the bundle of a machine.
func (s shelf) drop(server string) error {
	if s == "" || unkeepable(server) {
		return nil
	}
	err := os.Remove(s.path(server))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, whole.SyncName(s.path(server)))
}

// load reads what is kept, by server. A room whose bundle never came is removed; of
// what is damaged there is an error beside the others.
func (s shelf) load() (map[string]handed, error) {
	out := map[string]handed{}
	if s == "" {
		return out, nil
	}
	base := filepath.Base(string(s))
	all, err := os.ReadDir(filepath.Dir(string(s)))
	if err != nil {
		return out, err
	}
	var errs []error
	for _, e := range all {
		name, ours := strings.CutPrefix(e.Name(), base+"-")
		server, whole := strings.CutSuffix(name, ".json")
		if !ours || !whole || unkeepable(server) {
			continue
		}
		h, err := s.read(server)
		switch {
		case err != nil:
			errs = append(errs, err)
		case h.Epoch == 0:
			errs = append(errs, s.drop(server))
		default:
			out[server] = h
		}
	}
	return out, errors.Join(errs...)
}

// read reads one, empty where there is room alone.
func (s shelf) read(server string) (h handed, err error) {
	raw, err := os.ReadFile(s.path(server))
	if err != nil || len(bytes.TrimSpace(raw)) == 0 {
		return h, err
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return handed{}, &Damaged{s.path(server), err}
	}
	return h, nil
}

// A Damaged reports a file of this booter that cannot be read.
type Damaged struct {
	Path string
	Err  error
}

// Error says what follows.
func (e *Damaged) Error() string {
	return e.Path + " is damaged, and its setup ends at its deadline: " + e.Err.Error()
}

// Unwrap is what is wrong with it.
func (e *Damaged) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (*Damaged) Code() string { return "UNAVAILABLE" }
