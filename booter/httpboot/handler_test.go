package httpboot

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// exchange sends text as it is and reads the one answer, over a connection of its own.
func exchange(t testing.TB, address, text, method string) (*http.Response, string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	must(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, text)
	must(t, err)
	r, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	must(t, err)
	body, err := io.ReadAll(r.Body)
	must(t, err)
	return r, string(body)
}

// An asked is a request and what must come.
type asked struct {
	line   string // METHOD TARGET
	header string // lines, without their ends; "|" between
	status int
	body   string // without the names of errors
	wants  string // header lines of the answer; "|" between
}

func requests() map[string]asked {
	const whole = "Content-Type: application/octet-stream|Etag: \"" + etag + "\"|Accept-Ranges: bytes|Last-Modified: Fri, 01 May 2026 12:00:00 GMT|Cache-Control: private"
	return map[string]asked{
		"GET of a file: length, strong ETag, date, ranges": {"GET /img/vmlinuz", "", 200, kernel, whole},
		"HEAD of a file: the same headers, no body":        {"HEAD /img/vmlinuz", "", 200, "", whole + "|Content-Length: 10"},
		"GET of a script: text":                            {"GET /boot.ipxe", "", 200, script, "Content-Type: text/plain; charset=utf-8"},
		"GET of an empty file: length 0":                   {"GET /empty", "", 200, "", "Content-Length: 0|Content-Type: application/octet-stream"},
		"a query changes nothing":                          {"GET /boot.ipxe?../../x=%00", "", 200, script, ""},
		"a whole URL is its path":                          {"GET http://elsewhere/boot.ipxe", "", 200, script, ""},
		"slashes in front":                                 {"GET ///img/vmlinuz", "", 200, kernel, ""},
		"double slashes":                                   {"GET /img//vmlinuz", "", 200, kernel, ""},
		"backslashes":                                      {`GET /\img\vmlinuz`, "", 200, kernel, ""},
		"backslashes, escaped":                             {"GET /%5Cimg%5Cvmlinuz", "", 200, kernel, ""},

		".. is 404, without a redirect":                     {"GET /img/../img/vmlinuz", "", 404, "", ""},
		".. escaped is 404":                                 {"GET /img/%2e%2e/img/vmlinuz", "", 404, "", ""},
		".. escaped twice is 404":                           {"GET /img/%252e%252e/img/vmlinuz", "", 404, "", ""},
		".. with backslashes is 404":                        {`GET /img\..\img\vmlinuz`, "", 404, "", ""},
		". is 404":                                          {"GET /./img/vmlinuz", "", 404, "", ""},
		"a NUL is 404":                                      {"GET /img/vmlinuz%00", "", 404, "", ""},
		"an end of line is 404":                             {"GET /img/vmlinuz%0a", "", 404, "", ""},
		"a slash at the end is 404, without a redirect":     {"GET /img/vmlinuz/", "", 404, "", ""},
		"a folder is 404, without a redirect":               {"GET /img", "", 404, "", ""},
		"the root is 404":                                   {"GET /", "", 404, "", ""},
		"a star is 404":                                     {"GET *", "", 404, "", ""},
		"index.html is 404, without a redirect":             {"GET /index.html", "", 404, "", ""},
		"a path too long is 404":                            {"GET /" + strings.Repeat("a", MaxPath+1), "", 404, "", ""},
		"what does not exist is 404":                        {"GET /nowhere", "", 404, "", ""},
		"HEAD of what does not exist is 404, with a length": {"HEAD /nowhere", "", 404, "", "Content-Length: 10"},
		"what is denied is 404":                             {"GET /denied", "", 404, "", ""},
		"an unknown error is 404":                           {"GET /broken", "", 404, "", ""},
		"not now is 503 with Retry-After":                   {"GET /later", "", 503, "", "Retry-After: 2"},
		"too slow is 503 with Retry-After":                  {"GET /slow", "", 503, "", "Retry-After: 2"},
		"content of another size than stated is 503":        {"GET /short", "", 503, "", "Retry-After: 2"},

		"POST":     {"POST /img/vmlinuz", "Content-Length: 0", 405, "", "Allow: GET, HEAD"},
		"PUT":      {"PUT /img/vmlinuz", "Content-Length: 0", 405, "", "Allow: GET, HEAD"},
		"DELETE":   {"DELETE /nowhere", "", 405, "", "Allow: GET, HEAD"},
		"OPTIONS":  {"OPTIONS *", "", 405, "", "Allow: GET, HEAD"},
		"CONNECT":  {"CONNECT img:1", "", 405, "", "Allow: GET, HEAD"},
		"propfind": {"PROPFIND /img", "", 405, "", "Allow: GET, HEAD"},
	}
}

