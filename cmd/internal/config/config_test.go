package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
	"sigs.k8s.io/yaml"
)

func TestDefaultIsGood(t *testing.T) {
	if err := Default().Check(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "\n", "# nothing\n", "{}", "---\n", "null", "listen:\n"} {
		got, err := Parse("f", []byte(text))
		if err != nil || !reflect.DeepEqual(got, Default()) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func TestZeroConfigHoldsWhatTheDocsSay(t *testing.T) {
	d := Default()
	if d.Retention.Age != Duration(90*24*time.Hour) || d.Listen.UnixMode != 0o660 || d.Store.Path != "/var/lib/ingot/site.db" {
		t.Errorf("%+v", d)
	}
	if d.Secrets.Store != "/var/lib/ingot/secrets.age" || d.Secrets.Identity != "/var/lib/ingot/secrets.key" || d.Secrets.Roots != nil {
		t.Errorf("%+v", d.Secrets)
	}
	for _, c := range []Config{{Store: Store{Kind: PG}}, {Secrets: Secrets{Store: None}}} {
		if got := c.Filled().Secrets; got.Store != None || got.Identity != "" {
			t.Errorf("%+v", got)
		}
	}
	if got := (Config{State: "/srv/i"}).Filled(); got.Store.Mark != "/srv/i/site.mark" || got.Retention.Segments != "/srv/i/segments" {
		t.Errorf("%+v", got)
	}
}

func TestExampleFile(t *testing.T) {
	path := filepath.Join("..", "..", "..", "contrib", "ingotd.yaml")
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.Site != "rack-7" || c.Listen.UnixMode != 0o660 || len(c.Backup.Recipients) != 1 || c.TrustedProxies == nil {
		t.Errorf("%+v", c)
	}
	raw, _ := os.ReadFile(path)
	var top map[string]any
	if err := yaml.UnmarshalStrict(raw, &top); err != nil {
		t.Fatal(err)
	}
	for _, name := range fieldNames(reflect.TypeFor[Config]()) {
		if _, ok := top[name]; !ok {
			t.Errorf("the example does not show %s", name)
		}
	}
}

func TestPage(t *testing.T) {
	statemachinetest.Golden(t, filepath.Join("..", "..", "..", "docs", "config.md"), Page())
}

// Each field has words, and each struct is one that the page descends into.
func TestEveryFieldIsDocumented(t *testing.T) {
	var visit func(reflect.Type, string)
	visit = func(typ reflect.Type, path string) {
		for f := range typ.Fields() {
			at := join(path, fieldName(f))
			if f.Tag.Get("doc") == "" || fieldName(f) == "" || !strings.HasSuffix(f.Tag.Get("json"), ",omitzero") {
				t.Errorf("%s: %s", at, f.Tag)
			}
			if kind(f.Type) == "" {
				visit(f.Type, at)
			}
		}
	}
	visit(reflect.TypeFor[Config](), "")
	visit(reflect.TypeFor[Booter](), "")
}

// everything is a file that sets every field.
const everything = `
site: a-1
owner: acme:prod
state: /srv/ingot
store: {kind: postgres, mark: /mnt/mark, postgres: {dsn_file: /etc/ingot/dsn, schema: rack_7}}
listen: {tcp: ["[::1]:8443", "h:1"], unix: none, unix_mode: "600"}
tls: {certificate: /c.pem, key: /k.pem}
log: {level: debug, format: json}
metrics: {tcp: true, address: "127.0.0.1:9469"}
limits: {connections: 100, per_source: 10, streams: 5, body: 0x1000}
retention: {age: 36h, rows: 5, segments: /seg}
backup: {recipients: [age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p]}
secrets: {roots: [/etc/ingot/bmc, /mnt/bmc], env_prefix: SITE_, store: /mnt/s.age, identity_file: /etc/ingot/s.key}
bmc: {through: ["10.9.0.0/16=rack-7-a", ".bmc.example=rack-8"]}
trusted_proxies: [10.0.0.0/8, "2001:db8::/32"]
`

func TestEveryFieldIsRead(t *testing.T) {
	c, err := Parse("f", []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	if c.Limits.Body != 4096 || c.Listen.UnixMode != 0o600 || !c.Metrics.TCP || c.TrustedProxies[1].Bits() != 32 || c.Store.Postgres.Schema != "rack_7" {
		t.Errorf("%+v", c)
	}
	roundTrip(t, c)
	roundTrip(t, Default())
}

// roundTrip writes c and reads it back, by the walk and by the strict reader of
// sigs.k8s.io/yaml, which knows nothing of the walk.
func roundTrip(t *testing.T, c Config) {
	t.Helper()
	raw, err := Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse("again", raw)
	if err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("read back: %+v, %v\nwant %+v\n%s", got, err, c, raw)
	}
	var peer Config
	if err := yaml.UnmarshalStrict(raw, &peer); err != nil || !reflect.DeepEqual(peer, c) {
		t.Errorf("the peer reads: %+v, %v", peer, err)
	}
}

func TestFaultsHaveLineFieldAndAdvice(t *testing.T) {
	for text, want := range map[string]string{
		"site: [":                                   "f:1: is no YAML: did not find expected node content",
		"a: b: c":                                   "f: is no YAML: mapping values are not allowed in this context",
		"site: a\n---\nsite: b":                     "f:2: holds more than one YAML document; keep one",
		"- a":                                       "f:1: want fields, each as name: value",
		"site: a\nsite: b":                          "f:2: site: is given twice, first on line 1",
		"sites: a":                                  "f:1: sites: is no field here; did you mean site? (known here: site, owner, state, store, listen, tls, log, metrics, limits, retention, backup, secrets, bmc, trusted_proxies)",
		"store:\n  postgres:\n    dsn: x":           "f:3: store.postgres.dsn: is no field here; did you mean store.postgres.dsn_file? (known here: dsn_file, schema, reader)",
		"unix: /x":                                  "f:1: unix: is no field here; there is listen.unix (known here: site,",
		"site: 7":                                   "f:1: site: want a string; put quotes around it if it reads as something else",
		"site:\n  a: b":                             "f:2: site: want a string",
		"metrics: {tcp: yes}":                       "f:1: metrics.tcp: want true or false",
		"limits: {body: 1.5}":                       "f:1: limits.body: want a whole number",
		"limits: {body: 1e3}":                       "f:1: limits.body: want a whole number",
		"limits: {body: 99999999999999999999}":      "f:1: limits.body: want a whole number",
		"retention: {age: 90}":                      "f:1: retention.age: want a duration such as 90s, 15m or 2160h",
		"retention: {age: 59m}":                     "f:1: retention.age: want at least 1h",
		"listen: {unix_mode: 0999}":                 "f:1: listen.unix_mode: want a file mode in octal such as 0660",
		"listen: {unix_mode: 01777}":                "f:1: listen.unix_mode: want a file mode in octal such as 0660",
		"listen: {tcp: \":8443\"}":                  "f:1: listen.tcp: want a list: a hyphen before each item, or [a, b]",
		"listen:\n  tcp:\n    - \":1\"\n    - x":    "f:4: listen.tcp[1]: want host:port, such as :8443 or [2001:db8::1]:8443",
		"listen: {tcp: [~]}":                        "f:1: listen.tcp[0]: want a string; put quotes around it if it reads as something else, not nothing",
		"listen: {tcp: [], unix: none}":             "f:1: listen: want at least one listener",
		"trusted_proxies: [10.0.0.1/8]":             "f:1: trusted_proxies[0]: want an address prefix with no bits set",
		"trusted_proxies: [10.0.0.1]":               "f:1: trusted_proxies[0]: want an address prefix such as 10.0.0.0/8",
		"site: &a b\nowner: *a":                     "f:1: site: anchors and aliases are not understood; write the value out",
		"<<: {site: a}":                             "f:1: <<: is no field here",
		"store: {kind: etcd}":                       "f:1: store.kind: want one of bolt, postgres",
		"store: {kind: postgres}":                   "f:1: store.postgres.dsn_file: want an absolute path",
		"store: {path: /a, mark: /a}":               "f:1: store.mark: want another file than store.path",
		"state: /a/../b":                            "f:1: state: want an absolute path",
		"tls: {key: /k}":                            "f:1: tls: want both certificate and key, or neither",
		"secrets: {roots: [bmc]}":                   "f:1: secrets.roots[0]: want an absolute path",
		"secrets: {roots: [/]}":                     "f:1: secrets.roots[0]: want a folder of secrets alone",
		"secrets: {roots: [/a, /a]}":                "f:1: secrets.roots[1]: is given twice",
		"secrets: {env_prefix: \"\u00e9_\"}":        "f:1: secrets.env_prefix: want 2-64 of A-Z",
		"secrets: {env_prefix: A}":                  "f:1: secrets.env_prefix: want 2-64 of A-Z",
		"secrets: {store: s.age}":                   "f:1: secrets.store: want an absolute path",
		"secrets: {store: /s, identity_file: /s}":   "f:1: secrets.identity_file: want another file than secrets.store",
		"secrets: {store: none, identity_file: /s}": "f:1: secrets.identity_file: is for secrets.store",
		"bmc: {through: [10.9.0.0/16]}":             "f:1: bmc.through[0]: want a network or domain and a booter",
		"bmc: {through: [10.9.0.1/16=b]}":           "f:1: bmc.through[0]: want a network or domain and a booter",
		"bmc: {through: [bmc.example=b]}":           "f:1: bmc.through[0]: want a network or domain and a booter",
		"bmc: {through: [.=b]}":                     "f:1: bmc.through[0]: want a network or domain and a booter",
		"bmc: {through: [\".bmc.example=a b\"]}":    "f:1: bmc.through[0]: want a network or domain and a booter",
		"site: Rack":                                "f:1: site: want 1-63 of a-z, 0-9 and the hyphen",
		"owner: \"\\u00e9\"":                        "f:1: owner: want 1-128 of",
	} {
		_, err := Parse("f", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q:\ngot  %v\nwant %s", text, err, want)
			continue
		}
		bad, ok := errors.AsType[*Invalid](err)
		if !ok || bad.Code() != "INVALID_CONFIG" || bad.File != "f" {
			t.Errorf("%q: %#v", text, err)
		}
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	_, err := Parse("f", []byte("sit: a\nowner: [x]\nlog: {level: 1, fmt: json}\nlimits: {body: x}\n"))
	if n := strings.Count(err.Error(), "\n") + 1; n != 5 {
		t.Errorf("%d faults, want 5:\n%v", n, err)
	}
	c := Default()
	c.Site, c.Log.Level, c.Limits.Streams = "", "loud", 0
	if n := strings.Count(c.Check().Error(), "\n") + 1; n != 3 {
		t.Errorf("%d faults, want 3:\n%v", n, c.Check())
	}
}

// No value of the file is repeated, whatever field somebody pastes a secret into.
func TestFaultsRepeatNoValue(t *testing.T) {
	const canary = "AGE-SECRET-KEY-1CANARY"
	for line := range strings.Lines(everything) {
		name, _, ok := strings.Cut(line, ":")
		if !ok || name == "owner" { // a tenant may be called so
			continue
		}
		for _, text := range []string{name + ": " + canary, name + ": [" + canary + "]", name + ": {x: " + canary + "}"} {
			if _, err := Parse("f", []byte(text)); err == nil || strings.Contains(err.Error(), canary) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	for _, text := range []string{
		"backup: {recipients: [" + canary + "]}", "tls: {key: \"" + canary + "\"}", "store: {postgres: {dsn_file: " + canary + "}}",
		"secrets: {roots: [" + canary + "], env_prefix: " + canary + "}", "secrets: {store: " + canary + ", identity_file: " + canary + "}",
		"retention: {age: " + canary + "}", "limits: {body: " + canary + "}", "listen: {tcp: [" + canary + "], unix_mode: " + canary + "}",
	} {
		if _, err := Parse("f", []byte(text)); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(filepath.Join(dir, "none")); err == nil || !strings.HasSuffix(err.Error(), "none: cannot be read: no such file or directory") {
		t.Error(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "cannot be read: is a directory") {
		t.Error(err)
	}
	big := filepath.Join(dir, "big")
	if err := os.WriteFile(big, []byte(strings.Repeat("#", MaxFile+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(big); err == nil || !strings.Contains(err.Error(), "is larger than") {
		t.Error(err)
	}
}

// FuzzParse wants an answer for any bytes: an *Invalid, or a Config that is
// checked and survives being written and read.
func FuzzParse(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte("site: &a [*a]"))
	f.Add([]byte("? {a: b}\n: c"))
	f.Add([]byte("site: !!binary aGk="))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("f", data)
		if err != nil {
			if _, ok := errors.AsType[*Invalid](err); !ok || len(err.Error()) > 1000*(1+len(data)) {
				t.Fatalf("%T: %d bytes", err, len(err.Error()))
			}
			return
		}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		roundTrip(t, c)
	})
}
