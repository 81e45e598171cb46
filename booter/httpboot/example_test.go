package httpboot_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"

	"github.com/ingotmetal/ingot/booter/httpboot"
)

func Example() {
	h := &httpboot.Handler{
		Resolve: func(_ context.Context, r httpboot.Request) (httpboot.Content, error) {
			if r.Path != "boot.ipxe" {
				return httpboot.Content{}, fs.ErrNotExist
			}
			script := fmt.Sprintf("#!ipxe\nchain http://%s/next\n", "192.0.2.1:8080") // in earnest, of r.Local
			return httpboot.Text(httpboot.TypeOf(r.Path, httpboot.Script), []byte(script)), nil
		},
		Done: func(t httpboot.Transfer) { fmt.Println(t.Status, t.Bytes, t.Whole()) },
	}
	server := httptest.NewServer(h)
	defer server.Close()
	for _, path := range []string{"/boot.ipxe", "//boot.ipxe", "/../etc/passwd"} {
		r, err := http.Get(server.URL + path)
		if err != nil {
			panic(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	// Output:
	// 200 40 true
	// 200 40 true
	// 404 10 false
}
