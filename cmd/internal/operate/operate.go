// Package operate is what an operator does at a site, for programs that play one: the
// demo, and the lab of real machines.
package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/booting/account"
)

// SignIn makes an operator, by a client of the control plane's own host, and opens a
// session as that operator. The password is drawn and forgotten.
func SignIn(ctx context.Context, host *api.Client, entropy io.Reader, name string) (*api.Client, error) {
	var raw [12]byte
	if _, err := io.ReadFull(entropy, raw[:]); err != nil {
		return nil, err
	}
	password := api.Secret(fmt.Sprintf("%x", raw))
	add := api.AddOperator{}
	add.Body.Name, add.Body.Password = name, password
	if _, err := api.OperatorAdd.Call(ctx, host, &add); err != nil {
		return nil, err
	}
	in := api.OpenSession{}
	in.Body.Operator, in.Body.Password = name, password
	s, err := api.SessionOpen.Call(ctx, host, &in)
	if err != nil {
		return nil, err
	}
	c := *host
	c.Credential = api.Bearer(s.Token.Show)
	return &c, nil
}

// KeyFile mints an API key of a scope and keeps it in a file of mode 0600.
func KeyFile(ctx context.Context, c *api.Client, scope, path string) error {
	in := api.MintKey{}
	in.Body.Scope = scope
	k, err := api.KeyMint.Call(ctx, c, &in)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(k.Secret.Show()+"\n"), 0o600)
}

// Plan has the site plan a setup of a machine.
func Plan(ctx context.Context, c *api.Client, server string, want api.SetupRequest) (api.SetupPlan, error) {
	return api.RegistrationPlan.Call(ctx, c, &api.PlanSetup{RegistrationRef: api.RegistrationRef{Server: server}, Body: want})
}

// Approve approves a plan that was shown.
func Approve(ctx context.Context, c *api.Client, server string, want api.SetupRequest, shown api.SetupPlan) error {
	in := api.ApproveSetup{RegistrationChange: api.RegistrationChange{RegistrationRef: api.RegistrationRef{Server: server}}}
	in.Body.SetupRequest, in.Body.ShownPlan, in.Body.AgentKey, in.Body.MACs = want, shown.Digest, shown.AgentKey, shown.MACs
	_, err := api.RegistrationApproveSetup.Call(ctx, c, &in)
	return err
}

// Approved is a line that says what who approved.
func Approved(who string, p api.SetupPlan) string {
	return who + " approves plan " + p.Digest[:16] + " for agent key " + p.AgentKey[:16] + ":\n" + strings.TrimSpace(p.Text)
}

// Why asks a booter, by a client of its Unix socket, for its account of a machine, as
// ingot why-silent does.
func Why(ctx context.Context, socket *http.Client, mac string) (a account.Account, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://booter/v1/why/"+mac, nil)
	if err != nil {
		return a, err
	}
	res, err := socket.Do(req)
	if err != nil {
		return a, err
	}
	defer res.Body.Close()
	return a, json.NewDecoder(res.Body).Decode(&a)
}
