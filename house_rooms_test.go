package ingot_test

import (
	"path"
	"slices"
	"strings"
)

// families are the roots of the core; a family's packages never import
// another's, but for those in doors.
var families = []string{"statemachine", "booter", "disklayout", "identity", "bmc", "placement", "liveness"}

// doors are the imports that law 2 allows from one family into another.
var doors = map[string][]string{"booter": {"statemachine/netboot"}}

// machines are the packages of statemachine that only lifecycle imports.
var machines = []string{
	"statemachine/registration", "statemachine/netboot", "statemachine/provision",
	"statemachine/schedule", "statemachine/run",
}

// edges are the packages of the families that touch sockets, devices,
// processes or the clock. Every other package of a family is core.
var edges = []string{
	"booter/dhcp4", "booter/dhcp6", "booter/tftp", "booter/httpboot", "booter/images", "booter/bootbus",
	"disklayout/apply", "disklayout/wipe",
	"identity/tpm", "identity/ca",
	"bmc/wire", "bmc/machine", "bmc/redfish", "bmc/ipmi", "bmc/webhook", "bmc/bmcsim",
}

// closed are the packages of the standard library that the core does not
// import, with everything below them. open are the exceptions.
var (
	closed = []string{
		"os", "net", "log", "syscall", "plugin", "testing", "crypto/rand", "crypto/tls",
		"database/sql",
	}
	open = []string{"net/netip", "net/url", "log/slog"} // slog for LogValue alone; see hidden
)

// pureModules are the third parties that one core package each may import.
var pureModules = map[string][]string{
	"identity/ticket":      {"github.com/go-jose/go-jose/v4"},
	"identity/sshcert":     {"golang.org/x/crypto/ssh"},
	"identity/bootpolicy":  {"github.com/google/go-eventlog"},
	"statemachine/journal": {"golang.org/x/mod/sumdb"},
}

// A lodging says where a third party may be imported.
type lodging struct {
	module string
	rooms  []string
}

var (
	sockets  = []string{"booter/dhcp4", "booter/dhcp6", "booter/tftp", "booter/httpboot", "booter/images", "booter/bootbus", "cmd"}
	devices  = []string{"disklayout/apply", "disklayout/wipe", "identity/tpm", "cmd"}
	lodgings = []lodging{
		{"github.com/insomniacslk/dhcp", []string{"booter/dhcp4", "booter/dhcp6"}},
		{"github.com/diskfs/go-diskfs", []string{"disklayout/apply", "cmd/internal/imagebuild/rootfs"}},
		{"github.com/google/go-tpm", []string{"identity/tpm"}},
		{"github.com/smallstep", []string{"identity/ca"}},
		{"github.com/stmcginnis/gofish", []string{"bmc/redfish"}},
		{"github.com/bougou/go-ipmi", []string{"bmc/ipmi", "bmc/bmcsim"}},
		{"go.etcd.io/bbolt", []string{"cmd/internal/store"}},
		{"github.com/jackc/pgx/v5", []string{"cmd/internal/store"}},
		{"github.com/danielgtaylor/huma/v2", []string{"cmd/internal/server"}},
		{"github.com/prometheus/client_golang", []string{"cmd/internal/server", "cmd/internal/booting"}},
		{"github.com/coder/websocket", []string{"cmd/internal"}},
		{"github.com/xtaci/smux", []string{"cmd/internal/carry"}},
		{"github.com/spf13/cobra", []string{"cmd/ingot", "cmd/ingotd", "cmd/internal"}},
		{"github.com/itchyny/gojq", []string{"cmd/ingot", "cmd/internal"}},
		{"sigs.k8s.io/yaml", []string{"cmd/ingot", "cmd/internal"}},
		{"filippo.io/age", []string{"cmd/internal/secrets"}},
		{"github.com/google/uuid", []string{"cmd/internal/imagebuild/rootfs"}},
		{"github.com/klauspost/compress", []string{"cmd/internal/imagebuild"}},
		{"github.com/ulikunitz/xz", []string{"cmd/internal/imagebuild"}},
		{"golang.org/x/crypto/argon2", []string{"cmd/internal/operators"}},
		{"golang.org/x/term", []string{"cmd/ingot", "cmd/ingotd", "cmd/internal"}},
		{"github.com/coreos/go-systemd/v22", []string{"cmd/ingotd", "cmd/daemon", "cmd/internal"}},
		{"golang.org/x/sys", slices.Concat(sockets, devices)},
		{"golang.org/x/net", sockets},
		{"github.com/mdlayher/packet", sockets},
		{"github.com/mdlayher/netlink", sockets},
		{"github.com/vishvananda/netlink", sockets},
	}
	// guests are the third parties that tests bring along; kits may import the
	// first two.
	guests = []lodging{
		{"pgregory.net/rapid", []string{"."}},
		{"github.com/anishathalye/porcupine", []string{"."}},
		{"golang.org/x/tools/txtar", []string{"."}},
		{"github.com/rogpeppe/go-internal", []string{"cmd", "examples"}},
		{"github.com/pin/tftp/v3", []string{"booter"}},
	}
	kitGuests = guests[:2]
)

// codes are the wire names that an error may carry (API-3).
var codes = []string{
	"INVALID_INPUT", "UNAUTHENTICATED", "ACCESS_DENIED", "NOT_FOUND", "INVALID_STATE", "CONFLICT",
	"RATE_LIMITED", "UNSUPPORTED", "INVALID_CONFIG", "UNAVAILABLE",
}

// kitNeeds are the packages of ours that a kit imports beside its parent.
var kitNeeds = map[string][]string{
	"cmd/internal/store/storetest": {"statemachine/journal"},
	"bmc/bmctest":                  {"bmc/bmcsim", "bmc/bmcsim/trees", "bmc/wire"},
}

// kitFronts are the packages outside of tests that may import a kit, since they are
// what a person runs it by.
var kitFronts = map[string]string{
	"cmd/internal/conformance": "bmc/bmctest", // ingot bmc conformance: vendors run the laws without writing Go
}

// A role is what a folder is to the laws.
type role int

const (
	outside role = iota // the root, cmd, examples
	core
	edge
	kit
)

// roleOf places a folder. A new folder of a family is core until it is listed
// as an edge, so that nothing escapes law 1 by being new.
func roleOf(dir string) role {
	switch {
	case familyOf(dir) == "" && !within(dir, "cmd"):
		return outside
	case strings.HasSuffix(path.Base(dir), "test"):
		return kit
	case familyOf(dir) == "":
		return outside
	case slices.ContainsFunc(edges, func(e string) bool { return within(dir, e) }):
		return edge
	}
	return core
}

// familyOf returns the family that dir belongs to, or "".
func familyOf(dir string) string {
	first, _, _ := strings.Cut(dir, "/")
	if slices.Contains(families, first) {
		return first
	}
	return ""
}

// lodged reports whether one of ls lets dir import the path p. The room "."
// is the whole house.
func lodged(ls []lodging, p, dir string) bool {
	return slices.ContainsFunc(ls, func(l lodging) bool {
		return within(p, l.module) && slices.ContainsFunc(l.rooms, func(room string) bool {
			return room == "." || within(dir, room)
		})
	})
}
