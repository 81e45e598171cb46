package server

import (
	"bytes"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	protocol "github.com/ingotmetal/ingot/liveness/session"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// rootTold is what one session was told of its machine's root password. The boot of an
// enrolled machine is to carry the hash (BOOT-3); scripts and images cross the segment
// in clear, so it travels by the one way that is the machine's own.
type rootTold struct {
	server *Server
	of     registration.ServerID
	row    []byte // as it was looked at last
	told   bool
	sealed registration.Sealed // that was told
	due    bool
	hash   api.Secret // to be told, where due
}

// look finds out whether there is something to tell. What cannot be opened is logged and
// not told: the session goes on without it.
func (t *rootTold) look(r store.Reader) error {
	t.due = false
	row, _ := r.Get(lifecycle.RowRegistration + t.of.Key().String())
	if t.row != nil && bytes.Equal(row, t.row) {
		return nil // most commits are of other machines
	}
	st, err := t.server.row(r, t.of)
	if err != nil {
		return err
	}
	t.row = bytes.Clone(row)
	reg := &st.Node.Reg
	if reg.State != registration.Approved || t.told && reg.Settings.RootHash == t.sealed {
		return nil
	}
	hash, err := t.open(reg.Settings.RootHash)
	if err != nil {
		t.server.Log.Error("a root password hash cannot be opened, and its machine is not told", "machine", t.of.Key().String(), "error", err, "next", "set it again")
		return nil
	}
	t.due, t.told, t.sealed, t.hash = true, true, reg.Settings.RootHash, hash
	return nil
}

func (t *rootTold) open(sealed registration.Sealed) (api.Secret, error) {
	if sealed == "" {
		return "", nil
	}
	plain, err := t.server.sealer.Open(rootPlace(t.of), string(sealed))
	return api.Secret(plain), err
}

// tell tells it. A session that ends meanwhile need not know.
func (t *rootTold) tell(c *sessions.Conn) {
	if !t.due {
		return
	}
	hash := t.hash
	t.hash = ""
	c.Do(func(m *protocol.Server) { m.Root(hash.Show()) })
}
