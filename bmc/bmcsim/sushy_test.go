package bmcsim

import (
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// needSushy is the Python that has the client, Debian's or the first one; without one the
// test is skipped.
func needSushy(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		if err := exec.Command(python, "-c", "import sushy").Run(); err == nil {
			return python
		}
	}
	const how = "sushy is needed: apt-get install python3-sushy"
	if os.Getenv("INGOT_TEST_ALL") == "1" {
		t.Fatal(how)
	}
	t.Skip(how)
	return ""
}

// Sushy, Ironic's client, turns machines off and on, boots one by PXE once, and inserts and
// ejects media.
func TestSushy(t *testing.T) {
	python := needSushy(t)
	images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 4096)) }))
	defer images.Close()
	for _, c := range []struct {
		tree  string
		media int // slots that it inserted into
	}{
		{r750, 1}, {"hpe-dl380agen11-ilo6-1.66", 1}, {"supermicro-821ge-11.01", 1}, {"gigabyte-h262-ami-12.84", 1}, {"hpe-dl360gen12-ilo7-1.14", 1}, {"nvidia-gb200-openbmc", 0}, {"openbmc-stock-2.15-off", 0}, {"hpe-cray-ex420-2node", 0},
	} {
		t.Run(c.tree, func(t *testing.T) {
			f := NewFleet(rand.Reader, nil)
			b, err := f.Add(Spec{Name: "b", Tree: load(t, c.tree), TLS: TLS{Kind: TLSAuthority}, Options: Options{Media: Media{Client: images.Client(), Dir: t.TempDir()}}})
			must(t, err)
			ln := listen(t)
			serving(t, f, func() error { return f.ServeOne(ln, "b") })
			var seen struct {
				System  string
				Allowed []string
				Boot    bool
				Media   []string
			}
			must(t, json.Unmarshal(sushy(t, python, "https://"+ln.Addr().String(), b.o.Auth, trusted(t, f), images.URL+"/a.iso"), &seen))
			stats := b.Stats()
			if stats.Fetched != c.media || len(seen.Media) != c.media || stats.FetchedBytes != int64(4096*c.media) {
				t.Errorf("%d images were fetched into %q, want %d", stats.Fetched, seen.Media, c.media)
			}
			if b.tree.nodes[key(seen.System)] == nil || len(seen.Allowed) < 2 {
				t.Errorf("%+v", seen)
			}
			starts := b.Backend(seen.System).(*Memory).Starts()
			if len(starts) != 1 || (starts[0].Target == "Pxe") != seen.Boot || starts[0].Once != seen.Boot {
				t.Errorf("it was started with %+v", starts)
			}
			if override := slices.Contains([]string{"hpe-cray-ex420-2node"}, c.tree); seen.Boot == override {
				t.Errorf("an override: %t", seen.Boot)
			}
			if stats.Logins != 1 || stats.Resets["ForceOff"] != 1 || stats.Resets["On"] != 1 {
				t.Errorf("%+v", stats)
			}
		})
	}
}

// trusted is a file with the authority of a fleet.
func trusted(t *testing.T, f *Fleet) string {
	t.Helper()
	a, err := f.Authority()
	must(t, err)
	file := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Certificate().Raw}), 0o600))
	return file
}

// sushy runs the script, and is what it printed.
func sushy(t *testing.T, python, base string, a Auth, authority, image string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), python, "-B", "-W", "ignore", "testdata/drive.py", base, a.User, authority, image)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "no_proxy=*"} // and no other authorities
	cmd.Stdin = strings.NewReader(string(a.Password) + "\n")
	var said strings.Builder
	cmd.Stderr = &said
	raw, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		t.Fatalf("sushy: %v\n%s", err, strings.Join(lines[max(0, len(lines)-3):], "\n"))
	}
	return raw
}
