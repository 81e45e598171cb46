package httpop_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ingotmetal/ingot/cmd/api"
)

// FuzzRequests sends any method, path, query, headers and body to the whole
// table. The handlers do nothing, so whatever goes wrong is the gate's.
func FuzzRequests(f *testing.F) {
	h := whole(f, open())
	for _, a := range api.All() {
		d := a.Info()
		path := strings.NewReplacer("{server_id}", "6f1f5e9a-3c0e-4a52-9c3a-2f0f5a1c9b11", "{mac}", "02:00:00:00:00:01", "{node_id}", "node_"+strings.Repeat("a", 26),
			"{key_id}", "key_a", "{operator}", "ann").Replace(d.Path)
		f.Add(d.Method, path, "version=1&limit=2&wait=1s&x", "key", "application/json", []byte(`{"drink":"tea","server_id":"6f1f5e9a-3c0e-4a52-9c3a-2f0f5a1c9b11","sysinfo":{}}`))
	}
	f.Add("POST", "/v1/register", "", "", "application/json", []byte(strings.Repeat(`{"sysinfo":`, 30)))
	f.Add("HEAD", "/v1/nodes/../nodes", "cursor=%zz", "a b", "text/plain", []byte("\xff\x00"))
	f.Add("PUT", "/v1/policy", "", "", "application/json; charset=x", []byte(`{"policy":{"deadlines":{"`+canary+`":"`+canary+`"}}}`))
	f.Fuzz(func(t *testing.T, method, path, query, key, kind string, body []byte) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request(method, path, query, key, kind, body))
		judge(t, method, w)
	})
}

// request is what a server could hand on: nothing has checked it.
func request(method, path, query, key, kind string, body []byte) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", bytes.NewReader(body))
	r.Method = method
	r.URL = &url.URL{Path: path, RawQuery: query}
	r.Header.Set("Content-Type", kind)
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	r.Header.Set("X-Secret", canary)
	return r
}

// judge holds an answer to what every answer is.
func judge(t *testing.T, method string, w *httptest.ResponseRecorder) {
	switch {
	case w.Code >= 500:
		t.Fatalf("%d: %s", w.Code, w.Body)
	case w.Code >= 400:
		problem(t, w)
		if strings.Contains(w.Body.String(), canary) {
			t.Fatalf("told back: %s", w.Body)
		}
	case w.Code >= 300:
		t.Fatalf("%d to %q", w.Code, w.Header().Get("Location"))
	case w.Code == 200 && w.Header().Get("Content-Type") == "application/json" && !json.Valid(w.Body.Bytes()):
		t.Fatalf("%s: no JSON: %q", method, w.Body)
	}
	if !utf8.Valid(w.Body.Bytes()) {
		t.Fatalf("no UTF-8: %q", w.Body)
	}
}

// FuzzEchoes hides a word in each part of a request that has nothing else to
// say, and wants it nowhere in the answer.
func FuzzEchoes(f *testing.F) {
	h := whole(f, open())
	all := api.All()
	f.Add(uint8(0), uint8(0), []byte(`{"server_id":"%","sysinfo":"%"}`))
	f.Add(uint8(8), uint8(1), []byte(`{"layout":{"disks":[{"%":1}]},"%":{}}`))
	f.Add(uint8(33), uint8(2), []byte(`{"allow":["%"],"deadlines":{"%":"%"},"exclude":%}`))
	f.Fuzz(func(t *testing.T, op, where uint8, body []byte) {
		d := all[int(op)%len(all)].Info()
		path, query, key := d.Path, "", ""
		switch where % 4 {
		case 0:
			path = strings.NewReplacer("{", canary+"{", "}", canary+"}").Replace(path)
		case 1:
			query = canary + "=1&version=" + canary
		case 2:
			key = canary + " " + canary
		}
		raw := bytes.ReplaceAll(body, []byte("%"), []byte(canary))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request(d.Method, path, query, key, "application/json", raw))
		judge(t, d.Method, w)
		if strings.Contains(w.Body.String(), canary) {
			t.Fatalf("%s told back: %s", d.Name, w.Body)
		}
		for name, values := range w.Header() {
			if strings.Contains(strings.Join(values, " "), canary) {
				t.Fatalf("%s told back in %s", d.Name, name)
			}
		}
	})
}
