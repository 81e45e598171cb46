// Package config is the configuration files of ingotd and booterd: YAML, read strictly,
// every error at once, with the line and the name of the field it is about.
//
// The zero Config works, and a Booter needs little: Filled gives each empty field its
// default. A secret never stands in a file; a field names the file that holds it.
package config

import (
	"net/netip"
)

// A Config is one file. A field that is left out takes its default.
type Config struct {
	Site           string         `json:"site,omitzero" doc:"name of the site, 1-63 of a-z, 0-9 and the hyphen; it is shown, and not changed later"`
	Owner          string         `json:"owner,omitzero" doc:"tenant that owns the site, 1-128 of A-Z, a-z, 0-9, '.', '_', ':' and '-' (API-5)"`
	State          string         `json:"state,omitzero" doc:"folder for everything that must last; local disk, mode 0700"`
	Store          Store          `json:"store,omitzero" doc:"where the site's rows and its log are kept"`
	Listen         Listen         `json:"listen,omitzero" doc:"where the API is served"`
	TLS            TLS            `json:"tls,omitzero" doc:"certificate of the TCP listeners"`
	Log            Log            `json:"log,omitzero" doc:"what ingotd writes to standard error"`
	Metrics        Metrics        `json:"metrics,omitzero" doc:"where Prometheus may read; the Unix socket always serves /metrics"`
	Limits         Limits         `json:"limits,omitzero" doc:"what one process takes on"`
	Retention      Retention      `json:"retention,omitzero" doc:"how long rows of the log stay in the store before they are sealed into segments"`
	Backup         Backup         `json:"backup,omitzero" doc:"who can open the backups"`
	Secrets        Secrets        `json:"secrets,omitzero" doc:"where the credentials of BMCs are, which are named as secret:// references (PROV-9)"`
	BMC            BMC            `json:"bmc,omitzero" doc:"how the BMCs of machines are reached"`
	TrustedProxies []netip.Prefix `json:"trusted_proxies,omitzero" doc:"prefixes of the proxies whose X-Forwarded-For is believed; from anybody else it is ignored"`
}

// Store says which store a site has.
type Store struct {
	Kind     string   `json:"kind,omitzero" doc:"bolt (one file, one machine) or postgres"`
	Path     string   `json:"path,omitzero" doc:"the file of kind bolt; default site.db in state"`
	Mark     string   `json:"mark,omitzero" doc:"file with the highest revision that was acknowledged, by which a store that lost commits is noticed; best on another disk than path; default site.mark in state"`
	Postgres Postgres `json:"postgres,omitzero" doc:"for kind postgres alone"`
}

// Postgres says where the database is.
type Postgres struct {
	DSNFile string `json:"dsn_file,omitzero" doc:"file, mode 0600, with the connection string; required for kind postgres"`
	Schema  string `json:"schema,omitzero" doc:"schema of the site's tables, 1-63 of a-z, 0-9 and '_', not first a digit; default ingot"`
	Reader  bool   `json:"reader,omitzero" doc:"only read, from a hot standby or the primary, what another ingotd writes; what would change something is refused and names the writer"`
}

// Listen says where the API is served.
type Listen struct {
	TCP      []string `json:"tcp,omitzero" doc:"addresses host:port for TLS; an empty list is none"`
	Unix     string   `json:"unix,omitzero" doc:"path of the Unix socket, by which callers are known by their user; none turns it off"`
	UnixMode Mode     `json:"unix_mode,omitzero" doc:"mode of the socket: whom the kernel lets connect"`
}

// TLS says which certificate the TCP listeners show.
type TLS struct {
	Certificate string   `json:"certificate,omitzero" doc:"PEM file with your own chain, leaf first, read again when it changes; default: a key and a self-signed certificate are made at the first start, in state"`
	Key         string   `json:"key,omitzero" doc:"PEM file, mode 0600, with the key of certificate"`
	Names       []string `json:"names,omitzero" doc:"host names and addresses that the self-signed certificate is made for; default localhost and the name of the host"`
}

// Log says what is logged.
type Log struct {
	Level  string `json:"level,omitzero" doc:"debug, info, warn or error"`
	Format string `json:"format,omitzero" doc:"text or json"`
}

// Metrics says where metrics are read.
type Metrics struct {
	TCP     bool   `json:"tcp,omitzero" doc:"also serve /metrics on listen.tcp, to callers who may read the site"`
	Address string `json:"address,omitzero" doc:"own address host:port, plain HTTP, no authentication: keep it on an inner network; default none"`
}

// Limits says what one process takes on.
type Limits struct {
	Connections int `json:"connections,omitzero" doc:"open connections, all listeners together; one more is closed at once"`
	PerSource   int `json:"per_source,omitzero" doc:"open connections from one address (IPv6: from one /64)"`
	Streams     int `json:"streams,omitzero" doc:"requests in flight on one HTTP/2 connection"`
	Body        int `json:"body,omitzero" doc:"bytes of a request's body"`
}

// Retention says when rows of the log leave the store. Sealed segments stay until
// somebody removes them.
type Retention struct {
	Age      Duration `json:"age,omitzero" doc:"a row stays in the store at least this long"`
	Rows     int      `json:"rows,omitzero" doc:"the newest rows, so many, stay in the store however old they are"`
	Segments string   `json:"segments,omitzero" doc:"folder for the sealed segments; default segments in state"`
}

// Backup says who can open a backup.
type Backup struct {
	Recipients []string `json:"recipients,omitzero" doc:"public keys of age (age1...); without any, a backup must name its own"`
}

// Secrets says where credentials are found. They never stand in this file.
type Secrets struct {
	Roots     []string `json:"roots,omitzero" doc:"folders below which secret://file/PATH is read, each written to by its owner alone; default none"`
	EnvPrefix string   `json:"env_prefix,omitzero" doc:"what the variables that secret://env/NAME names begin with: A-Z, 0-9 and '_', the last '_'"`
	Store     string   `json:"store,omitzero" doc:"encrypted file of secret://store/NAME, which also takes credentials that callers hand in; none turns that off; default secrets.age in state, but none for store.kind postgres, since another host that takes over has not the file"`
	Identity  string   `json:"identity_file,omitzero" doc:"file, mode 0600, with the age identity that store is encrypted to, made with it; best on another disk; default secrets.key in state"`
}
