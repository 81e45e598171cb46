package postgrestest_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/store/postgres/postgrestest"
)

func TestServerLives(t *testing.T) {
	s, err := postgrestest.Start("max_connections=10")
	postgrestest.Need(t, err)
	defer s.Stop()
	dsn := s.Database(t)
	ask(t, dsn, "create table kept (x text); insert into kept values ('a'), ('B'), ('b')")
	if got := ask(t, dsn, "select string_agg(x, '' order by x) from kept"); got != "abB" {
		t.Errorf("the order is %q, want a dictionary's", got)
	}
	for name, want := range map[string]string{"fsync": "on", "listen_addresses": "", "max_connections": "10"} {
		if got := ask(t, dsn, "show "+name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	pid := s.PID()
	if err := errors.Join(s.Kill(), s.Restart()); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, dsn, "select count(*) from kept"); got != "3" {
		t.Errorf("after a crash: %s rows", got)
	}
	if s.PID() == pid {
		t.Error("a restarted server has the old process")
	}
}

func TestStandbyFollows(t *testing.T) {
	s, err := postgrestest.Start()
	postgrestest.Need(t, err)
	defer s.Stop()
	dsn := s.Database(t)
	ask(t, dsn, "create table kept (x int)")
	f, err := s.Standby()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Stop()
	name := dsn[strings.LastIndex(dsn, "=")+1:]
	if got := ask(t, f.DSN(name), "select pg_is_in_recovery()"); got != "t" {
		t.Errorf("in recovery: %s", got)
	}
}

func TestStopLeavesNothing(t *testing.T) {
	s, err := postgrestest.Start()
	postgrestest.Need(t, err)
	host, _, _ := strings.Cut(strings.TrimPrefix(s.DSN("x"), "host="), " ")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(host); !os.IsNotExist(err) {
		t.Errorf("the folder stays: %v", err)
	}
	if err := syscall.Kill(s.PID(), 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the process stays: %v", err)
	}
}

func TestNeed(t *testing.T) {
	t.Setenv("INGOT_TEST_ALL", "")
	t.Run("skips", func(t *testing.T) {
		postgrestest.Need(t, &postgrestest.Missing{Program: "postgres"})
		t.Error("it went on")
	})
	postgrestest.Need(t, nil)
}

func ask(t *testing.T, dsn, query string) string {
	t.Helper()
	psql, _ := filepath.Glob("/usr/lib/postgresql/*/bin/psql")
	out, err := exec.Command(append(psql, "psql")[0], "-XAtc", query, dsn).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", query, err, out)
	}
	return strings.TrimSpace(string(out))
}
