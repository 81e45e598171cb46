//go:build unix

package images

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A folder that somebody else wrote in shows no image that is not whole, opens
// nothing outside, and is mended by staging.
func TestHarm(t *testing.T) {
	outside := t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "vmlinuz"), []byte("kernel"), 0o600))
	for name, c := range map[string]struct {
		harm func(dir string) error
		says string
	}{
		"a missing file": {func(dir string) error { return os.Remove(blobPath(dir, "kernel")) }, "vmlinuz is missing"},
		"a short file":   {func(dir string) error { return os.Truncate(blobPath(dir, "kernel"), 3) }, "vmlinuz has 3 bytes, want 6"},
		"a link": {func(dir string) error {
			return errors.Join(os.Remove(blobPath(dir, "kernel")), os.Symlink(filepath.Join(outside, "vmlinuz"), blobPath(dir, "kernel")))
		}, "vmlinuz is no file but a symbolic link"},
		"a link inside": {func(dir string) error {
			return errors.Join(os.Rename(blobPath(dir, "kernel"), filepath.Join(dir, "k")), os.Symlink("../../k", blobPath(dir, "kernel")))
		}, "vmlinuz is no file but a symbolic link"},
		"a pipe": {func(dir string) error {
			return errors.Join(os.Remove(blobPath(dir, "kernel")), syscall.Mkfifo(blobPath(dir, "kernel"), 0o600))
		}, "vmlinuz is no file but a special file"},
		"a folder": {func(dir string) error {
			return errors.Join(os.Remove(blobPath(dir, "kernel")), os.Mkdir(blobPath(dir, "kernel"), 0o700))
		}, "vmlinuz is no file but a folder"},
		"a manifest cut": {func(dir string) error { return os.Truncate(filepath.Join(dir, "images/one.json"), 30) }, "its manifest"},
		"a manifest with a blank": {func(dir string) error {
			raw, err := os.ReadFile(filepath.Join(dir, "images/one.json"))
			return errors.Join(err, os.WriteFile(filepath.Join(dir, "images/one.json"), append(raw, ' '), 0o600))
		}, "not in the canonical form"},
		"a manifest of another": {func(dir string) error {
			return os.Rename(filepath.Join(dir, "images/two.json"), filepath.Join(dir, "images/one.json"))
		}, `it is the manifest of "two"`},
		"a manifest that is a link": {func(dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "images/one.json"), filepath.Join(dir, "m")), os.Symlink("../m", filepath.Join(dir, "images/one.json")))
		}, "a symbolic link"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			first := opened(t, dir)
			stage(t, first, "one", "kernel", "initrd")
			stage(t, first, "two", "kernel 2", "initrd")
			must(t, c.harm(dir))
			s := opened(t, dir)
			_, err := s.Image("one")
			if code(err) != "INVALID_STATE" || !strings.Contains(err.Error(), c.says) {
				t.Errorf("its flaw: %v", err)
			}
			if _, ok := s.Staged()["one"]; ok {
				t.Error("it is staged")
			}
			if got := text(t, s, "one", "vmlinuz") + text(t, s, "one", "initrd"); got != "" {
				t.Errorf("%q of it is served", got)
			}
			if _, err := s.OpenDigest(sum("kernel")); err == nil {
				t.Error("its kernel is served by its digest")
			}
			if got := text(t, s, "two", "initrd"); got != "initrd" && !strings.HasPrefix(name, "a manifest of") {
				t.Errorf("the other's initrd is %q", got)
			}
			if found, err := s.Verify(t.Context(), "one", nil); err != nil || found[len(found)-1].Flaw == "" {
				t.Errorf("Verify finds %+v, %v", found, err)
			}
			if _, err := first.OpenFile("one", "vmlinuz"); err == nil && !strings.HasPrefix(name, "a manifest") {
				t.Error("who knew the image before opens what took the file's place")
			}
			if name == "a folder" {
				must(t, os.Remove(blobPath(dir, "kernel"))) // no file is named over a folder
			}
			stage(t, s, "one", "kernel", "initrd")
			if got := text(t, s, "one", "vmlinuz"); got != "kernel" {
				t.Errorf("staged again it is %q", got)
			}
		})
	}
}

