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
	dsn := written(t, database(t, postgrestest.Start).Database(t))
	state := t.TempDir() // both have the site's master secret
	first, second := postgresSite(state, dsn, "a"), postgresSite(state, dsn, "b")
	stop, client := started(t, first)
	addOperator(t, client, "ada")
	waiting := make(chan func())
	go func() {
		stop, client := started(t, second)
		waiting <- func() {
			defer stop()
			got, err := api.OperatorListing.Call(t.Context(), client, &api.OperatorList{})
			if err != nil || len(got.Operators) != 1 || got.Operators[0].Name != "ada" {
				t.Errorf("the second has %+v, %v", got, err)
			}
			if _, err := api.OperatorAdd.Call(t.Context(), client, newOperator("bob")); err != nil {
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

// database is a server that lives as long as the test.
func database(t *testing.T, start func(...string) (*postgrestest.Server, error)) *postgrestest.Server {
	t.Helper()
	srv, err := start()
	postgrestest.Need(t, err)
	t.Cleanup(func() {
		if err := srv.Stop(); err != nil {
			t.Error(err)
		}
	})
	return srv
}

// written is a file with a connection string.
func written(t *testing.T, dsn string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dsn")
	if err := os.WriteFile(path, []byte(dsn+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func newOperator(name string) *api.AddOperator {
	add := &api.AddOperator{}
	add.Body.Name, add.Body.Password = name, "correct horse battery"
	return add
}

func addOperator(t *testing.T, c *api.Client, name string) {
	t.Helper()
	if _, err := api.OperatorAdd.Call(t.Context(), c, newOperator(name)); err != nil {
		t.Fatal(err)
	}
}

func postgresSite(state, dsn, name string) daemon.Config {
	c := config.Default()
	c.Site, c.State, c.Listen.TCP, c.Listen.Unix = "lab", state, nil, filepath.Join(state, name)
	c.Store = config.Store{Kind: config.PG, Postgres: config.Postgres{DSNFile: dsn, Schema: "ingot"}}
	return c
}
