package secrets_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/secrets"
)

func TestBroker(t *testing.T) { // PROV-9
	s := storeIn(t.TempDir())
	b := secrets.NewBroker(s)
	first, err := b.Keep(t.Context(), "node-1", "root", password(t, "hunter2"))
	if err != nil || first.Ref.String() != "secret://store/node-1" || !first.Changed {
		t.Fatalf("%+v, %v", first, err)
	}
	gives(t, s, first.Ref.String(), "root", "hunter2")
	again, err := b.Keep(t.Context(), "node-1", "root", password(t, "hunter2"))
	if err != nil || again.Changed || again.Ref != first.Ref || again.Version != first.Version {
		t.Errorf("asked again: %+v, %v", again, err)
	}
	_, err = b.Keep(t.Context(), "node-1", "root", password(t, "hunter3"))
	wants(t, "another pair", err, "CONFLICT", "other credentials")
	_, err = b.Keep(t.Context(), "node-1", "admin", password(t, "hunter2"))
	wants(t, "another user", err, "CONFLICT", "other credentials")
	if err := b.Forget(t.Context(), again); err != nil {
		t.Error(err)
	}
	gives(t, s, first.Ref.String(), "root", "hunter2") // the second call made nothing
	for range 2 {
		if err := b.Forget(t.Context(), first); err != nil {
			t.Error(err)
		}
	}
	_, err = s.Resolve(t.Context(), first.Ref)
	wants(t, "forgotten", err, "NOT_FOUND", "no such name")
}

// What was changed since is somebody else's.
func TestBrokerForgetsItsOwnAlone(t *testing.T) {
	s := storeIn(t.TempDir())
	b := secrets.NewBroker(s)
	kept, err := b.Keep(t.Context(), "a", "root", password(t, "hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	pending, err := s.PutPending(t.Context(), "a", "root", password(t, "hunter3"))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Forget(t.Context(), kept); err != nil {
		t.Error(err)
	}
	gives(t, s, "secret://store/a", "root", "hunter2")
	if err := s.Confirm(t.Context(), "a", pending.Version); err != nil {
		t.Fatal(err)
	}
	if err := b.Forget(t.Context(), kept); err != nil {
		t.Error(err)
	}
	gives(t, s, "secret://store/a", "root", "hunter3")
}

func TestNoBroker(t *testing.T) {
	_, err := secrets.Broker{}.Keep(t.Context(), "a", "root", password(t, "hunter2"))
	wants(t, "keep", err, "INVALID_CONFIG", "secrets.store")
	wants(t, "forget", secrets.Broker{}.Forget(t.Context(), secrets.Kept{}), "INVALID_CONFIG", "secret:// reference")
}

func TestSetup(t *testing.T) {
	dir := t.TempDir()
	vars := env{"X_A": "root\nhunter2"}
	write(t, filepath.Join(dir, "a"), []byte("root\nhunter2"), 0o600)
	full := secrets.Setup{Roots: []string{dir}, Lookup: vars.lookup, EnvPrefix: "X_", Store: filepath.Join(dir, "s"), Identity: filepath.Join(dir, "k"), Entropy: rand.Reader}
	rs, b, err := full.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Keep(t.Context(), "a", "root", password(t, "hunter2")); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"secret://file/a", "secret://env/X_A", "secret://store/a"} {
		gives(t, rs, text, "root", "hunter2")
	}
	rs, b, err = secrets.Setup{Entropy: rand.Reader}.Open()
	if err != nil || len(rs) != 0 {
		t.Errorf("%v, %v", rs, err)
	}
	_, err = b.Keep(t.Context(), "a", "root", password(t, "hunter2"))
	wants(t, "no store", err, "INVALID_CONFIG", "no secret broker")
	_, err = rs.Resolve(t.Context(), ref(t, "secret://store/a"))
	wants(t, "no resolver", err, "INVALID_CONFIG", "nothing here resolves")
	half := full
	half.Identity = ""
	_, _, err = half.Open()
	wants(t, "half a store", err, "INVALID_INPUT", "two files")
	for _, entropy := range []io.Reader{nil, strings.NewReader("short")} {
		if _, _, err := (secrets.Setup{Entropy: entropy}).Open(); err == nil {
			t.Error("opens without entropy")
		}
	}
}

