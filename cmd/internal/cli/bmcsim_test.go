package cli_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/cli"
)

// asked is a socket that asks what it is served by as soon as it is listened on, and then
// ends nothing.
func asked(t *testing.T, f *fake, scheme string, status chan int) {
	f.listen = func(ctx context.Context, network, address string) (net.Listener, error) {
		ln, err := (&net.ListenConfig{}).Listen(ctx, network, address)
		if err != nil {
			return nil, err
		}
		go func() {
			raw, _ := os.ReadFile(filepath.Join(f.home, "bmcsim.password"))
			c := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, scheme+"://"+ln.Addr().String()+"/redfish/v1/Systems", nil)
			if err != nil {
				status <- 0
				return
			}
			req.SetBasicAuth("ada", strings.TrimSpace(string(raw)))
			resp, err := c.Do(req)
			if err != nil {
				status <- 0
				return
			}
			_ = resp.Body.Close()
			status <- resp.StatusCode
		}()
		return ln, nil
	}
}

// Simulated BMCs answer whoever has the password that was drawn for them.
func TestBMCSim(t *testing.T) {
	for _, c := range []struct{ flags, scheme string }{{"--tls off", "http"}, {"", "https"}} {
		f := newFake(t)
		status := make(chan int, 3)
		asked(t, f, c.scheme, status)
		got := f.runIn(nil, "", strings.Fields("bmcsim --user ada --count 3 --tree openbmc-stock-2.15-off --tree intel-s2600bpb-1.93 --timeout 3s --json "+c.flags)...)
		for range 3 {
			if s := <-status; s != 200 {
				t.Errorf("%s: a BMC answers %d", c.scheme, s)
			}
		}
		var out struct {
			Schema string
			User   string
			File   string `json:"password_file"`
			BMCs   []struct{ Name, URL, Tree, Pin string }
		}
		if err := json.Unmarshal([]byte(got.out), &out); err != nil || got.code != 0 || out.Schema != "ingot.bmcsim/1" || out.User != "ada" || len(out.BMCs) != 3 {
			t.Fatalf("%d %s%s %v", got.code, got.out, got.err, err)
		}
		if b := out.BMCs[2]; b.Name != "bmc3" || b.Tree != "openbmc-stock-2.15-off" || !strings.HasPrefix(b.URL, c.scheme+"://127.0.0.1:") || (b.Pin != "") != (c.scheme == "https") {
			t.Errorf("%+v", b)
		}
		info, err := os.Stat(out.File)
		must(t, err)
		raw, err := os.ReadFile(out.File)
		must(t, err)
		if info.Mode().Perm() != 0o600 || len(raw) < 16 || strings.Contains(got.out+got.err, strings.TrimSpace(string(raw))) {
			t.Errorf("the password is kept as %v, %d bytes, and perhaps told", info.Mode(), len(raw))
		}
	}
}

func TestBMCSimRefuses(t *testing.T) {
	f := newFake(t)
	f.write("empty", "\n")
	f.write("no-tree.json", "[]")
	for line, want := range map[string]cli.Exit{
		"--tree nothing": cli.BadUsage, "--quirk nothing": cli.BadUsage, "--tls odd": cli.BadUsage, "--tls files": cli.BadUsage, "--cert x": cli.BadUsage, "--count -1": cli.BadUsage,
		"--listen here": cli.BadUsage, "--listen 127.0.0.1:65535 --count 2": cli.BadUsage, "--listen example.org:1": cli.BadUsage, "--password-file empty": cli.BadUsage,
		"--password-file none": cli.BadUsage, "--tree no-tree.json": cli.BadUsage, "more": cli.BadUsage, "--count 1": cli.Unavailable,
	} {
		if got := f.runIn(nil, "", append([]string{"bmcsim"}, strings.Fields(line)...)...); got.code != int(want) || got.out != "" {
			t.Errorf("%s: %d %q %s", line, got.code, got.out, got.err)
		}
	}
	got := f.runIn(map[string]string{"INGOT_BMCSIM_PASSWORD": "secret-of-env"}, "", "bmcsim")
	if got.code != int(cli.Unavailable) || strings.Contains(got.err, "secret-of-env") {
		t.Errorf("%d %s", got.code, got.err)
	}
}

func TestBMCSimList(t *testing.T) {
	f := newFake(t)
	if got := f.runIn(nil, "", "bmcsim", "--list"); got.code != 0 || !strings.Contains(got.out, "  supermicro-821ge-11.01\n") || !strings.Contains(got.out, "(chaos/powerman#67)") {
		t.Errorf("%d %s%s", got.code, got.out, got.err)
	}
	if got := f.runIn(nil, "", "bmcsim", "--list", "-q", ".trees | length"); got.out != "18\n" {
		t.Errorf("%s%s", got.out, got.err)
	}
}
