package httpop_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// documents are what is served, by path.
func documents(t *testing.T) map[string][]byte {
	h := whole(t, open())
	out := map[string][]byte{}
	for _, path := range []string{"/openapi.json", "/openapi-3.0.json"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/openapi+json" {
			t.Fatalf("%s: %d, %v", path, w.Code, w.Header())
		}
		out[path] = w.Body.Bytes()
	}
	return out
}

// TestWriteDocuments writes the documents to the folder INGOT_OPENAPI, for
// generators of clients (.ci/clients).
func TestWriteDocuments(t *testing.T) {
	dir := os.Getenv("INGOT_OPENAPI")
	for path, doc := range documents(t) {
		if !json.Valid(doc) {
			t.Errorf("%s is no JSON", path)
		}
		if dir == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, strings.TrimPrefix(path, "/")), doc, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
