package wire_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/wire"
)

func TestLinks(t *testing.T) {
	for ref, want := range map[string]string{
		"/redfish/v1/Systems/1":                   "/redfish/v1/Systems/1",
		"/redfish/v1/Chassis/1/Power#/Fans/0":     "/redfish/v1/Chassis/1/Power",
		"/redfish/v1/Systems?$skip=50":            "/redfish/v1/Systems?$skip=50",
		"/redfish/v1/Systems/user@node":           "/redfish/v1/Systems/user@node",
		"/":                                       "/",
		"":                                        "",
		"redfish/v1":                              "",
		"//evil/redfish":                          "",
		"@evil:1/x":                               "",
		"https://bmc/redfish/v1":                  "",
		"/redfish/../etc":                         "",
		"/redfish/%2e%2e/etc":                     "",
		"/redfish/./v1":                           "",
		"/\\evil/x":                               "",
		"/redfish/%5c%5cevil":                     "",
		"/redfish/v1 HTTP/1.1\r\nHost: evil":      "",
		"/redfish/v1%0d%0aHost:%20evil":           "",
		"/redfish/v1/%zz":                         "",
		"/" + strings.Repeat("a", 3000):           "",
		"/redfish/v1/Systems?$filter=a b":         "",
		"/redfish/v1/Systems/1?x=..%2f..":         "/redfish/v1/Systems/1?x=..%2f..",
		"/redfish/v1/Systems/1/..;/x":             "/redfish/v1/Systems/1/..;/x",
		"/redfish/v1/Systems/System.Embedded.1":   "/redfish/v1/Systems/System.Embedded.1",
		"/redfish/v1/Systems/%E2%82%AC?a=1#/b?c=": "/redfish/v1/Systems/%E2%82%AC?a=1",
	} {
		got, err := wire.Link(ref)
		e, typed := errors.AsType[*bmc.Error](err)
		if got != want || (want == "") != (typed && e.Kind == bmc.Untrusted && e.Sent == bmc.SentNo) {
			t.Errorf("%q: %q, %v; want %q", ref, got, err, want)
		}
	}
}

// Whatever a BMC writes, a link that is taken leads to the client's host.
func FuzzLink(f *testing.F) {
	for _, s := range []string{"/redfish/v1", "//x", "@x:1/y", "/%2e%2e/x", "/a#b?c", "/a?b#c", "http://x/y", "/\\x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		path, err := wire.Link(ref)
		if err != nil {
			return
		}
		u, err := url.Parse("https://bmc.example:8443" + path)
		if err != nil {
			return // the request is not made
		}
		if u.Host != "bmc.example:8443" || u.User != nil || strings.Contains(u.EscapedPath(), "/../") {
			t.Fatalf("%q leads to %s", ref, u)
		}
	})
}
