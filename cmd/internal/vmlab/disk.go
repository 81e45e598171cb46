package vmlab

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ingotmetal/ingot/disklayout/probe"
)

// checkDisk lets other programs say what they think of the machine's written disk:
// sgdisk of its table, fsck.fat of its EFI system partition, e2fsck of its root. The
// machine runs meanwhile, so they see a copy.
func (l *Lab) checkDisk(ctx context.Context, m *Machine, path string) error {
	out, err := tool(ctx, "sgdisk", "gdisk", "-v", path)
	if err != nil {
		return err
	}
	if !strings.Contains(out, "No problems found") {
		return fmt.Errorf("sgdisk -v: %s", strings.TrimSpace(out))
	}
	parts, err := partitions(path)
	if err != nil {
		return err
	}
	said := []string{"sgdisk -v finds no problem"}
	for i, check := range [][]string{{"fsck.fat", "dosfstools", "-n"}, {"e2fsck", "e2fsprogs", "-fn"}} {
		if i >= len(parts) {
			continue
		}
		copied := filepath.Join(m.dir, fmt.Sprintf("part%d", i+1))
		if err := copyPart(copied, path, parts[i]); err != nil {
			return err
		}
		if _, err := tool(ctx, check[0], check[1], append(check[2:], copied)...); err != nil {
			return err
		}
		if i == 1 {
			if err := l.isImage(copied); err != nil {
				return err
			}
		}
		if err := os.Remove(copied); err != nil {
			return err
		}
		said = append(said, check[0]+" "+check[2]+" is clean")
	}
	said = append(said, "the root is the image byte for byte")
	l.say(m.Name, "disk", strings.Join(said, ", "))
	return nil
}

// isImage compares the beginning of a partition with the image that is installed.
func (l *Lab) isImage(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.CopyN(h, f, rootSize); err != nil {
		return err
	}
	if got := fmt.Sprintf("sha256:%x", h.Sum(nil)); got != l.root {
		return fmt.Errorf("the root is not the image: it has the digest %s, not %s", got, l.root)
	}
	return nil
}

// partitions are those of a disk's table.
func partitions(path string) ([]probe.Place, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	found, err := probe.Look(f, fi.Size(), 512)
	if err != nil {
		return nil, err
	}
	var out []probe.Place
	for _, p := range found.Partitions {
		out = append(out, probe.Place{Start: p.Start, Size: p.Size})
	}
	return out, nil
}

func copyPart(to, from string, at probe.Place) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	_, err = io.Copy(out, io.NewSectionReader(in, int64(at.Start), int64(at.Size)))
	return err
}

// tool runs a program of a package and returns what it says.
func tool(ctx context.Context, name, debian string, words ...string) (string, error) {
	path, err := find(name)
	if err != nil {
		return "", &Missing{name, "apt-get install " + debian}
	}
	out, err := exec.CommandContext(ctx, path, words...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// find is the path of a program, which may be one of the administrator's.
func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		if err != nil {
			path = filepath.Join(dir, name)
			_, err = os.Stat(path)
		}
	}
	return path, err
}
