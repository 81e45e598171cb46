package images

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestStageShowRemove(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	if len(s.List()) != 0 || len(tree(t, dir)) != 0 {
		t.Errorf("%v, %v", s.List(), tree(t, dir))
	}
	one := stage(t, s, "one", "kernel 1", "initrd")
	stage(t, s, "two", "kernel 2", "initrd")
	want := []string{"blobs/sha256/" + sum("initrd"), "blobs/sha256/" + sum("kernel 1"), "blobs/sha256/" + sum("kernel 2"), "images/one.json", "images/two.json"}
	slices.Sort(want)
	if got := tree(t, dir); !slices.Equal(got, want) {
		t.Errorf("the folder has %v", got)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "images/one.json"))
	must(t, err)
	if one.Digest != sum(string(raw)) || s.Staged()["one"] != one.Digest || len(s.Staged()) != 2 {
		t.Errorf("%v, %v", one, s.Staged())
	}
	if got := text(t, s, "one", "vmlinuz"); got != "kernel 1" {
		t.Errorf("the kernel is %q", got)
	}
	for _, f := range []func() error{
		func() error { _, err := s.Image("three"); return err },
		func() error { _, err := s.OpenFile("one", "other"); return err },
		func() error { _, err := s.OpenFile("../images/one", "vmlinuz"); return err },
		func() error { _, err := s.OpenDigest(sum("other")); return err },
		func() error { _, err := s.OpenDigest("../../images/one.json"); return err },
		func() error { _, err := s.Remove(t.Context(), "three"); return err },
		func() error { _, err := s.Remove(t.Context(), "../one"); return err },
		func() error { _, err := s.Verify(t.Context(), "three", nil); return err },
		func() error { _, err := Open(filepath.Join(dir, "nowhere")); return err },
	} {
		if err := f(); !errors.Is(err, fs.ErrNotExist) || code(err) != "NOT_FOUND" {
			t.Errorf("%v", err)
		}
	}
	freed, err := s.Remove(t.Context(), "one")
	if err != nil || freed != int64(len("kernel 1")) || len(s.Staged()) != 1 || len(tree(t, dir)) != 3 {
		t.Errorf("%d bytes, %v, %v, %v", freed, err, s.Staged(), tree(t, dir))
	}
	if got := text(t, s, "two", "initrd"); got != "initrd" {
		t.Errorf("the other's initrd is %q", got)
	}
}

// What the kernel sends without a copy is all this (package net's sendfile).
var _ interface {
	fs.File
	io.Seeker
	syscall.Conn
	io.ReaderAt
} = (*Blob)(nil)

func TestABlobIsReadAsAFile(t *testing.T) {
	s := opened(t, t.TempDir())
	i := stage(t, s, "one", "kernel", "initrd")
	b, err := s.OpenDigest(i.Files[1].SHA256)
	must(t, err)
	var part [3]byte
	_, err = b.ReadAt(part[:], 3)
	must(t, err)
	off, err := b.Seek(-1, io.SeekEnd)
	must(t, err)
	rest, err := io.ReadAll(b)
	must(t, err)
	fi, err := b.Stat()
	must(t, err)
	if _, err := b.SyscallConn(); err != nil || string(part[:]) != "nel" || off != 5 || string(rest) != "l" ||
		b.Size() != 6 || b.SHA256() != sum("kernel") || !b.ModTime().Equal(fi.ModTime()) {
		t.Errorf("%q %d %q %v %v", part, off, rest, b, err)
	}
	must(t, b.Close())
	if _, err := b.ReadAt(part[:], 0); err == nil {
		t.Error("it is read after Close")
	}
}

