package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/guidetest"
)

// before is what the page takes for granted: a control plane, and an operator who is
// signed in.
const before = `cd /srv/ingot
printf 'correct horse battery\n' >password; chmod 600 password
ingotd serve -c ingotd.yaml 2>ingotd.log &
for i in $(seq 200); do ingotd operator list -c ingotd.yaml >/dev/null 2>&1 && break; sleep 0.1; done
ingotd operator add ada -c ingotd.yaml --password-file password
ingot context set rack-7 --server https://127.0.0.1:8443 --pin "$(ingotd pin -c ingotd.yaml)"
ingot login ada --password-file password
cd "$OLDPWD"
`

// onMachine runs the page's noded on a machine that is not this one: with firmware and
// password files of its own, and with what the unit leaves root.
const onMachine = `#!/bin/sh
exec unshare --mount --propagation PROPAGATION sh -c 'set -e
mount --bind /srv/ingot/firmware /sys
mount --bind /srv/ingot/etc /etc
exec setpriv --bounding-set=-all,CAPS /srv/ingot/noded "$@"' noded "$@"
`

// TestTheGuideRuns runs every command of the page, in its order, with the real programs
// in a folder of its own, and boots the image that it builds.
func TestTheGuideRuns(t *testing.T) {
	needs(t, map[string]string{"unshare": "util-linux", "ip": "iproute2", "chroot": "coreutils", "busybox": "busybox", "setpriv": "util-linux", "openssl": "openssl"})
	home := t.TempDir()
	build(t, home)
	machine(t, home)
	replace := strings.NewReplacer("/srv/ingot", home, "8443", guidetest.FreePort(t))
	guidetest.Read(t, "../../docs/ingotd.md", replace, "").Write(t, home) // its file
	page := guidetest.Read(t, "../../docs/noded.md", replace, "")
	page.Write(t, home)
	file(t, filepath.Join(home, "vmlinuz"), "this is a kernel")
	out := guidetest.Run(t, home, "../..", caches(t)+guidetest.Start+replace.Replace(before)+page.Commands)
	for _, want := range []string{"none is kept", "eth0 52:54:00:00:00:77", "approved"} {
		if !strings.Contains(out, want) {
			t.Errorf("the commands never say %q:\n%s", want, out)
		}
	}
	rooted(t, home)
	firstLife(t, unpacked(t, filepath.Join(home, "initrd.img")))
}

// build makes the programs of a site, and cpio where there is none.
func build(t *testing.T, home string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-o", filepath.Join(home, "bin")+"/", "../ingotd", "../ingot")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := exec.LookPath("cpio"); err != nil {
		file(t, filepath.Join(home, "bin/cpio"), "#!/bin/sh\nexec busybox cpio \"$@\"\n")
	}
	file(t, filepath.Join(home, "bin/noded"), strings.NewReplacer("/srv/ingot", home, "CAPS", capabilities(t), "PROPAGATION", propagation()).Replace(onMachine))
	names, _ := filepath.Glob(filepath.Join(home, "bin", "*"))
	for _, name := range names {
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// caches keeps Go's caches where they are, though the page has a home of its own.
func caches(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	places := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(places) != 2 {
		t.Fatalf("%q, %v", out, err)
	}
	return "export GOCACHE='" + places[0] + "' GOMODCACHE='" + places[1] + "'\n"
}

// machine makes the firmware and the password files of the page's machine.
func machine(t *testing.T, home string) {
	t.Helper()
	if err := os.Rename(firmware(t), filepath.Join(home, "firmware")); err != nil {
		t.Fatal(err)
	}
	shadow := file(t, filepath.Join(home, "etc/shadow"), "root:*:19000:0:99999:7:::\n")
	if err := errors.Join(os.Chown(shadow, 0, 42), os.Chmod(shadow, 0)); err != nil { // as some distributions have it
		t.Fatal(err)
	}
}

// capabilities are those that the unit leaves, as setpriv names them.
func capabilities(t *testing.T) string {
	t.Helper()
	unit, err := os.ReadFile("../../contrib/systemd/noded.service")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^CapabilityBoundingSet=(.*)$`).FindSubmatch(unit)
	if m == nil {
		t.Fatal("the unit says nothing of capabilities")
	}
	var out []string
	for name := range strings.FieldsSeq(string(m[1])) {
		out = append(out, "+"+strings.ToLower(strings.TrimPrefix(name, "CAP_")))
	}
	return strings.Join(out, ",")
}

// rooted holds the machine's shadow file against what the operator set.
func rooted(t *testing.T, home string) {
	t.Helper()
	shadow, err := os.ReadFile(filepath.Join(home, "etc/shadow"))
	hash, err2 := os.ReadFile(filepath.Join(home, "root.hash"))
	info, err3 := os.Stat(filepath.Join(home, "etc/shadow"))
	if err3 != nil || info.Mode().Perm() != 0 {
		t.Errorf("the file's mode: %v, %v", info, err3)
	}
	if err != nil || err2 != nil || !strings.HasPrefix(string(shadow), "root:"+strings.TrimSpace(string(hash))+":") {
		t.Errorf("the root password is not the operator's: %v, %v", err, err2)
	}
}

// unpacked is the root of an image, as the kernel unpacks it.
func unpacked(t *testing.T, image string) string {
	t.Helper()
	root := t.TempDir()
	cmd := exec.Command("sh", "-c", `zcat "$1" | busybox cpio -i -d`, "unpack", image)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all, err := os.ReadDir(root)
	if err != nil || len(all) != 1 || all[0].Name() != "init" {
		t.Errorf("the image holds %v, %v", all, err)
	}
	return root
}
