package server_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/api"
)

// hunt is secrets in the clear, by what they are, and where each may be answered.
type hunt struct {
	*site
	secrets map[string]string
}

func (h *hunt) hide(name string, secret api.Secret) {
	h.t.Helper()
	if len(secret) < 6 {
		h.t.Fatalf("%s is no secret", name)
	}
	h.secrets[name] = secret.Show()
}

// found lists the secrets that are in text, in the clear or in base64.
func (h *hunt) found(text string) []string {
	var all []string
	for name, secret := range h.secrets {
		if strings.Contains(text, secret) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(secret))) {
			all = append(all, name)
		}
	}
	return all
}

// Plaintext of a secret is in the one answer that gives it, and nowhere else: in no
// row, no event, no log, no problem, and no other answer.
func TestSecretsAreWhereTheyBelong(t *testing.T) {
	h := &hunt{newSite(t), map[string]string{}}
	s := h.site
	s.policy()
	m := s.machine(1)
	agent := m.installed()
	h.hide("agent key", api.Secret(secretOf(agent)))
	h.hide("operator session", api.Secret(secretOf(s.ada)))
	h.hide("booter key", api.Secret(secretOf(m.booter)))
	h.hide("password", password)
	out, poll := s.machine(2).registers()
	h.hide("claim code", out.Code)
	h.hide("bare claim code", api.Secret(strings.ReplaceAll(out.Code.Show(), "-", "")))
	h.hide("poll token", out.PollToken)
	ask(s, api.RegistrationApprove, s.ada, approving(out.Code))
	h.hide("polled key", ask(s, api.RegistrationStatusPoll, poll, &api.RegistrationPoll{}).Key)
	root := &api.SetRootPassword{RegistrationChange: *m.change()}
	root.Body.Hash = "$6$CANARY$ROOT"
	h.hide("root hash", root.Body.Hash)
	ask(s, api.RegistrationRootPassword, s.ada, root)
	mint := &api.MintKey{}
	mint.Body.Scope, mint.IdempotencyKey = "full", "canary-key"
	minted := ask(s, api.KeyMint, s.ada, mint)
	h.hide("minted key", minted.Secret)
	totp := &api.EnrolTOTP{OperatorChange: api.OperatorChange{OperatorRef: api.OperatorRef{Operator: "ada"}}}
	_, seed, _ := strings.Cut(ask(s, api.OperatorTOTP, s.host, totp).URI.Show(), "secret=")
	seed, _, _ = strings.Cut(seed, "&")
	h.hide("seed", api.Secret(seed))

	if f := h.found(s.said.String()); len(f) != len(h.secrets)-4 { // without passwords, the bundle's key and the bare code
		t.Errorf("the hunt finds only %v where they are given", f)
	}
	given := len(s.said.String())
	h.reads(m, agent, mint)
	h.refusals(m)
	if f := h.found(s.said.String()[given:]); len(f) > 0 {
		t.Errorf("answers that give no secret have %v", f)
	}
	if f := h.found(s.logs.String()); len(f) > 0 {
		t.Errorf("the log has %v: %s", f, s.logs.String())
	}
	for key, val := range s.rows() {
		if f := h.found(key + "\x00" + val); len(f) > 0 {
			t.Errorf("the row %s has %v", key, f)
		}
	}
}

// reads calls what gives no secret.
func (h *hunt) reads(m *machine, agent *api.Client, mint *api.MintKey) {
	s := h.site
	h.t.Helper()
	ref := m.ref()
	ask(s, api.KeyMint, s.ada, mint) // replayed
	ask(s, api.RegistrationShow, s.ada, &ref)
	ask(s, api.RegistrationListing, s.ada, &api.RegistrationList{})
	ask(s, api.NodeListing, s.ada, &api.NodeList{})
	ask(s, api.BootListing, s.ada, &api.BootList{})
	ask(s, api.KeyListing, s.ada, &api.KeyList{})
	ask(s, api.SessionListing, s.ada, &api.SessionList{})
	ask(s, api.OperatorListing, s.ada, &api.OperatorList{})
	ask(s, api.SessionShow, s.ada, &api.Empty{})
	ask(s, api.SessionShow, agent, &api.Empty{})
	ask(s, api.EventListing, s.ada, &api.EventList{Limit: 200})
	ask(s, api.RegistrationRefresh, agent, m.refreshing())
	ask(s, api.RegistrationDisable, s.ada, m.change())
	rows, err := api.AuditRowsRead.Open(h.t.Context(), s.ada, &api.AuditRows{})
	must(h.t, err)
	_, err = io.Copy(io.Discard, rows)
	must(h.t, err)
}

// refusals sends secrets where they are wrong, so that a problem might quote them.
func (h *hunt) refusals(m *machine) {
	s := h.site
	h.t.Helper()
	for _, secret := range h.secrets {
		for _, op := range []api.Any{api.SessionOpen, api.RegistrationApprove, api.RegistrationRegister, api.RegistrationRootPassword, api.OperatorAdd, api.SetupDrain, api.KeyMint} {
			for _, c := range []*api.Client{s.ada, s.host, m.enroll, s.as("")} {
				for _, body := range []string{
					fmt.Sprintf(`{"code":%q,"server_id":%q,"sysinfo":{"uuid":%q},"operator":%q,"password":%q,"hash":%q,"name":%q,"scope":%q}`, secret, secret, secret, secret, secret, secret, secret, secret),
					fmt.Sprintf(`{%q:1}`, secret), fmt.Sprintf(`%q`, secret), secret,
				} {
					s.raw(op.Info(), c, body)
				}
			}
		}
	}
}

// raw sends a body as it is, and gives the status and the answer.
func (s *site) raw(d api.Def, c *api.Client, body string) (int, string) {
	s.t.Helper()
	w := who{"", c.Base, secretOf(c)}
	vars := map[string]string{"server_id": uuidOf(1), "mac": macOf(1), "node_id": "node_00000000000000000000000001", "key_id": "key_x", "operator": "ada"}
	return s.post(d, w, vars, "", body)
}
