package config_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/config"
)

const units = "../../../contrib/systemd"

// maxExposure is what `systemd-analyze security` may say of a unit at most. booterd
// has two capabilities and packet sockets, which weigh 0.4; noded is root, writes disks
// and sets the clock.
var maxExposure = map[string]float64{"ingotd.service": 1.5, "booterd.service": 1.7, "noded.service": 3.2}

// need skips a test that lacks a program, or fails it where all tests must run.
func need(t *testing.T, program, install string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	lack(t, program+" is missing: "+install)
}

func lack(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("INGOT_TEST_ALL") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

func TestExposure(t *testing.T) {
	need(t, "systemd-analyze", "apt-get install systemd")
	for unit, most := range maxExposure {
		out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--no-pager", filepath.Join(units, unit)).CombinedOutput()
		m := regexp.MustCompile(`Overall exposure level for ` + unit + `: ([0-9.]+)`).FindSubmatch(out)
		if m == nil {
			t.Fatalf("%v\n%s", err, out)
		}
		level, _ := strconv.ParseFloat(string(m[1]), 64)
		if t.Logf("%s: exposure %.1f", unit, level); level > most {
			t.Errorf("%s: exposure %.1f, at most %.1f\n%s", unit, level, most, out)
		}
	}
}

var execStart = regexp.MustCompile(`ExecStart=/usr/bin/(ingotd|booterd|noded) `)

// systemd finds nothing to complain of, once a program is where the unit says.
func TestUnitsAreWellFormed(t *testing.T) {
	need(t, "systemd-analyze", "apt-get install systemd")
	dir := t.TempDir()
	for _, name := range []string{"ingotd.service", "ingotd.socket", "booterd.service", "noded.service"} {
		raw, err := os.ReadFile(filepath.Join(units, name))
		if err != nil {
			t.Fatal(err)
		}
		text := execStart.ReplaceAllString(string(raw), "ExecStart=/bin/true ")
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("systemd-analyze", "verify", "--man=no", "--recursive-errors=no", filepath.Join(dir, "ingotd.service"), filepath.Join(dir, "ingotd.socket"), filepath.Join(dir, "booterd.service"), filepath.Join(dir, "noded.service"))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// The snippets make the user, and the folders with their modes.
func TestUserAndFolders(t *testing.T) {
	need(t, "systemd-sysusers", "apt-get install systemd")
	need(t, "systemd-tmpfiles", "apt-get install systemd")
	if os.Getuid() != 0 {
		lack(t, "only root gives files away: run the test as root")
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"systemd-sysusers", "--root=" + root}, {"systemd-tmpfiles", "--create", "--root=" + root}} {
		name := strings.TrimPrefix(args[0], "systemd-") + ".conf"
		raw, err := os.ReadFile(filepath.Join(units, name))
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(args[0], append(args[1:], "-")...)
		cmd.Stdin = strings.NewReader(string(raw))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	for path, mode := range map[string]os.FileMode{"etc/ingot": 0o750, "var/lib/ingot": 0o700} {
		if fi, err := os.Stat(filepath.Join(root, path)); err != nil || fi.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, fi, err)
		}
	}
	if users, _ := os.ReadFile(filepath.Join(root, "etc/passwd")); !strings.Contains(string(users), "ingot:x:") {
		t.Errorf("%s", users)
	}
}

// The units and the defaults of the configuration speak of the same places.
func TestUnitsAgreeWithDefaults(t *testing.T) {
	service, socket := directives(t, "ingotd.service"), directives(t, "ingotd.socket")
	d := config.Default()
	for _, c := range []struct{ what, got, want string }{
		{"StateDirectory", "/var/lib/" + service["StateDirectory"][0], d.State},
		{"RuntimeDirectory", "/run/" + service["RuntimeDirectory"][0], filepath.Dir(d.Listen.Unix)},
		{"ListenStream", ":" + socket["ListenStream"][0], d.Listen.TCP[0]},
		{"ListenStream", socket["ListenStream"][1], d.Listen.Unix},
		{"SocketMode", socket["SocketMode"][0], d.Listen.UnixMode.String()},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}
	if n, _ := strconv.Atoi(service["LimitNOFILE"][0]); n < 2*d.Limits.Connections {
		t.Errorf("LimitNOFILE=%d for %d connections", n, d.Limits.Connections)
	}
	// In a user namespace SO_PEERCRED shows every caller as nobody.
	if v := service["PrivateUsers"]; len(v) != 0 && !slices.Contains(v, "no") {
		t.Errorf("PrivateUsers=%v", v)
	}
}

// booterd's unit has what its defaults need, and no more.
func TestBooterUnitAgreesWithDefaults(t *testing.T) {
	service, d := directives(t, "booterd.service"), config.DefaultBooter()
	for _, c := range []struct{ what, got, want string }{
		{"StateDirectory", "/var/lib/" + service["StateDirectory"][0], d.State},
		{"RuntimeDirectory", "/run/" + service["RuntimeDirectory"][0], filepath.Dir(d.Listen.Unix)},
		{"AmbientCapabilities", service["AmbientCapabilities"][0], "CAP_NET_BIND_SERVICE CAP_NET_RAW"},
		{"CapabilityBoundingSet", service["CapabilityBoundingSet"][0], "CAP_NET_BIND_SERVICE CAP_NET_RAW"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}
	if f := service["RestrictAddressFamilies"][0]; !strings.Contains(f, "AF_PACKET") || !strings.Contains(f, "AF_NETLINK") {
		t.Errorf("RestrictAddressFamilies=%s", f)
	}
}

// directives reads a unit as far as the test needs it.
func directives(t *testing.T, name string) map[string][]string {
	t.Helper()
	f, err := os.Open(filepath.Join(units, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string][]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), "="); ok && !strings.HasPrefix(key, "#") {
			out[key] = append(out[key], value)
		}
	}
	return out
}
