package sessions_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
)

func TestCheckRoot(t *testing.T) {
	for _, good := range []api.Secret{
		"$6$rounds=5000$saltsalt$" + api.Secret(strings.Repeat("x", 86)), "$6$s$d", "$5$abc$0123./", "$y$j9T$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7",
		"$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW", "$gy$j9T$a$b", "$sm3$a$b", "$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA",
	} {
		if err := sessions.CheckRoot(good); err != nil {
			t.Errorf("%s: %v", good.Show(), err)
		}
	}
	for _, bad := range []api.Secret{
		"", "hunter2", "x", "!", "*", "!$6$a$b", "$6$a$b:0:0", "$6$a$b\nevil::0:0::/:/bin/sh", "$6$a$b\r", "$6$a$b\x00", "$6$a$é", "$6$ $b", "$6$a$", "$6$a", "$$a$b", "6$a$b$c", "$6A$a$b", "ab1234567890.",
		"$6$a$" + api.Secret(strings.Repeat("x", 400)), "$6$a;b$c", "$6$a\\$b", "$" + api.Secret(strings.Repeat("a", 17)) + "$b$c",
	} {
		no, ok := errors.AsType[*sessions.NoHash](sessions.CheckRoot(bad))
		if !ok || no.Code() != "INVALID_INPUT" || len(bad) > 3 && strings.Contains(no.Error(), bad.Show()) {
			t.Errorf("%q: %v", bad.Show(), no)
		}
	}
}