// What is stated must be so, and nothing of another is staged.
func TestStageRefuses(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	old := stage(t, s, "one", "kernel", "initrd")
	was := tree(t, dir)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		spoil func(*Manifest, map[string]Source)
		ctx   context.Context
		code  string
		is    error
	}{
		"another digest": {spoil: func(m *Manifest, _ map[string]Source) { m.Files[1].SHA256 = sum("x") }, code: "INVALID_INPUT"},
		"longer":         {spoil: func(m *Manifest, _ map[string]Source) { m.Files[1].Size = 5 }, code: "INVALID_INPUT"},
		"shorter":        {spoil: func(m *Manifest, _ map[string]Source) { m.Files[1].Size = 7 }, code: "INVALID_INPUT"},
		"endless":        {spoil: func(m *Manifest, s map[string]Source) { m.Files[1].Size, s["vmlinuz"] = 5, Source{Reader: endless{}} }, code: "INVALID_INPUT"},
		"empty":          {spoil: func(_ *Manifest, s map[string]Source) { s["vmlinuz"] = Source{Reader: strings.NewReader("")} }, code: "INVALID_INPUT"},
		"no source":      {spoil: func(_ *Manifest, s map[string]Source) { delete(s, "vmlinuz") }, code: "INVALID_INPUT"},
		"a source more":  {spoil: func(_ *Manifest, s map[string]Source) { s["other"] = Source{Path: "x"} }, code: "INVALID_INPUT"},
		"a missing path": {spoil: func(_ *Manifest, s map[string]Source) { s["vmlinuz"] = Source{Path: "nowhere"} }, code: "INVALID_INPUT", is: fs.ErrNotExist},
		"a folder":       {spoil: func(_ *Manifest, s map[string]Source) { s["vmlinuz"] = Source{Path: "."} }, code: "INVALID_INPUT", is: syscall.EISDIR},
		"a broken source": {spoil: func(_ *Manifest, s map[string]Source) {
			s["vmlinuz"] = Source{Reader: io.MultiReader(strings.NewReader("ker"), failing{broken})}
		}, code: "INVALID_INPUT", is: broken},
		"a bad draft": {spoil: func(m *Manifest, _ map[string]Source) { m.Disk = "x" }, code: "INVALID_INPUT"},
		"given up":    {spoil: func(*Manifest, map[string]Source) {}, ctx: canceled, is: context.Canceled},
	} {
		m, sources := a("one", "kernel", "another")
		c.spoil(&m, sources)
		if c.ctx == nil {
			c.ctx = t.Context()
		}
		_, err := s.Stage(c.ctx, m, sources, nil)
		if err == nil || code(err) != c.code || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", name, err)
		}
		if got := tree(t, dir); !slices.Equal(got, was) || s.Staged()["one"] != old.Digest {
			t.Errorf("%s: the folder has %v", name, got)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// An interrupt that ends the program behind a pipe makes no shorter image.
func TestInterruptedSource(t *testing.T) {
	s := opened(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	m, sources := a("one", "", "initrd")
	sources["vmlinuz"] = Source{Reader: io.MultiReader(strings.NewReader("ker"), ending{cancel})}
	if _, err := s.Stage(ctx, m, sources, nil); !errors.Is(err, context.Canceled) || len(s.Staged()) != 0 {
		t.Errorf("%v, %v", err, s.Staged())
	}
}

type ending struct{ cancel func() }

func (e ending) Read([]byte) (int, error) { e.cancel(); return 0, io.EOF }

// Staging anew replaces the image at once; who reads the old one reads on.
func TestStageAnew(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	old := stage(t, s, "one", "kernel", "initrd")
	b, err := s.OpenFile("one", "vmlinuz")
	must(t, err)
	defer b.Close()
	path := filepath.Join(t.TempDir(), "k")
	must(t, os.WriteFile(path, []byte("kernel 2"), 0o600))
	m, sources := a("one", "", "initrd")
	sources["vmlinuz"] = Source{Path: path}
	m.Files[1].SHA256, m.Files[0].Size = sum("kernel 2"), 6
	var seen []Progress
	i, err := s.Stage(t.Context(), m, sources, func(p Progress) { seen = append(seen, p) })
	must(t, err)
	if i.Digest == old.Digest || text(t, s, "one", "vmlinuz") != "kernel 2" {
		t.Errorf("%+v", i)
	}
	if want := []Progress{{"one", "initrd", 6, 14}, {"one", "vmlinuz", 14, 14}}; !slices.Equal(seen, want) {
		t.Errorf("progress was %v", seen)
	}
	if raw, err := io.ReadAll(b); err != nil || string(raw) != "kernel" {
		t.Errorf("the old kernel is %q, %v", raw, err)
	}
	if slices.Contains(tree(t, dir), "blobs/sha256/"+sum("kernel")) {
		t.Error("the old kernel is kept")
	}
	if m.Files[1].Size != 0 {
		t.Error("the caller's draft was changed")
	}
}

// A process learns of what another does, and only then reads the folder again.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	cli, booterd := opened(t, dir), opened(t, dir)
	reloads := func(want bool, what string) {
		t.Helper()
		if got, err := booterd.Reload(); err != nil || got != want {
			t.Errorf("%s: changed is %t, %v", what, got, err)
		}
	}
	reloads(false, "nothing")
	stage(t, cli, "one", "kernel", "initrd")
	reloads(true, "staged")
	reloads(false, "nothing more")
	stage(t, cli, "one", "other!", "initrd") // of the same length
	if booterd.Staged()["one"] == cli.Staged()["one"] {
		t.Error("it knows without a look")
	}
	if _, err := booterd.OpenFile("one", "vmlinuz"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a kernel that went: %v", err)
	}
	reloads(true, "staged anew")
	if got := text(t, booterd, "one", "vmlinuz"); got != "other!" {
		t.Errorf("the kernel is %q", got)
	}
	_, err := cli.Remove(t.Context(), "one")
	must(t, err)
	reloads(true, "removed")
	if len(booterd.Staged()) != 0 {
		t.Error(booterd.Staged())
	}
}

// One stages at a time; the others wait, as long as they want to.
func TestOneStagesAtATime(t *testing.T) {
	dir := t.TempDir()
	first, second := opened(t, dir), opened(t, dir)
	r, w := io.Pipe()
	done := make(chan error)
	go func() {
		m, sources := a("one", "kernel", "")
		sources["initrd"] = Source{Reader: r}
		_, err := first.Stage(t.Context(), m, sources, nil)
		done <- err
	}()
	_, err := w.Write([]byte("ini")) // the first holds the lock from here on
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond) // another process may hold it: no bubble knows
	defer cancel()
	m, sources := a("two", "kernel", "initrd")
	if _, err := second.Stage(ctx, m, sources, nil); code(err) != "UNAVAILABLE" || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if s := opened(t, dir); len(s.Staged()) != 0 || !slices.Contains(tree(t, dir), "tmp/1") {
		t.Errorf("who opens the folder meanwhile swept it: %v", tree(t, dir))
	}
	go func() { _, _ = w.Write([]byte("trd")); _ = w.Close() }()
	m, sources = a("two", "kernel", "initrd")
	_, err = second.Stage(t.Context(), m, sources, nil)
	must(t, err)
	must(t, <-done)
	if len(second.Staged()) != 2 {
		t.Errorf("%v", second.Staged())
	}
}