func conditions() map[string]asked {
	const get, is, not = "GET /img/vmlinuz", `"` + etag + `"`, `"` + "0000" + `"`
	return map[string]asked{
		"Range is 206 with Content-Range and the total": {get, "Range: bytes=2-4", 206, "234", "Content-Range: bytes 2-4/10|Content-Length: 3|Etag: " + is},
		"Range to the end":                               {get, "Range: bytes=8-", 206, "89", "Content-Range: bytes 8-9/10"},
		"Range of the last bytes":                        {get, "Range: bytes=-3", 206, "789", "Content-Range: bytes 7-9/10"},
		"Range beyond the end is cut":                    {get, "Range: bytes=5-99", 206, "56789", "Content-Range: bytes 5-9/10"},
		"Range behind the end is 416":                    {get, "Range: bytes=10-", 416, "", "Content-Range: bytes */10"},
		"several ranges are ignored: 200":                {get, "Range: bytes=0-1,4-5", 200, kernel, ""},
		"two Range headers are ignored: 200":             {get, "Range: bytes=0-1|Range: bytes=4-5", 200, kernel, ""},
		"a Range of another unit is ignored":             {get, "Range: lines=1-2", 200, kernel, ""},
		"a Range that is none is ignored":                {get, "Range: bytes=x-y", 200, kernel, ""},
		"a Range backwards is ignored":                   {get, "Range: bytes=4-2", 200, kernel, ""},
		"a Range of endless digits is ignored":           {get, "Range: bytes=99999999999999999999-", 200, kernel, ""},
		"an empty Range is ignored":                      {get, "Range: bytes=-", 200, kernel, ""},
		"HEAD ignores Range":                             {"HEAD /img/vmlinuz", "Range: bytes=2-4", 200, "", "Content-Length: 10"},
		"Range of an empty file":                         {"GET /empty", "Range: bytes=0-", 200, "", "Content-Length: 0"},
		"If-Match of the ETag":                           {get, "If-Match: " + is, 200, kernel, ""},
		"If-Match of any":                                {get, "If-Match: *", 200, kernel, ""},
		"If-Match of another ETag is 412":                {get, "If-Match: " + not, 412, "", ""},
		"If-Match of a weak ETag is 412: ours is strong": {get, "If-Match: W/" + is, 412, "", ""},
		"HEAD with If-Match of another is 412":           {"HEAD /img/vmlinuz", "If-Match: " + not, 412, "", "Content-Length: 20"},
		"If-Unmodified-Since, and it was not":            {get, "If-Unmodified-Since: Fri, 01 May 2026 12:00:00 GMT", 200, kernel, ""},
		"If-Unmodified-Since, and it was: 412":           {get, "If-Unmodified-Since: Fri, 01 May 2026 11:59:59 GMT", 412, "", ""},
		"If-None-Match of the ETag is 304":               {get, "If-None-Match: " + is, 304, "", "Etag: " + is},
		"If-Range of the ETag":                           {get, "Range: bytes=2-4|If-Range: " + is, 206, "234", ""},
		"If-Range of another ETag is 200":                {get, "Range: bytes=2-4|If-Range: " + not, 200, kernel, ""},
		"If-Range of the date":                           {get, "Range: bytes=2-4|If-Range: Fri, 01 May 2026 12:00:00 GMT", 206, "234", ""},
		"EDK2 resumes":                                   {get, "Host: 10.78.0.1|Accept: */*|User-Agent: UefiHttpBoot/1.0|Range: bytes=4-|If-Match: " + is, 206, "456789", "Content-Range: bytes 4-9/10|Content-Length: 6"},
		"EDK2 resumes something else":                    {get, "Host: 10.78.0.1|Range: bytes=4-|If-Match: " + not, 412, "", ""},
		"EDK2 resumes by date":                           {get, "Host: 10.78.0.1|Range: bytes=4-|If-Unmodified-Since: Fri, 01 May 2026 12:00:00 GMT", 206, "456789", ""},
		"Host without the port, as firmware sends it":    {get, "Host: 10.78.0.1", 200, kernel, ""},
		"Host of another changes nothing":                {get, "Host: evil.example", 200, kernel, ""},
	}
}

func TestChecklistOfRequests(t *testing.T) {
	done := &ended{}
	s := serving(t, &Handler{Resolve: resolve, Done: done.add})
	for _, all := range []map[string]asked{requests(), conditions()} {
		for name, c := range all {
			t.Run(name, func(t *testing.T) { c.check(t, s.Listener.Addr().String(), done) })
		}
	}
}

func (c asked) check(t *testing.T, address string, done *ended) {
	before := done.count()
	header := ""
	if !strings.Contains(c.header, "Host: ") {
		header = "Host: h\r\n"
	}
	for _, l := range strings.FieldsFunc(c.header, func(r rune) bool { return r == '|' }) {
		header += l + "\r\n"
	}
	method, _, _ := strings.Cut(c.line, " ")
	r, body := exchange(t, address, c.line+" HTTP/1.1\r\n"+header+"\r\n", method)
	want := c.body
	if c.status >= 400 && method != "HEAD" {
		want = http.StatusText(c.status) + "\n"
	}
	if r.StatusCode != c.status || body != want {
		t.Errorf("%d %q, want %d %q", r.StatusCode, body, c.status, want)
	}
	for _, l := range strings.FieldsFunc(c.wants, func(r rune) bool { return r == '|' }) {
		if k, v, _ := strings.Cut(l, ": "); r.Header.Get(k) != v {
			t.Errorf("%s is %q, want %q", k, r.Header.Get(k), v)
		}
	}
	plain(t, r)
	last := done.last(t)
	if done.count() != before+1 || last.Status != c.status || last.Bytes != int64(len(body)) || (last.Err == nil) != (c.status < 400) || last.Duration <= 0 {
		t.Errorf("the transfer was %+v", last)
	}
	if last.Whole() != (c.status == 200 && method == "GET") {
		t.Errorf("%+v is whole: %t", last, last.Whole())
	}
}