// Folders of the store that are links lead nowhere.
func TestHarmedFolders(t *testing.T) {
	for _, name := range []string{imagesDir, "blobs", blobsDir, tmpDir} {
		dir, outside := t.TempDir(), t.TempDir()
		first := opened(t, dir)
		stage(t, first, "one", "kernel", "initrd")
		must(t, os.RemoveAll(filepath.Join(dir, name)))
		must(t, os.Symlink(outside, filepath.Join(dir, name)))
		m, sources := a("two", "kernel", "initrd")
		if _, err := first.Stage(t.Context(), m, sources, nil); err == nil {
			t.Errorf("%s: staged through a link", name)
		}
		if got := tree(t, outside); len(got) != 0 {
			t.Errorf("%s: %v was written outside", name, got)
		}
		if s, err := Open(dir); err == nil {
			if name != tmpDir && len(s.Staged()) != 0 {
				t.Errorf("%s: %v", name, s.Staged())
			}
			must(t, s.Close())
		}
	}
}

// Nor do those that lead to a place inside: what is there may be another image's.
func TestLinkedFolders(t *testing.T) {
	for _, name := range []string{imagesDir, "blobs", blobsDir, tmpDir} {
		dir := t.TempDir()
		first := opened(t, dir)
		stage(t, first, "one", "kernel", "initrd")
		must(t, os.Rename(filepath.Join(dir, name), filepath.Join(dir, "moved")))
		to := "moved"
		if name == blobsDir {
			to = "../moved"
		}
		must(t, os.Symlink(to, filepath.Join(dir, name)))
		m, sources := a("two", "kernel", "initrd")
		if _, err := first.Stage(t.Context(), m, sources, nil); code(err) != "INVALID_STATE" {
			t.Errorf("%s: staged: %v", name, err)
		}
		if s, err := Open(dir); name != tmpDir && code(err) != "INVALID_STATE" {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}

// While a manifest cannot be read, no file goes: it may be named there.
func TestNothingGoesThatMayBeNamed(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	stage(t, s, "one", "kernel", "initrd")
	raw, err := os.ReadFile(filepath.Join(dir, "images/one.json"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "images/one.json"), raw[1:], 0o600))
	stage(t, s, "two", "kernel 2", "initrd 2")
	_, err = s.Remove(t.Context(), "two")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "images/one.json"), raw, 0o600))
	_, err = s.Reload()
	must(t, err)
	if got := text(t, s, "one", "vmlinuz"); got != "kernel" {
		t.Errorf("the kernel is %q", got)
	}
	if got := text(t, opened(t, dir), "one", "vmlinuz"); got != "kernel" || len(tree(t, dir)) != 3 {
		t.Errorf("the kernel is %q, the folder has %v", got, tree(t, dir))
	}
}

// Who may not write can read.
func TestReadOnly(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root may write everywhere: half of this test proves nothing")
	}
	dir := t.TempDir()
	stage(t, opened(t, dir), "one", "kernel", "initrd")
	must(t, os.Remove(filepath.Join(dir, lockFile)))
	must(t, os.Chmod(dir, 0o500))
	defer os.Chmod(dir, 0o700)
	s := opened(t, dir)
	if got := text(t, s, "one", "vmlinuz"); got != "kernel" {
		t.Errorf("the kernel is %q", got)
	}
	if os.Geteuid() != 0 {
		if _, err := s.Remove(t.Context(), "one"); code(err) != "ACCESS_DENIED" || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%v", err)
		}
	}
	if _, err := Open(filepath.Join(dir, "images", "one.json")); code(err) != "UNAVAILABLE" {
		t.Errorf("a file is no folder: %v", err)
	}
}