func TestVerify(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	stage(t, s, "one", "kernel", "initrd")
	stage(t, s, "two", "other kernel", "initrd")
	all, err := s.Verify(t.Context(), "", nil)
	if err != nil || len(all) != 4 || slices.ContainsFunc(all, func(r Result) bool { return r.Flaw != "" }) {
		t.Errorf("%v, %v", all, err)
	}
	must(t, os.WriteFile(blobPath(dir, "kernel"), []byte("karnel"), 0o600))
	if _, err := s.Reload(); err != nil || len(s.Staged()) != 2 {
		t.Errorf("%v, %v", s.Staged(), err)
	}
	var last Progress
	one, err := s.Verify(t.Context(), "one", func(p Progress) { last = p })
	must(t, err)
	if want := "its content has the sha256 " + sum("karnel"); len(one) != 2 || one[0].Flaw != "" || one[1].Flaw != want {
		t.Errorf("%+v", one)
	}
	if want := (Progress{"one", "vmlinuz", 12, 12}); last != want {
		t.Errorf("progress ended with %v", last)
	}
	if _, err := s.OpenFile("one", "initrd"); code(err) != "INVALID_STATE" || len(s.Staged()) != 1 {
		t.Errorf("an image that was found harmed is served: %v", err)
	}
	if _, err := s.OpenDigest(sum("kernel")); code(err) != "NOT_FOUND" {
		t.Errorf("by its digest too: %v", err)
	}
	stage(t, s, "one", "kernel", "initrd")
	if got := text(t, s, "one", "vmlinuz"); got != "kernel" {
		t.Errorf("staged again it is %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Verify(ctx, "", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}
