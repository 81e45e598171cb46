package httpboot

import (
	"context"
	"io/fs"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/images"
)

// A staged image is served by its files' names, whole or in part, with what it is
// made of as its ETag; and no longer when it was removed.
func TestServesImages(t *testing.T) {
	store, err := images.Open(t.TempDir())
	must(t, err)
	defer store.Close()
	big := strings.Repeat(kernel, 1<<18)
	_, err = store.Stage(t.Context(), images.Manifest{
		Name: "one", Files: []images.File{{Name: "vmlinuz"}}, Boots: map[booter.Platform]images.Boots{images.Any: {Kernel: "vmlinuz"}},
	}, map[string]images.Source{"vmlinuz": {Reader: strings.NewReader(big)}}, nil)
	must(t, err)
	s := serving(t, &Handler{Resolve: func(_ context.Context, r Request) (Content, error) {
		image, file, ok := strings.Cut(r.Path, "/")
		if !ok {
			return Content{}, fs.ErrNotExist
		}
		b, err := store.OpenFile(image, file)
		if err != nil {
			return Content{}, err
		}
		return Content{Body: b, Size: b.Size(), Digest: b.SHA256(), Type: TypeOf(file, Data), Modified: b.ModTime()}, nil
	}})
	address := s.Listener.Addr().String()
	r, body := exchange(t, address, "GET /one/vmlinuz HTTP/1.1\r\nHost: h\r\n\r\n", "GET")
	if r.StatusCode != 200 || body != big {
		t.Errorf("%d, %d bytes", r.StatusCode, len(body))
	}
	r, body = exchange(t, address, "GET /one/vmlinuz HTTP/1.1\r\nHost: h\r\nRange: bytes=1500000-\r\nIf-Match: "+r.Header.Get("Etag")+"\r\n\r\n", "GET")
	if r.StatusCode != 206 || body != big[1500000:] {
		t.Errorf("%d, %d bytes", r.StatusCode, len(body))
	}
	_, err = store.Remove(t.Context(), "one")
	must(t, err)
	for _, path := range []string{"one/vmlinuz", "one/other", "../images/one.json", "two/vmlinuz"} {
		if r, _ := exchange(t, address, "GET /"+path+" HTTP/1.1\r\nHost: h\r\n\r\n", "GET"); r.StatusCode != 404 {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
}
