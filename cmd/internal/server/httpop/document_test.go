package httpop_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/api"
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

// operation is what of one the documents must say.
type operation struct {
	ID          string `json:"operationId"`
	Summary     string
	Action      *string  `json:"x-action"`
	Auth        string   `json:"x-auth"`
	Destructive *bool    `json:"x-destructive"`
	Codes       []string `json:"x-codes"`
	Security    []map[string][]string
	Responses   map[string]struct{ Content map[string]any }
}

func TestDocumentsSayWhatTheTableSays(t *testing.T) {
	for path, raw := range documents(t) {
		var doc struct {
			OpenAPI    string
			Paths      map[string]map[string]operation
			Components struct{ Schemas map[string]any }
		}
		if err := json.Unmarshal(raw, &doc); err != nil {
			t.Fatal(err)
		}
		if want := map[string]string{"/openapi.json": "3.1.0", "/openapi-3.0.json": "3.0.3"}[path]; doc.OpenAPI != want {
			t.Errorf("%s is %s", path, doc.OpenAPI)
		}
		for _, a := range api.All() {
			described(t, a.Info(), doc.Paths[a.Info().Path][strings.ToLower(a.Info().Method)])
		}
		for _, name := range []string{"ErrorModel", "ErrorDetail"} {
			if doc.Components.Schemas[name] != nil {
				t.Errorf("%s has %s, which is never served", path, name)
			}
		}
		if bytes.Contains(raw, []byte(`"additionalProperties":false`)) || bytes.Contains(raw, []byte(`["array","null"]`)) {
			t.Errorf("%s forbids what later versions may add, or has lists that are null", path)
		}
	}
}

// described compares an operation with its declaration.
func described(t *testing.T, d api.Def, op operation) {
	t.Helper()
	if op.ID != d.Name || op.Summary != d.Summary || op.Auth != string(d.Auth) || op.Action == nil || *op.Action != string(d.Action) || op.Destructive == nil || *op.Destructive != d.Destructive {
		t.Errorf("%s: %+v", d.Name, op)
	}
	if !slices.Equal(op.Codes, d.Codes()) {
		t.Errorf("%s: codes %v", d.Name, op.Codes)
	}
	want := map[string]bool{"200": true, "500": true}
	for _, c := range d.Codes() {
		want[strconv.Itoa(api.Status(c))] = true
	}
	for status, r := range op.Responses {
		if !want[status] || status != "200" && r.Content["application/problem+json"] == nil {
			t.Errorf("%s: answer %s", d.Name, status)
		}
		delete(want, status)
	}
	if len(want) > 0 {
		t.Errorf("%s: lacks answers %v", d.Name, want)
	}
	if asks := len(op.Security) > 0; asks != (d.Auth != api.Anonymous && d.Auth != api.Host) {
		t.Errorf("%s: security %v", d.Name, op.Security)
	}
}
