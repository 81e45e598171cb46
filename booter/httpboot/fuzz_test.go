package httpboot

import (
	"bufio"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// Whatever is asked, the answer is one of a few, redirects nowhere, and has nothing
// but a part of what the site serves.
func FuzzRequest(f *testing.F) {
	for _, all := range []map[string]asked{requests(), conditions()} {
		for _, c := range all {
			f.Add(c.line, strings.ReplaceAll(c.header, "|", "\r\n"))
		}
	}
	f.Fuzz(func(t *testing.T, line, header string) {
		raw := line + " HTTP/1.1\r\nHost: h\r\n" + header + "\r\n\r\n"
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
		if err != nil {
			return // net/http answers 400 by itself
		}
		w := httptest.NewRecorder()
		done := &ended{}
		(&Handler{Resolve: resolve, Done: done.add}).ServeHTTP(w, r)
		got := w.Result()
		if !slices.Contains([]int{200, 206, 304, 404, 405, 412, 416, 503}, got.StatusCode) {
			t.Fatalf("%d for %q", got.StatusCode, raw)
		}
		if got.StatusCode != 304 && got.Header.Get("Content-Length") == "" {
			t.Fatalf("no length for %q", raw)
		}
		got.ContentLength = 0
		plain(t, got)
		body := w.Body.String()
		if got.StatusCode >= 400 && body != "" && body != http.StatusText(got.StatusCode)+"\n" ||
			got.StatusCode < 400 && !strings.Contains(kernel+"|"+script, body) {
			t.Fatalf("%d %q for %q", got.StatusCode, body, raw)
		}
		if done.count() != 1 || done.last(t).Bytes != int64(len(body)) {
			t.Fatalf("%+v", done.all)
		}
	})
}

// A clean path is local, and stays what it is.
func FuzzCleanPath(f *testing.F) {
	for _, p := range []string{"/a/b", `\a\\b`, "//a", "a/../b", "a/", "", "/", ".", "a%2e", "\x00", "ä", strings.Repeat("/", MaxPath)} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		clean, ok := CleanPath(p)
		if !ok {
			return
		}
		again, ok := CleanPath(clean)
		if !fs.ValidPath(clean) || strings.ContainsAny(clean, "\\%\x00 ") || again != clean || !ok || clean == "." {
			t.Fatalf("%q becomes %q, then %q", p, clean, again)
		}
	})
}