// plain checks what every answer must be.
func plain(t testing.TB, r *http.Response) {
	t.Helper()
	if len(r.TransferEncoding) > 0 || r.ContentLength < 0 && r.StatusCode != 304 {
		t.Errorf("%d has %v and the length %d", r.StatusCode, r.TransferEncoding, r.ContentLength)
	}
	if r.StatusCode >= 300 && r.StatusCode < 400 && r.StatusCode != 304 || r.Header.Get("Location") != "" {
		t.Errorf("%d redirects to %q", r.StatusCode, r.Header.Get("Location"))
	}
	if _, ok := r.Header["Server"]; ok {
		t.Error("it has a Server")
	}
	for _, k := range []string{"Etag", "Last-Modified", "Cache-Control", "Accept-Ranges"} {
		if r.StatusCode >= 400 && r.Header.Get(k) != "" {
			t.Errorf("%d has %s", r.StatusCode, k)
		}
	}
	for k, all := range r.Header {
		for _, v := range all {
			if v == "" {
				t.Errorf("%s is empty", k)
			}
		}
	}
}

// A stranger cannot tell what is denied from what is not there.
func deniedLooksLikeAbsent(t *testing.T) {
	s := serving(t, &Handler{Resolve: resolve})
	var answers []string
	for _, path := range []string{"/nowhere", "/denied", "/broken", "/img/../x"} {
		r, body := exchange(t, s.Listener.Addr().String(), "GET "+path+" HTTP/1.1\r\nHost: h\r\n\r\n", "GET")
		r.Header.Del("Date")
		answers = append(answers, fmt.Sprint(r.Status, r.Header, body))
	}
	for _, a := range answers {
		if a != answers[0] || strings.Contains(a, "secret") {
			t.Errorf("%s\n%s", a, answers[0])
		}
	}
}

// Resolve learns who asks, which of our addresses it reached, and nothing of Host.
func whatResolveIsAsked(t *testing.T) {
	done := &ended{}
	s := serving(t, &Handler{Resolve: resolve, Done: done.add})
	address := s.Listener.Addr().String()
	exchange(t, address, "HEAD //img\\vmlinuz?x=1 HTTP/1.1\r\nHost: evil.example:1\r\n\r\n", "HEAD")
	want := Request{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddrPort(address), "img/vmlinuz", true}
	if got := done.last(t).Request; got != want {
		t.Errorf("asked %+v, want %+v", got, want)
	}
}

// Errors that nobody foresaw are logged, without the path, which may hold a token.
func TestLog(t *testing.T) {
	var b bytes.Buffer
	h := &Handler{Resolve: resolve, Log: slog.New(slog.NewTextHandler(&b, nil))}
	s := serving(t, h)
	for _, path := range []string{"/broken", "/denied", "/nowhere", "/later"} {
		r, err := http.Get(s.URL + path)
		must(t, err)
		_ = r.Body.Close()
	}
	s.Close()
	if got := b.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, http.ErrBodyNotAllowed.Error()) || strings.Contains(got, "broken") {
		t.Errorf("%s", got)
	}
}

func types(t *testing.T) {
	for _, c := range []struct {
		name string
		role Role
		want string
	}{
		{"snponly.EFI", Data, "application/efi"}, {"uki-6.1", Program, "application/efi"}, {"undionly.kpxe", Data, "application/octet-stream"},
		{"a.iso", Disk, "application/vnd.efi-iso"}, {"a.img", Disk, "application/vnd.efi-img"}, {"initrd.img", Data, "application/octet-stream"},
		{"a.raw", Disk, "application/octet-stream"}, {"boot.ipxe", Data, "text/plain; charset=utf-8"}, {"boot", Script, "text/plain; charset=utf-8"},
	} {
		if got := TypeOf(c.name, c.role); got != c.want {
			t.Errorf("%s as %s is %s", c.name, c.role, got)
		}
	}
}

func TestErrorsHaveCodes(t *testing.T) {
	for err, code := range map[interface {
		error
		Code() string
	}]string{&Denied{"x"}: "ACCESS_DENIED", &Unavailable{}: "UNAVAILABLE", &Unavailable{Err: io.EOF}: "UNAVAILABLE"} {
		if err.Code() != code || err.Error() == "" {
			t.Errorf("%v has the code %s", err, err.Code())
		}
	}
	if !errors.Is(&Unavailable{Err: io.EOF}, io.EOF) {
		t.Error("the cause is lost")
	}
}
