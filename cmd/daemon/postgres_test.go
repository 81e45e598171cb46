package daemon_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/config"
	"github.com/ingotmetal/ingot/cmd/internal/store/postgres/postgrestest"
)

// Two control planes on one database: the second waits, takes over when the first is
// gone, and has all that the first acknowledged.
func TestPostgresTakeOver(t *testing.T) {
	srv, err := postgrestest.Start()
	postgrestest.Need(t, err)
	t.Cleanup(func() {
		if err := srv.Stop(); err != nil {
			t.Error(err)
		}
	})
	dsn := filepath.Join(t.TempDir(), "dsn")
	if err := os.WriteFile(dsn, []byte(srv.Database(t)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	state := t.TempDir() // both have the site's master secret
	first, second := postgresSite(state, dsn, "a"), postgresSite(state, dsn, "b")
	stop, client := started(t, first)
	add := api.AddOperator{}
	add.Body.Name, add.Body.Password = "ada", "correct horse battery"
	if _, err := api.OperatorAdd.Call(t.Context(), client, &add); err != nil {
		t.Fatal(err)
	}
	waiting := make(chan func())
	go func() {
		stop, client := started(t, second)
		waiting <- func() {
			defer stop()
			got, err := api.OperatorListing.Call(t.Context(), client, &api.OperatorList{})
			if err != nil || len(got.Operators) != 1 || got.Operators[0].Name != "ada" {
				t.Errorf("the second has %+v, %v", got, err)
			}
			add.Body.Name = "bob"
			if _, err := api.OperatorAdd.Call(t.Context(), client, &add); err != nil {
				t.Errorf("the second cannot write: %v", err)
			}
		}
	}()
	select {
	case <-waiting:
		t.Fatal("both serve at once")
	case <-time.After(time.Second): // as long as that there is no sign of it
	}
	stop()
	(<-waiting)()
}

func postgresSite(state, dsn, name string) daemon.Config {
	c := config.Default()
	c.Site, c.State, c.Listen.TCP, c.Listen.Unix = "lab", state, nil, filepath.Join(state, name)
	c.Store = config.Store{Kind: config.PG, Postgres: config.Postgres{DSNFile: dsn, Schema: "ingot"}}
	return c
}
