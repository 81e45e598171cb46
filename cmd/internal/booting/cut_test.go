package booting

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ingotmetal/ingot/booter/bootscript"
	"github.com/ingotmetal/ingot/booter/httpboot"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/api"
)

// A disk image that is cut short while an agent has half of it never looks complete:
// the body ends before its length, what is missing is refused, and the next plan finds
// the image gone from what is staged.
func TestAnImageIsCutWhileItIsSent(t *testing.T) {
	const size = 32 << 20 // more than what sockets hold
	dir := t.TempDir()
	s, err := images.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := images.Manifest{Name: "own", Disk: "root.img", Files: []images.File{{Name: "root.img"}}}
	made, err := s.Stage(t.Context(), m, map[string]images.Source{"root.img": {Reader: io.LimitReader(zeros{}, size)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	stageEnroll(t, s)
	d := NewDesk(place(), s, newKey(), still)
	d.Change(func(*World) *World {
		return NewWorld(snapshot(with(enrolling(), func(b *api.ServedBoot) { b.Address = "127.0.0.1" })))
	})
	web := httptest.NewServer(&httpboot.Handler{Resolve: d.Resolve, Log: quiet})
	defer web.Close()
	sum := made.Files[0].SHA256
	url := web.URL + "/" + path(d, known, bootscript.Path{Leaf: bootscript.Disk, Name: sum})
	body := get(t, url, 0, http.StatusOK)
	defer body.Close()
	if _, err := io.CopyN(io.Discard, body, 1<<20); err != nil {
		t.Fatal(err)
	}
	blob := filepath.Join(dir, "blobs", "sha256", sum)
	if err := errors.Join(os.Chmod(blob, 0o600), os.Truncate(blob, size/2)); err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, body)
	if err == nil || n >= size-1<<20 {
		t.Errorf("%d bytes more, and no error", n)
	}
	get(t, url, 1<<20+n, http.StatusNotFound).Close()
	if slices.Contains(d.disks(), "sha256:"+sum) || d.harmed() != 1 {
		t.Errorf("it is offered still: %v", d.disks())
	}
	get(t, url, 0, http.StatusNotFound).Close()
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

func get(t *testing.T, url string, from int64, want int) io.ReadCloser {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != want {
		t.Errorf("from %d: %s, want %d", from, res.Status, want)
	}
	return res.Body
}
