package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/agent"
)

// brittle serves n bytes of what is asked for and then cuts the connection.
func brittle(n int, each func(h http.Header)) func(http.ResponseWriter, *http.Request, []byte) {
	return func(w http.ResponseWriter, r *http.Request, image []byte) {
		from := 0
		w.Header().Set("ETag", `"1"`)
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); err == nil {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(image)-1, len(image)))
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(image)-from))
		each(w.Header())
		if from > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = w.Write(image[from:min(from+n, len(image))])
		if from+n < len(image) {
			panic(http.ErrAbortHandler)
		}
	}
}

func same(http.Header) {}

func TestImage(t *testing.T) {
	status := func(code int) func(http.ResponseWriter, *http.Request, []byte) {
		return func(w http.ResponseWriter, _ *http.Request, _ []byte) { http.Error(w, "no", code) }
	}
	resumed := 0
	for name, c := range map[string]struct {
		serve func(http.ResponseWriter, *http.Request, []byte)
		why   string // "": it is read whole
		tries int
	}{
		"whole":         {nil, "", 1},
		"in pieces":     {brittle(imageSize/10, same), "", 10},
		"byte by byte":  {brittle(0, same), "after 0 bytes", 8},
		"one that ends": {brittle(imageSize/2, func(h http.Header) { h.Set("Content-Range", "bytes 1-2/3") }), "its server answers 206", 2},
		"changed": {func(w http.ResponseWriter, r *http.Request, image []byte) {
			r.Header.Del("Range")
			brittle(imageSize/2, same)(w, r, image)
		}, "the image changed", 2},
		"not there": {status(404), "404", 1},
		"down":      {status(503), "503", 8},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request, _ []byte) { http.Redirect(w, r, "/x", http.StatusFound) }, "302", 1},
		"down once": {func(w http.ResponseWriter, r *http.Request, image []byte) {
			if resumed++; resumed == 1 {
				status(502)(w, r, image)
				return
			}
			brittle(imageSize, same)(w, r, image)
		}, "", 2},
		"silent": {func(w http.ResponseWriter, r *http.Request, image []byte) {
			w.Header().Set("Content-Length", fmt.Sprint(len(image)))
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "after 0 bytes", 8},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				tries := 0
				w.serving = func(rw http.ResponseWriter, r *http.Request, image []byte) {
					tries++
					if tries > 1 && r.Header.Get("Range") != "" && r.Header.Get("If-Range") != `"1"` {
						t.Errorf("it goes on with %v", r.Header)
					}
					if c.serve == nil {
						http.ServeContent(rw, r, "", time.Time{}, strings.NewReader(string(image)))
						return
					}
					c.serve(rw, r, image)
				}
				a, _ := w.boot()
				got, err := read(t.Context(), a, "https://booter:443/image/"+imageToken)
				noImage, typed := errors.AsType[*agent.NoImage](err)
				switch {
				case c.why == "" && (err != nil || !bytes.Equal(got, w.image)):
					t.Errorf("%d bytes, %v", len(got), err)
				case c.why != "" && (!typed || !strings.Contains(noImage.Error(), c.why) || strings.Contains(err.Error(), imageToken)):
					t.Error(err)
				}
				if tries != c.tries {
					t.Errorf("%d requests, want %d", tries, c.tries)
				}
			})
		})
	}
}

func read(ctx context.Context, a *agent.Agent, where string) ([]byte, error) {
	r, size, end, err := agent.Fetch(ctx, a, where)
	if err != nil {
		return nil, err
	}
	defer end()
	got, err := io.ReadAll(r)
	if err == nil && size != uint64(len(got)) {
		err = fmt.Errorf("%d bytes of %d", len(got), size)
	}
	return got, err
}

func TestImageAddress(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		a, _ := w.boot()
		for _, where := range []string{"", "x", "ftp://booter/x", "http:///x", "http://u:p@booter/x", "file:///etc/passwd", "http://nowhere/" + imageToken} {
			_, err := read(t.Context(), a, where)
			if _, ok := errors.AsType[*agent.NoImage](err); !ok || strings.Contains(err.Error(), imageToken) {
				t.Errorf("%q: %v", where, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := read(ctx, a, "http://nowhere/"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
