package secrets_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/ingotmetal/ingot/cmd/internal/secrets"
)

// ref reads a reference that is good.
func ref(t testing.TB, text string) secrets.Ref {
	t.Helper()
	r, err := secrets.ParseRef(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func key(t testing.TB) secrets.Key {
	t.Helper()
	k, err := secrets.DrawKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// gives fails unless the reference resolves to the pair.
func gives(t testing.TB, r secrets.Resolver, text, username, password string) secrets.Credentials {
	t.Helper()
	c, err := r.Resolve(t.Context(), ref(t, text))
	if err != nil || c.Username != username || c.Password.Show() != password || c.Version == "" {
		t.Errorf("%s: %s, %q, version %q, %v", text, c.Username, c.Password.Show(), c.Version, err)
	}
	return c
}

func TestFilesAreRead(t *testing.T) {
	root := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(root, "rack"), 0o700), os.Symlink("rack/a", filepath.Join(root, "within"))); err != nil {
		t.Fatal(err)
	}
	files := secrets.NewFiles([]string{filepath.Join(root, "not-there"), root}, key(t))
	for content, want := range map[string][2]string{
		"root\nhunter2":   {"root", "hunter2"},
		"root\nhunter2\n": {"root", "hunter2"},
		"root\n hunter 2": {"root", " hunter 2"},
		` {"password": "h\"2", "username": "root"}` + "\n": {"root", `h"2`},
		"root\n{\"a\":1}\n": {"root", `{"a":1}`},
	} {
		for _, mode := range []os.FileMode{0o600, 0o400} {
			write(t, filepath.Join(root, "rack", "a"), []byte(content), mode)
			gives(t, files, "secret://file/rack/a", want[0], want[1])
			gives(t, files, "secret://file/within", want[0], want[1])
			if err := os.Remove(filepath.Join(root, "rack", "a")); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestFilesRefuseContent(t *testing.T) {
	root := t.TempDir()
	files := secrets.NewFiles([]string{root}, key(t))
	for content, why := range map[string]string{
		"":                                 "two lines",
		"hunter2":                          "two lines",
		"root\nhunter2\nhunter2":           "two lines",
		"root\nhunter2\n\n":                "two lines",
		"\nhunter2":                        "username is empty",
		"root\n\n":                         "password is empty",
		"root\r\nhunter2\r\n":              "control character",
		"root\nhunter2\x00":                "control character",
		"root\nhunter2\xff":                "UTF-8",
		"root\nhunter2" + long(4100):       "more than 4096",
		"root\nhunter2" + long(600):        "at most 512",
		long(300) + "\nhunter2":            "at most 256",
		`{"username":"root"}`:              "each once",
		`{"username":"root","password":1}`: "each once",
		`{"username":"a","password":"hunter2","x":"y"}`:              "each once",
		`{"username":"a","password":"hunter2","password":"hunter2"}`: "each once",
		`{"Username":"a","password":"hunter2"}`:                      "each once",
		`{"username":"a","password":"hunter2"} {}`:                   "each once",
		`{"username":"a","password":"hunter2"`:                       "each once",
		`{"username":"a","password":"hunter2\ud800"}`:                "UTF-8",
		`{"username":"a","password":"hunter2\n"}`:                    "control character",
		`{hunter2`:                              "each once",
		`{"username":{"a":"hunter2"}}`:          "each once",
		"root\n" + "hunter2" + "\u0085" + "end": "control character",
	} {
		write(t, filepath.Join(root, "a"), []byte(content), 0o600)
		c, err := files.Resolve(t.Context(), ref(t, "secret://file/a"))
		wants(t, content, err, "INVALID_CONFIG", why)
		if out := renderings(t, err, c); strings.Contains(out, "hunter2") {
			t.Errorf("%q: tells: %s", content, out)
		}
	}
}

func TestFilesRefuseFiles(t *testing.T) {
	root, other, open, outside := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	good := []byte("root\nhunter2\n")
	for _, name := range []string{filepath.Join(root, "both"), filepath.Join(other, "both"), filepath.Join(open, "open"), filepath.Join(outside, "out"), filepath.Join(root, "plain")} {
		write(t, name, good, 0o600)
	}
	write(t, filepath.Join(root, "group"), good, 0o640)
	write(t, filepath.Join(root, "others"), good, 0o604)
	write(t, filepath.Join(root, "writable"), good, 0o620)
	if err := errors.Join(os.Chmod(open, 0o770), os.Symlink(filepath.Join(outside, "out"), filepath.Join(root, "link")),
		os.Symlink(outside, filepath.Join(root, "linkdir")), os.Symlink("../"+filepath.Base(outside)+"/out", filepath.Join(root, "up")),
		os.Symlink("loop", filepath.Join(root, "loop")), os.Mkdir(filepath.Join(root, "dir"), 0o700), syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	files := secrets.NewFiles([]string{root, other}, key(t))
	for name, c := range map[string]struct{ code, why string }{
		"absent":      {"NOT_FOUND", "secrets.roots"},
		"plain/below": {"NOT_FOUND", "secrets.roots"},
		"group":       {"INVALID_CONFIG", "mode 0640"},
		"others":      {"INVALID_CONFIG", "mode 0604"},
		"writable":    {"INVALID_CONFIG", "mode 0620"},
		"both":        {"INVALID_CONFIG", "two roots"},
		"link":        {"INVALID_CONFIG", "does not open"},
		"linkdir/out": {"INVALID_CONFIG", "does not open"},
		"up":          {"INVALID_CONFIG", "does not open"},
		"loop":        {"INVALID_CONFIG", "does not open"},
		"dir":         {"INVALID_CONFIG", "regular file"},
		"pipe":        {"INVALID_CONFIG", "regular file"},
	} {
		got, err := files.Resolve(t.Context(), ref(t, "secret://file/"+name))
		wants(t, name, err, c.code, c.why)
		if !got.Password.IsZero() || strings.Contains(renderings(t, err), "hunter2") {
			t.Errorf("%s: gives or tells: %v", name, err)
		}
	}
	_, err := secrets.NewFiles([]string{open}, key(t)).Resolve(t.Context(), ref(t, "secret://file/open"))
	wants(t, "an open root", err, "INVALID_CONFIG", "chmod go-w")
	_, err = secrets.NewFiles([]string{filepath.Join(root, "gone")}, key(t)).Resolve(t.Context(), ref(t, "secret://file/open"))
	wants(t, "no root", err, "INVALID_CONFIG", "does not open")
}

// An administrator may look at what belongs to the daemon's user, in its folder;
// what another user put there is refused.
func TestFilesOfUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		if os.Getenv("INGOT_TEST_ALL") == "1" {
			t.Fatal("run as root")
		}
		t.Skip("needs root to give a file away")
	}
	root := t.TempDir()
	path := filepath.Join(root, "a")
	write(t, path, []byte("root\nhunter2\n"), 0o600)
	files := secrets.NewFiles([]string{root}, key(t))
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	_, err := files.Resolve(t.Context(), ref(t, "secret://file/a"))
	wants(t, "another's", err, "INVALID_CONFIG", "another user")
	if err := os.Chown(root, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	gives(t, files, "secret://file/a", "root", "hunter2")
}

// env is an environment.
type env map[string]string

func (e env) lookup(name string) (string, bool) {
	v, ok := e[name]
	return v, ok
}

func TestEnv(t *testing.T) {
	vars := env{
		"INGOT_SECRET_A":          `{"username":"root","password":"hunter2"}`,
		"INGOT_SECRET_B_USERNAME": "root", "INGOT_SECRET_B_PASSWORD": "hunter2",
		"INGOT_SECRET_C": "root\nhunter2", "INGOT_SECRET_C_USERNAME": "x",
		"INGOT_SECRET_D_USERNAME": "root",
		"INGOT_SECRET_E_USERNAME": "root", "INGOT_SECRET_E_PASSWORD": "",
		"INGOT_SECRET_F":        "hunter2",
		"INGOT_SECRET_":         "root\nhunter2",
		"AWS_SECRET":            "root\nhunter2",
		"INGOT_SECRET_x":        "root\nhunter2",
		"INGOT_SECRET_HUNTER_2": "root\nhunter2",
	}
	e := secrets.NewEnv("", vars.lookup, key(t))
	gives(t, e, "secret://env/INGOT_SECRET_A", "root", "hunter2")
	gives(t, e, "secret://env/INGOT_SECRET_B", "root", "hunter2")
	gives(t, e, "secret://env/INGOT_SECRET_HUNTER_2", "root", "hunter2")
	gives(t, secrets.NewEnv("AWS_", vars.lookup, key(t)), "secret://env/AWS_SECRET", "root", "hunter2")
	for name, c := range map[string]struct{ code, why string }{
		"INGOT_SECRET_C":      {"INVALID_CONFIG", "both forms"},
		"INGOT_SECRET_D":      {"INVALID_CONFIG", "not set"},
		"INGOT_SECRET_E":      {"INVALID_CONFIG", "password is empty"},
		"INGOT_SECRET_F":      {"INVALID_CONFIG", "two lines"},
		"INGOT_SECRET_G":      {"NOT_FOUND", "_PASSWORD"},
		"INGOT_SECRET_":       {"INVALID_CONFIG", "must begin with INGOT_SECRET_"},
		"AWS_SECRET":          {"INVALID_CONFIG", "must begin with INGOT_SECRET_"},
		"INGOT_SECRET_x":      {"INVALID_CONFIG", "A-Z"},
		"INGOT_SECRET_A/B":    {"INVALID_CONFIG", "A-Z"},
		"a/INGOT_SECRET_A":    {"INVALID_CONFIG", "must begin"},
		"INGOT_SECRET_A:B..C": {"INVALID_CONFIG", "A-Z"},
	} {
		_, err := e.Resolve(t.Context(), ref(t, "secret://env/"+name))
		wants(t, name, err, c.code, c.why)
		if strings.Contains(renderings(t, err), "hunter2") {
			t.Errorf("%s: tells: %v", name, err)
		}
	}
}

// A version changes exactly when the pair does, and tells nothing: not the pair,
// not that two references have the same one, not across processes.
func TestVersions(t *testing.T) {
	vars := env{"INGOT_SECRET_A": "root\nhunter2", "INGOT_SECRET_B": "root\nhunter2"}
	k := key(t)
	e := secrets.NewEnv("", vars.lookup, k)
	first := gives(t, e, "secret://env/INGOT_SECRET_A", "root", "hunter2").Version
	for name, c := range map[string]struct {
		from       *secrets.Env
		set, ref   string
		user, pass string
		same       bool
	}{
		"again":             {e, "root\nhunter2", "A", "root", "hunter2", true},
		"spelled otherwise": {e, `{"username":"root","password":"hunter2"}`, "A", "root", "hunter2", true},
		"another password":  {e, "root\nhunter3", "A", "root", "hunter3", false},
		"another user":      {e, "admin\nhunter2", "A", "admin", "hunter2", false},
		"a moved boundary":  {e, "rooth\nunter2", "A", "rooth", "unter2", false},
		"another reference": {e, "root\nhunter2", "B", "root", "hunter2", false},
		"another process":   {secrets.NewEnv("", vars.lookup, key(t)), "root\nhunter2", "A", "root", "hunter2", false},
	} {
		vars["INGOT_SECRET_A"] = c.set
		got := gives(t, c.from, "secret://env/INGOT_SECRET_"+c.ref, c.user, c.pass).Version
		if (got == first) != c.same {
			t.Errorf("%s: %s after %s", name, got, first)
		}
	}
	if _, err := secrets.DrawKey(iotest.ErrReader(syscall.EIO)); !errors.Is(err, syscall.EIO) {
		t.Errorf("no entropy: %v", err)
	}
}

// resolver is a vendor's.
type resolver func(context.Context, secrets.Ref) (secrets.Credentials, error)

func (r resolver) Resolve(ctx context.Context, ref secrets.Ref) (secrets.Credentials, error) {
	return r(ctx, ref)
}

func password(t testing.TB, text string) secrets.Password {
	t.Helper()
	p, err := secrets.NewPassword(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestResolversByKind(t *testing.T) {
	whole := secrets.Credentials{Username: "root", Password: password(t, "hunter2"), Version: "7"}
	given := whole
	rs := secrets.Resolvers{"vault": resolver(func(context.Context, secrets.Ref) (secrets.Credentials, error) { return given, nil }), "none": nil}
	source := rs.Source(ref(t, "secret://vault/a"))
	if c, err := source.Credentials(t.Context()); err != nil || c.Version != "7" || source.Ref().Name != "a" {
		t.Errorf("%+v, %v", c, err)
	}
	for _, kind := range []string{"file", "none"} {
		_, err := rs.Resolve(t.Context(), secrets.Ref{Kind: kind, Name: "a"})
		wants(t, kind, err, "INVALID_CONFIG", "known: none, vault")
	}
	for name, part := range map[string]secrets.Credentials{
		"no user":     {Password: whole.Password, Version: "7"},
		"no password": {Username: "root", Version: "7"},
		"no version":  {Username: "root", Password: whole.Password},
	} {
		given = part
		_, err := source.Credentials(t.Context())
		wants(t, name, err, "INVALID_CONFIG", "no version")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := source.Credentials(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("asked after its context ended: %v", err)
	}
	_, err := secrets.Source{}.Credentials(t.Context())
	wants(t, "no source", err, "INVALID_CONFIG", "nothing to resolve")
}

// FuzzFile wants an answer for any bytes of a file: credentials that are fit, or
// an error that does not carry what is longer than a letter or two.
func FuzzFile(f *testing.F) {
	f.Add([]byte("root\nhunter2\n"))
	f.Add([]byte(`{"username":"a","password":"b"}`))
	f.Add([]byte("{\"username\":\"\\ud800\"}"))
	root := f.TempDir()
	files := secrets.NewFiles([]string{root}, key(f))
	at := ref(f, "secret://file/a")
	f.Fuzz(func(t *testing.T, content []byte) {
		write(t, filepath.Join(root, "a"), content, 0o600)
		c, err := files.Resolve(context.Background(), at)
		if err != nil {
			if _, ok := errors.AsType[*secrets.Unresolved](err); !ok || !c.Password.IsZero() {
				t.Fatalf("%q: %v", content, err)
			}
			return
		}
		if p := c.Password.Show(); p == "" || c.Username == "" || strings.ContainsAny(p+c.Username, "\x00\r\n") || len(content) > 4096 {
			t.Fatalf("%q: %q %q", content, c.Username, p)
		}
		if !bytes.HasPrefix(bytes.TrimSpace(content), []byte("{")) && !bytes.HasPrefix(content, []byte(c.Username+"\n"+c.Password.Show())) {
			t.Fatalf("%q: %q %q", content, c.Username, c.Password.Show())
		}
	})
}
