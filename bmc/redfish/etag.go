package redfish

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/wire"
)

// maxTag bounds an ETag, in bytes.
const maxTag = 256

// tagOf is a resource's ETag: of the header, else of its body. What no header can
// hold is none.
func tagOf(a *wire.Response, d doc) string {
	t := strings.TrimSpace(a.Header.Get("ETag"))
	if t == "" {
		t = d.str("@odata.etag")
	}
	if len(t) > maxTag || strings.ContainsFunc(t, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
		return ""
	}
	return t
}

// ladder are the ways to say an ETag, as sent first. BMCs refuse their own: weak
// ones, ones that are quoted twice or not at all, and ones with the name of an
// encoding in them. The last is to say none.
func ladder(tag string) []string {
	if tag == "" {
		return []string{""}
	}
	strong := strings.TrimPrefix(tag, "W/")
	plain := strings.Trim(strong, `"`)
	steps := []string{tag, strong, `"` + plain + `"`}
	if short, ok := strings.CutSuffix(plain, "-gzip"); ok {
		steps = append(steps, `"`+short+`"`)
	}
	var out []string
	for _, s := range append(steps, plain) {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return append(out, "")
}

// patch writes fields of a resource whose newest ETag is tag. It goes down the
// ladder while the BMC answers 412, and reads the tag where it answers 428. A tag
// that has changed meanwhile begins the ladder anew, once: what another wrote is
// not the BMC's dislike of the form.
func (c *call) patch(ctx context.Context, path, tag string, body any) (*wire.Response, error) {
	steps, anew := ladder(tag), false
	for i := 0; ; i++ {
		h := http.Header{}
		if steps[i] != "" {
			h.Set("If-Match", steps[i])
		}
		a, err := c.write(ctx, http.MethodPatch, path, body, h)
		status := statusOf(err)
		if status != http.StatusPreconditionFailed && status != http.StatusPreconditionRequired {
			return a, err
		}
		if !anew {
			anew = true
			d, read, blind := c.get(ctx, path)
			if blind != nil {
				return nil, unsent(blind) // what a tag was refused for was not written
			}
			if now := tagOf(read, d); now != tag && now != "" {
				tag, steps, i = now, ladder(now), -1
				continue
			}
		}
		if i+1 == len(steps) {
			return a, err
		}
	}
}

// statusOf is the HTTP status of an error; 0 where it has none.
func statusOf(err error) int {
	if e, ok := errors.AsType[*bmc.Error](err); ok {
		return e.Status
	}
	return 0
}