func TestNothingPrintsAPassword(t *testing.T) {
	const canary = "hunter2-canary"
	dir := t.TempDir()
	s := storeIn(dir)
	p := password(t, canary)
	kept := put(t, s, "a", canary)
	if _, err := s.PutPending(t.Context(), "a", "root", password(t, canary+"2")); err != nil {
		t.Fatal(err)
	}
	now, next, err := s.Rotation(t.Context(), kept.Ref)
	if err != nil || next.Version == "" {
		t.Fatal(err)
	}
	vars := env{"INGOT_SECRET_A": "root\n" + canary}
	e := secrets.NewEnv("", vars.lookup, key(t))
	rs := secrets.Resolvers{"store": s, "env": e, "file": secrets.NewFiles([]string{dir}, key(t))}
	c := gives(t, e, "secret://env/INGOT_SECRET_A", "root", canary)
	listed, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	type holder struct {
		P    secrets.Password
		p    secrets.Password
		C    secrets.Credentials
		c    *secrets.Credentials
		S    *secrets.Store
		s    *secrets.Store
		B    secrets.Broker
		b    secrets.Broker
		from secrets.Source
	}
	held := holder{p, p, c, &c, s, s, secrets.NewBroker(s), secrets.NewBroker(s), rs.Source(kept.Ref)}
	out := renderings(t, p, &p, now, &now, next, c, s, secrets.NewBroker(s), kept, listed, rs.Source(kept.Ref), held, &held, []secrets.Credentials{now}, map[string]secrets.Credentials{"a": now})
	out += renderings(t, refusals(t, s, canary)...)
	for _, form := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), fmt.Sprint([]byte(canary)), "hunter2"} {
		if strings.Contains(out, form) {
			t.Errorf("%q leaks in %s", form, out)
		}
	}
	if !strings.Contains(out, "[redacted]") {
		t.Error("nothing is redacted")
	}
}

// refusals are errors of calls that were given a password, or read one.
func refusals(t *testing.T, s *secrets.Store, canary string) []any {
	t.Helper()
	p := password(t, canary)
	_, tooLong := secrets.NewPassword(canary + long(600))
	_, control := secrets.NewPassword(canary + "\n")
	_, pasted := secrets.ParseRef(canary)
	_, pasted2 := secrets.ParseRef("secret://root:" + canary + "@file/a")
	_, conflict := s.Put(t.Context(), "a", "root", password(t, canary+"3"))
	_, twice := s.PutPending(t.Context(), "a", "root", password(t, canary+"3"))
	_, absent := s.PutPending(t.Context(), "b", "root", p)
	_, noUser := s.Put(t.Context(), "c", "", p)
	_, kept := secrets.NewBroker(s).Keep(t.Context(), "a", "root", password(t, canary+"3"))
	_, none := secrets.Broker{}.Keep(t.Context(), "a", "root", p)
	var out []any
	for i, err := range []error{tooLong, control, pasted, pasted2, conflict, twice, absent, noUser, kept, none, s.Delete(t.Context(), "a")} {
		if err == nil {
			t.Errorf("call %d is not refused", i)
		}
		out = append(out, err, fmt.Errorf("wrapped: %w", err))
	}
	return out
}

// What is discarded is gone, once or twice, and its name is free for another password.
func TestBrokerDiscards(t *testing.T) {
	s := storeIn(t.TempDir())
	b := secrets.NewBroker(s)
	for _, text := range []string{"one", "two"} {
		k, err := b.Keep(t.Context(), "bmc_1", "root", password(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(b.Discard(t.Context(), k.Ref), b.Discard(t.Context(), k.Ref)); err != nil {
			t.Error(err)
		}
		if all, err := s.List(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("%v, %v", all, err)
		}
	}
	wants(t, "no store", secrets.Broker{}.Discard(t.Context(), secrets.Ref{}), "INVALID_CONFIG", "no secret broker")
}
