package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
	"sigs.k8s.io/yaml"
)

// An empty file says at once all that is required, and nothing else.
func TestBooterNeedsItsControlPlane(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "{}", "server:\n"} {
		_, err := ParseBooter("f", []byte(text))
		if err == nil {
			t.Fatalf("%q is good", text)
		}
		var got []string
		for line := range strings.Lines(err.Error()) {
			_, rest, _ := strings.Cut(strings.TrimPrefix(line, "f:1"), ": ")
			path, _, _ := strings.Cut(rest, ":")
			got = append(got, path)
		}
		want := []string{"server.address", "server.pin", "server.booter_key_file", "server.enroll_key_file", "address"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestBooterDefaults(t *testing.T) {
	d := DefaultBooter()
	if d.Images != "/var/lib/ingot-booter/images" || d.Listen.DHCP != ":67" || d.Listen.Unix != "/run/ingot/booterd.sock" || d.Loader != "ipxe" {
		t.Errorf("%+v", d)
	}
	if got := (Booter{State: "/srv/b"}).Filled(); got.Images != "/srv/b/images" {
		t.Errorf("%+v", got)
	}
}

func TestBooterExampleFile(t *testing.T) {
	path := filepath.Join("..", "..", "..", "contrib", "booterd.yaml")
	c, err := LoadBooter(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "rack-7-a" || !c.Address.Is4() || len(c.DHCP.DNS) != 1 {
		t.Errorf("%+v", c)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var top map[string]any
	if err := yaml.UnmarshalStrict(raw, &top); err != nil {
		t.Fatal(err)
	}
	shows(t, top, reflect.TypeFor[Booter](), "")
}

// shows wants every field of typ in what a file says.
func shows(t *testing.T, said map[string]any, typ reflect.Type, path string) {
	t.Helper()
	for f := range typ.Fields() {
		v, ok := said[fieldName(f)]
		if !ok {
			t.Errorf("the example does not show %s", join(path, fieldName(f)))
		}
		if kind(f.Type) == "" && ok {
			shows(t, v.(map[string]any), f.Type, join(path, fieldName(f)))
		}
	}
}

func TestBooterPage(t *testing.T) {
	statemachinetest.Golden(t, filepath.Join("..", "..", "..", "docs", "booterd-config.md"), BooterPage())
}

// good is a booter's file with what is required.
const good = `
server: {address: "h:8443", pin: sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=, booter_key_file: /b, enroll_key_file: /e}
address: 192.0.2.2
`

// booterEverything sets every field.
const booterEverything = `
name: a:1
state: /srv/b
server: {address: "[::1]:8443", pin: sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=, booter_key_file: /b, enroll_key_file: /e}
address: 192.0.2.2
interfaces: [eth1, eth2]
dhcp: {proxy: true, u_boot: true, chain_class: ingot, ask_pxe: true, dns: [192.0.2.53]}
images: /img
loader: ipxe-2
listen: {dhcp: ":6767", pxe: none, tftp: ":6969", http: "192.0.2.2:80", session: ":1", unix: none}
carry: [10.9.0.0/16, "2001:db8::/32"]
log: {level: debug, format: json}
metrics: "127.0.0.1:9470"
`

func TestEveryFieldOfABooterIsRead(t *testing.T) {
	c, err := ParseBooter("f", []byte(booterEverything))
	if err != nil {
		t.Fatal(err)
	}
	v := reflect.ValueOf(c)
	for f, value := range v.Fields() {
		if value.IsZero() {
			t.Errorf("%s is not set", f.Name)
		}
	}
	for _, c := range []Booter{c, must(ParseBooter("f", []byte(good)))} {
		raw, err := Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseBooter("again", raw); err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("read back: %+v, %v\nwant %+v\n%s", got, err, c, raw)
		}
		var peer Booter
		if err := yaml.UnmarshalStrict(raw, &peer); err != nil || !reflect.DeepEqual(peer, c) {
			t.Errorf("the peer reads: %+v, %v", peer, err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestBooterFaultsHaveLineFieldAndAdvice(t *testing.T) {
	for text, want := range map[string]string{
		"name: a b":                         "f:4: name: want 1-128 of",
		"nam: a":                            "f:4: nam: is no field here; did you mean name? (known here: name, state, server,",
		"state: var":                        "f:4: state: want an absolute path",
		"images: /a/":                       "f:4: images: want an absolute path",
		"loader: ../x":                      "f:4: loader: want an image's name: 1-64 letters",
		"interfaces: eth1":                  "f:4: interfaces: want a list: a hyphen before each item, or [a, b]",
		"interfaces: [eth1, eth1]":          "f:4: interfaces[1]: is given twice",
		"interfaces: [a/b]":                 "f:4: interfaces[0]: want the name of an interface",
		"dhcp: {proxy: maybe}":              "f:4: dhcp.proxy: want true or false",
		"dhcp: {dns: [x]}":                  "f:4: dhcp.dns[0]: want an address such as 192.0.2.2",
		"dhcp: {dns: [\"::1\"]}":            "f:4: dhcp.dns[0]: want an IPv4 address",
		"dhcp: {chain_class: \"a\\nb\"}":    "f:4: dhcp.chain_class: want 1-255 printable characters",
		"listen:\n  dhcp: 67":               "f:5: listen.dhcp: want a string; put quotes around it",
		"listen: {dhcp: none}":              "f:4: listen.dhcp: want host:port, such as :67",
		"listen: {tftp: x}":                 "f:4: listen.tftp: want host:port",
		"listen: {http: \":70000\"}":        "f:4: listen.http: want host:port",
		"listen: {session: x}":              "f:4: listen.session: want host:port",
		"listen: {pxe: off}":                "f:4: listen.pxe: want host:port, or none",
		"listen: {unix: x}":                 "f:4: listen.unix: want an absolute path",
		"listen: {unix: /" + longName + "}": "f:4: listen.unix: want at most 107 bytes",
		"metrics: x":                        "f:4: metrics: want host:port, such as 127.0.0.1:9470",
		"log: {level: loud}":                "f:4: log.level: want one of debug, info, warn, error",
		"log: {format: xml}":                "f:4: log.format: want one of text, json",
		"booter_key_file: /x":               "f:4: booter_key_file: is no field here; there is server.booter_key_file",
		"site: a":                           "f:4: site: is no field here (known here: name,",
		"name: a\nname: b":                  "f:5: name: is given twice, first on line 4",
	} {
		_, err := ParseBooter("f", []byte(good+text))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q:\ngot  %v\nwant %s", text, err, want)
			continue
		}
		if bad, ok := errors.AsType[*Invalid](err); !ok || bad.Code() != "INVALID_CONFIG" || bad.File != "f" {
			t.Errorf("%q: %#v", text, err)
		}
	}
}

var longName = strings.Repeat("x", 107)

// What is required is judged as well where it is there.
func TestBooterServerFaults(t *testing.T) {
	for change, want := range map[string]string{
		"h:8443|h":                               "f:2: server.address: want host:port of the control plane",
		"sha256/47D|sha256/":                     "f:2: server.pin: want the pin that ingotd pin shows",
		"booter_key_file: /b|b: /b":              "f:2: server.b: is no field here",
		"booter_key_file: /b|booter_key_file: b": "f:2: server.booter_key_file: want an absolute path",
		"192.0.2.2|0.0.0.0":                      "f:3: address: want this host's own IPv4 address",
		"192.0.2.2|224.0.0.1":                    "f:3: address: want this host's own IPv4 address",
		"192.0.2.2|2001:db8::1":                  "f:3: address: want this host's own IPv4 address",
		"192.0.2.2|h":                            "f:3: address: want an address such as 192.0.2.2",
	} {
		from, to, _ := strings.Cut(change, "|")
		_, err := ParseBooter("f", []byte(strings.Replace(good, from, to, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q:\ngot  %v\nwant %s", change, err, want)
		}
	}
}

// FuzzParseBooter wants an answer for any bytes, as FuzzParse does.
func FuzzParseBooter(f *testing.F) {
	f.Add([]byte(booterEverything))
	f.Add([]byte(good))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseBooter("f", data)
		if err != nil {
			if _, ok := errors.AsType[*Invalid](err); !ok || len(err.Error()) > 1000*(1+len(data)) {
				t.Fatalf("%T: %d bytes", err, len(err.Error()))
			}
			return
		}
		raw, err := Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseBooter("again", raw); err != nil || !reflect.DeepEqual(got, c) {
			t.Fatalf("%+v %v", got, err)
		}
	})
}
