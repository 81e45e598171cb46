package metal

import (
	"context"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
)

// A source gives a machine's credentials to its driver, resolved anew each time.
type source struct{ from secrets.Source }

// Credentials resolves the machine's reference.
func (s source) Credentials(ctx context.Context) (bmc.Credentials, error) {
	c, err := s.from.Credentials(ctx)
	if err != nil {
		return bmc.Credentials{}, &bmc.Error{Kind: bmc.InvalidOption, Op: "resolve the credentials", Sent: bmc.SentNo, Why: err.Error(), Do: "mend the secret, or enroll with another", Err: err}
	}
	return bmc.Credentials{Username: c.Username, Password: bmc.Keep(c.Password.Show()), Version: c.Version}, nil
}
