package probe_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/disklayout/probe"
)

// makers are tools that put something on a file, and their Debian packages.
var makers = map[string]struct {
	pack string
	args []string
}{
	"mkfs.ext4 ext2": {"e2fsprogs", []string{"-q", "-F", "-t", "ext2", "-L", "a label", "-U", id}},
	"mkfs.ext4 ext3": {"e2fsprogs", []string{"-q", "-F", "-t", "ext3", "-L", "a label", "-U", id}},
	"mkfs.ext4 ext4": {"e2fsprogs", []string{"-q", "-F", "-t", "ext4", "-L", "a label", "-U", id}},
	"mkfs.ext4 jbd":  {"e2fsprogs", []string{"-q", "-F", "-O", "journal_dev", "-L", "a label", "-U", id}},
	"mkfs.xfs":       {"xfsprogs", []string{"-q", "-L", "a label", "-m", "uuid=" + id}},
	"mkfs.btrfs":     {"btrfs-progs", []string{"-q", "-L", "a label", "-U", id}},
	"mkfs.vfat 32":   {"dosfstools", []string{"-F", "32", "-n", "LABEL", "-i", "12345678"}},
	"mkfs.vfat 16":   {"dosfstools", []string{"-F", "16", "-n", "LABEL", "-i", "12345678"}},
	"mkswap":         {"util-linux", []string{"-L", "a label", "-U", id}},
	"mkswap 65536":   {"util-linux", []string{"-p", "65536", "-L", "a label", "-U", id}},
	"sgdisk":         {"gdisk", []string{"--clear", "--disk-guid=" + id}},
	"mkfs.minix 1":   {"util-linux", []string{"-1"}},
	"mkfs.minix 2":   {"util-linux", []string{"-2"}},
	"mkfs.minix 3":   {"util-linux", []string{"-3"}},
}

const id = "3f1c9b3e-1a53-4f0e-9f0a-0a1b2c3d4e5f"

// TestBlkidAgrees compares type, label and UUID with what blkid says of the same
// file.
func TestBlkidAgrees(t *testing.T) {
	for name, m := range makers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, _, _ := strings.Cut(name, " ")
			need(t, "blkid", "util-linux")
			need(t, program, m.pack)
			path := filepath.Join(t.TempDir(), "disk")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			const size = 400 << 20
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(program, append(m.args, path)...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			out, err := exec.Command("blkid", "-p", "-o", "export", path).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			agree(t, path, size, string(out))
		})
	}
}

func agree(t *testing.T, path string, size int64, blkid string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found, err := probe.Signatures(f, size, 512)
	if err != nil || len(found) == 0 {
		t.Fatalf("found %v, %v; blkid has %s", found, err, blkid)
	}
	said := map[string]string{}
	for line := range strings.Lines(blkid) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), "=")
		said[k] = strings.ReplaceAll(v, `\ `, " ")
	}
	s := found[0]
	if table := said["PTTYPE"]; table != "" && said["TYPE"] == "" {
		said["TYPE"], said["UUID"] = table, said["PTUUID"]
	}
	if s.Type != said["TYPE"] || s.Label != said["LABEL"] || !strings.EqualFold(s.UUID, said["UUID"]) {
		t.Errorf("found %+v; blkid has %s", s, blkid)
	}
	for _, more := range found[1:] {
		if more.Type != s.Type {
			t.Errorf("found %+v as well; blkid has %s", more, blkid)
		}
	}
}

// need skips where a program is missing, unless everything is to be tested.
func need(t *testing.T, program, pack string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("INGOT_TEST_ALL") == "1" {
			t.Fatalf("%s is missing: install %s", program, pack)
		}
		t.Skipf("%s is missing: install %s", program, pack)
	}
}
