package daemon_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/store/postgres/postgrestest"
)

// A control plane on a hot standby shows what the writer acknowledged, streams its
// events, and changes nothing.
func TestReaderOnStandby(t *testing.T) {
	primary := database(t, postgrestest.Start)
	dsn := primary.Database(t)
	writing := postgresSite(t.TempDir(), written(t, dsn), "a")
	stop, writer := started(t, writing)
	defer stop()
	addOperator(t, writer, "ada")

	standby := database(t, func(...string) (*postgrestest.Server, error) { return primary.Standby() })
	_, name, _ := strings.Cut(dsn, "dbname=")
	name, _, _ = strings.Cut(name, " ")
	reading := postgresSite(t.TempDir(), written(t, standby.DSN(name)), "b")
	reading.Store.Postgres.Reader = true

	_, err := daemon.OpenSite(t.Context(), reading, outside())
	if _, ok := errors.AsType[*daemon.Refused](err); !ok {
		t.Fatalf("without the site's master secret: %v", err)
	}
	key, err := os.ReadFile(filepath.Join(writing.State, "site.key"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(reading.State, "site.key"), key, 0o600); err != nil {
		t.Fatal(err)
	}
	stopReader, reader := started(t, reading)
	defer stopReader()

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	addOperator(t, writer, "bob")
	for e, err := range api.Follow(ctx, reader, &api.EventStream{}) {
		if err != nil {
			t.Fatalf("the reader's stream: %v", err)
		}
		if e.Type == "operator.added" && e.Subject == "bob" {
			break
		}
	}
	got, err := api.OperatorListing.Call(ctx, reader, &api.OperatorList{})
	if err != nil || len(got.Operators) != 2 {
		t.Errorf("the reader has %+v, %v", got, err)
	}
	_, err = api.OperatorAdd.Call(ctx, reader, newOperator("eve"))
	if p, ok := errors.AsType[*api.Problem](err); !ok || p.Name != "UNAVAILABLE" || p.Next != "ask the writer" || !strings.Contains(p.Detail, "only reads") {
		t.Errorf("a change asked of the reader: %v", err)
	}
}
