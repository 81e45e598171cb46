package wire

import (
	"net/url"
	"strings"

	"github.com/ingotmetal/ingot/bmc"
)

// maxLink bounds a link, in bytes.
const maxLink = 2 << 10

// Link checks a link out of a BMC's answer and returns the path and query to ask
// for, without fragment. What is not a plain path on the same host is refused:
// absolute links, //host, @host, dot segments, backslashes and control
// characters. The error is of kind [bmc.Untrusted], and its text is safe to log.
func Link(ref string) (string, error) {
	path, _, _ := strings.Cut(ref, "#")
	bare, _, _ := strings.Cut(path, "?")
	plain, err := url.PathUnescape(bare)
	switch {
	case len(ref) > maxLink:
		return "", untrusted(ref[:64], "a link of over 2 KiB")
	case !strings.HasPrefix(bare, "/") || strings.HasPrefix(bare, "//"):
		return "", untrusted(ref, "a link that is no path on this host")
	case err != nil || strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) || strings.ContainsAny(plain, "\\\x00\r\n"):
		return "", untrusted(ref, "a link with characters that no path has")
	}
	for s := range strings.SplitSeq(plain, "/") {
		if s == "." || s == ".." {
			return "", untrusted(ref, "a link with dot segments")
		}
	}
	return path, nil
}

// follow returns the path of a redirect's or new resource's Location, which may be
// absolute if it names this client's own scheme, host and port.
func (c *Client) follow(location string) (string, error) {
	u, err := url.Parse(location)
	if err != nil || location == "" {
		return "", untrusted(location, "a Location that is no URL")
	}
	if u.Scheme == "" && u.Host == "" && u.User == nil {
		return Link(location)
	}
	if u.User != nil || !c.same(u) {
		return "", untrusted(location, "a Location on another host")
	}
	return Link(u.RequestURI())
}

// same reports whether u names this client's BMC.
func (c *Client) same(u *url.URL) bool {
	return strings.EqualFold(u.Scheme, c.base.Scheme) && strings.EqualFold(hostPort(u), hostPort(c.base))
}

// hostPort is u's host with the port that its scheme implies.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}

func untrusted(ref, what string) error {
	return &bmc.Error{Kind: bmc.Untrusted, Op: "follow a link", Sent: bmc.SentNo, Why: what + ": " + ref, Do: "nothing was sent there; report it to the BMC's vendor"}
}
