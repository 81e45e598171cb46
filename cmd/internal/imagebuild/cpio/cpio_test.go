package cpio_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/cpio"
)

var sample = []cpio.Entry{
	{Name: "dev", Mode: cpio.Directory | 0o755},
	{Name: "dev/console", Mode: cpio.Character | 0o600, Major: 5, Minor: 1},
	{Name: "etc", Mode: cpio.Directory | 0o755},
	{Name: "etc/empty", Mode: cpio.Regular | 0o600},
	{Name: "etc/five", Mode: cpio.Regular | 0o644, Body: []byte("five\n")},
	{Name: "init", Mode: cpio.Regular | 0o755, Body: bytes.Repeat([]byte("#"), 100_001)},
	{Name: "link", Mode: cpio.Link | 0o777, Body: []byte("etc/five")},
}

// write makes an archive of entries.
func write(t testing.TB, entries []cpio.Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := cpio.NewWriter(&b)
	for _, e := range entries {
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read is all that an archive holds.
func read(raw []byte, limit int64) (out []cpio.Entry, err error) {
	r := cpio.NewReader(bytes.NewReader(raw), limit)
	for {
		e, err := r.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if len(e.Body) == 0 {
			e.Body = nil
		}
		out = append(out, e)
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	raw := write(t, sample)
	got, err := read(raw, 1<<20)
	if err != nil || !reflect.DeepEqual(got, sample) {
		t.Errorf("%v, %v", got, err)
	}
	if !bytes.Equal(raw, write(t, sample)) {
		t.Error("the same entries give other bytes")
	}
	for n := range len(raw) { // cut off anywhere
		if n > 400 && n < len(raw)-400 {
			continue
		}
		if _, err := read(raw[:n], 1<<20); errors.As(err, new(*cpio.Invalid)) != (n < len(raw)) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
	if _, err := read(raw, 100_000); !errors.As(err, new(*cpio.Invalid)) {
		t.Errorf("beyond the limit: %v", err)
	}
}

// GNU cpio finds in an archive what was put there, and makes one that is read alike.
func TestGNU(t *testing.T) {
	if _, err := exec.LookPath("cpio"); err != nil {
		if os.Getenv("INGOT_TEST_ALL") == "1" {
			t.Fatal(err)
		}
		t.Skip("cpio is missing: apt-get install cpio")
	}
	listed := gnu(t, t.TempDir(), write(t, sample), "-itv", "--numeric-uid-gid", "--quiet")
	for i, want := range []string{
		"drwxr-xr-x   2 0        0               0 Jan  1  1970 dev",
		"crw-------   1 0        0          5,   1 Jan  1  1970 dev/console",
		"drwxr-xr-x   2 0        0               0 Jan  1  1970 etc",
		"-rw-------   1 0        0               0 Jan  1  1970 etc/empty",
		"-rw-r--r--   1 0        0               5 Jan  1  1970 etc/five",
		"-rwxr-xr-x   1 0        0          100001 Jan  1  1970 init",
		"lrwxrwxrwx   1 0        0               8 Jan  1  1970 link -> etc/five",
	} {
		if got := strings.Split(string(listed), "\n")[i]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	dir := t.TempDir()
	files := []cpio.Entry{sample[2], sample[4], sample[5], sample[6]}
	gnu(t, dir, write(t, files), "-id", "--quiet")
	again := gnu(t, dir, []byte("etc\netc/five\ninit\nlink\n"), "-o", "-H", "newc", "--quiet")
	got, err := read(again, 1<<20)
	if err != nil || !reflect.DeepEqual(got, files) {
		t.Errorf("%v, %v", got, err)
	}
}

// gnu runs GNU cpio in a folder.
func gnu(t *testing.T, dir string, in []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("cpio", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(in)
	cmd.Env = append(os.Environ(), "TZ=UTC", "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRefusals(t *testing.T) {
	long := strings.Repeat("n", cpio.MaxName+1)
	for name, e := range map[string]cpio.Entry{
		"no name":             {Mode: cpio.Regular},
		"the root":            {Name: ".", Mode: cpio.Directory},
		"from the root":       {Name: "/init", Mode: cpio.Regular},
		"above":               {Name: "../init", Mode: cpio.Regular},
		"another way":         {Name: "a//b", Mode: cpio.Regular},
		"the end":             {Name: "TRAILER!!!", Mode: cpio.Regular},
		"a zero":              {Name: "m\x00", Mode: cpio.Regular},
		"too long":            {Name: long, Mode: cpio.Regular},
		"a target too long":   {Name: "m", Mode: cpio.Link, Body: []byte(long)},
		"no target":           {Name: "m", Mode: cpio.Link},
		"out of order":        {Name: "a", Mode: cpio.Regular},
		"twice":               {Name: "link", Mode: cpio.Regular},
		"no folder":           {Name: "usr/bin", Mode: cpio.Regular},
		"a file for a folder": {Name: "link/bin", Mode: cpio.Regular},
		"no kind":             {Name: "m", Mode: 0o755},
		"a pipe":              {Name: "m", Mode: 0o010644},
		"a high bit":          {Name: "m", Mode: cpio.Regular | 1<<16},
		"a full folder":       {Name: "m", Mode: cpio.Directory, Body: []byte("x")},
	} {
		var b bytes.Buffer
		w := cpio.NewWriter(&b)
		for _, s := range sample {
			if err := w.Add(s); err != nil {
				t.Fatal(err)
			}
		}
		before := b.Len()
		if err := w.Add(e); !errors.As(err, new(*cpio.Invalid)) || b.Len() != before {
			t.Errorf("%s: %v, %d bytes", name, err, b.Len()-before)
		}
	}
}

func TestAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,6}`), 1, 20, rapid.ID).Draw(t, "names")
		var b bytes.Buffer
		w := cpio.NewWriter(&b)
		var want []cpio.Entry
		for _, n := range names {
			e := cpio.Entry{Name: n, Mode: cpio.Regular | 0o644, Body: rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "body")}
			if w.Add(e) == nil {
				want = append(want, e)
			}
		}
		if err := w.Close(); err != nil || b.Len()%4 != 0 {
			t.Fatal(err, b.Len())
		}
		if got, err := read(b.Bytes(), 1<<20); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%v, %v; want %v", got, err, want)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add(write(f, sample[:5]))
	f.Add([]byte("070701"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := read(raw, 1<<16)
		if err != nil && !errors.As(err, new(*cpio.Invalid)) {
			t.Errorf("%v", err)
		}
		n := 0
		for _, e := range got {
			n += len(e.Body) + len(e.Name)
		}
		if n > len(raw) {
			t.Errorf("%d bytes of %d", n, len(raw))
		}
	})
}
