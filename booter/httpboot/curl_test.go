package httpboot

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// curl is a client that nobody here wrote.
func curl(t *testing.T, args ...string) (out string, ok bool) {
	t.Helper()
	raw, err := exec.Command("curl", append([]string{"-sS", "--max-time", "20", "--noproxy", "*"}, args...)...).Output()
	return string(raw), err == nil
}

func TestCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("INGOT_TEST_ALL") == "1" {
			t.Fatal("curl is needed: apt-get install curl")
		}
		t.Skip("curl is needed: apt-get install curl")
	}
	done := &ended{}
	s := serving(t, &Handler{Resolve: resolve, Done: done.add})
	url := s.URL + "/img/vmlinuz"
	if out, ok := curl(t, url); !ok || out != kernel {
		t.Errorf("%q", out)
	}
	half := filepath.Join(t.TempDir(), "half")
	must(t, os.WriteFile(half, []byte(kernel[:4]), 0o600))
	if _, ok := curl(t, "-C", "-", "-o", half, "-H", `If-Match: "`+etag+`"`, url); !ok {
		t.Error("it does not resume")
	}
	if raw, _ := os.ReadFile(half); string(raw) != kernel || done.last(t).Status != 206 {
		t.Errorf("resumed it is %q, %+v", raw, done.last(t))
	}
	head, ok := curl(t, "-I", url)
	if !ok || !strings.Contains(head, "200 OK") || !strings.Contains(head, "Content-Length: 10\r\n") || strings.Contains(head, "chunked") || strings.Contains(head, "Server:") {
		t.Errorf("%s", head)
	}
	for _, path := range []string{"/img/../img/vmlinuz", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/img/vmlinuz/", "/img"} {
		out, _ := curl(t, "-L", "--path-as-is", "-o", os.DevNull, "-w", "%{http_code} %{num_redirects}", s.URL+path)
		if out != "404 0" {
			t.Errorf("%s: %s", path, out)
		}
	}
	two, ok := curl(t, url, s.URL+"//boot.ipxe", "-w", "%{num_connects} ") // on one connection
	if !ok || two != kernel+"1 "+script+"0 " {
		t.Errorf("%q", two)
	}
	if out, _ := curl(t, "-X", "POST", "-d", "x", "-o", os.DevNull, "-w", "%{http_code}", url); out != "405" {
		t.Errorf("POST: %s", out)
	}
}
