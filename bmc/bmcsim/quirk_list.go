package bmcsim

import (
	"net/http"
	"time"
)

func powerQuirks() []Quirk {
	power := func(name, source, does string, p Power) Quirk {
		return Quirk{Name: name, Source: source, Does: does, Options: Options{Power: p}}
	}
	return []Quirk{
		power("chassis-reads-off", "openbmc/openbmc#1933", "the chassis reads Off while the system runs", Power{ChassisReads: stateOff}),
		power("chassis-reads-on", "openbmc/bmcweb#12", "the chassis reads On when the system is off", Power{ChassisReads: stateOn}),
		power("graceful-restart-is-hard", "dell/iDRAC-Redfish-Scripting#29", "GracefulRestart restarts by force", Power{HardGraceful: true}),
		power("no-graceful-restart", "quadsproject/badfish#66", "GracefulRestart is not listed",
			Power{ResetTypes: []string{"On", "ForceOff", "ForceRestart", "GracefulShutdown", "PushPowerButton", "Nmi"}}),
		power("no-graceful-shutdown", "metal3-io/baremetal-operator#984", "no graceful ResetType is listed", Power{ResetTypes: []string{"On", "ForceOff", "ForceRestart"}}),
		power("off-is-late", "dsx-ai-factory/infra-controller#4446", "On is read for a while after ForceOff", Power{OffTakes: 8 * time.Second, HideTransitions: true}),
		power("on-is-slow", "chaos/powerman#67", "turning on takes 46 seconds", Power{OnTakes: 46 * time.Second, HideTransitions: true}),
		power("on-refused-after-off", "openstack/ironic, release note on iDRAC10", "On is refused with 409 just after turning off", Power{OnRefused: 10 * time.Second}),
		power("reset-refused-when-off", "goldyfruit/ansible-ilo#1", "an order that makes no sense in the state is a 400 with InvalidOperationForSystemState", Power{WrongState: http.StatusBadRequest}),
		power("reset-types-by-action-info", "stmcginnis/gofish#345", "ResetTypes are told by ActionInfo alone", Power{ActionInfo: true}),
		power("shutdown-is-slow", "openbmc/openbmc#1921", "a graceful shutdown takes six minutes", Power{ShutdownTakes: 6 * time.Minute}),
	}
}

func bootQuirkList() []Quirk {
	boot := func(name, source, does string, o Boot) Quirk {
		return Quirk{Name: name, Source: source, Does: does, Options: Options{Boot: o}}
	}
	return []Quirk{
		boot("boot-by-sd", "DMTF/Redfish-Tacklebox#144", "only the settings object SD takes an override", Boot{SettingsOnly: true, SettingsName: "SD"}),
		boot("boot-by-settings", "ansible-collections/community.general#11297", "only the settings object takes an override", Boot{SettingsOnly: true}),
		boot("continuous-refused", "storyboard 2007733 of openstack/ironic", "Continuous is refused", Boot{RefusesContinuous: true}),
		boot("mode-dropped", "DMTF/Redfishtool#106", "the mode becomes Legacy where it is left out", Boot{DropsMode: true}),
		boot("mode-refused", "ironcore-dev/metal-operator#982", "there is no BootSourceOverrideMode, and one is refused", Boot{RefusesMode: true}),
		boot("none-refused", "ironcore-dev/metal-operator#998", "the target None is refused", Boot{RefusesNone: true}),
		boot("once-ignored", "redhat-performance/jetlag#18", "Once is accepted, and the disk boots", Boot{IgnoresOnce: true}),
	}
}

func mediaQuirks() []Quirk {
	media := func(name, source, does string, o Media) Quirk {
		return Quirk{Name: name, Source: source, Does: does, Options: Options{Media: o}}
	}
	return []Quirk{
		media("media-by-patch", "stmcginnis/gofish#529", "slots have no actions: Image is written", Media{PatchOnly: true}),
		media("media-busy-after-eject", "storyboard 2008504 of openstack/ironic", "an insert during an eject is a 500", Media{EjectTakes: 5 * time.Second}),
		media("media-keeps-image", "ansible-collections/community.general#6969", "an Image is left in empty slots, and blocks an insert", Media{KeepsImage: true}),
		media("media-needs-licence", "metal3-io/ironic-image#688", "an insert is a 403: a licence is missing", Media{NoLicence: true}),
		media("media-read-only", "stmcginnis/gofish#276", "WriteProtected false is accepted, and nothing is inserted", Media{ReadOnly: true}),
		{Name: "media-without-url", Source: "lenovo/python-redfish-lenovo#21", Does: "slots of uploads and remote consoles take no URL", Tree: "lenovo-sr670v2-xcc-2.83",
			Options: Options{Media: Media{NoURL: []string{"rdoc*", "remote*"}}}},
	}
}

// wireQuirks are about sessions, headers and load.
func wireQuirks() []Quirk {
	q := func(name, source, does string, o Options) Quirk {
		return Quirk{Name: name, Source: source, Does: does, Options: o}
	}
	return []Quirk{
		q("bios-shows-pending", "dsx-ai-factory/libredfish#25", "settings of the BIOS that wait for a restart read as if they applied", Options{Bios: Bios{ShowsPending: true}}),
		q("busy-at-two", "dell/terraform-provider-redfish#342", "one request at a time, the next is a 429", Options{Load: Load{Concurrent: 1, Over: http.StatusTooManyRequests}}),
		q("etag-gzip", "stmcginnis/gofish#511", "an ETag ends in -gzip where the client takes gzip, and does not match", Options{ETags: ETags{Mode: ETagGzip}}),
		q("etag-quoted-twice", "ansible-collections/community.general#3268", "an ETag has two pairs of quotes, and does not match as it came", Options{ETags: ETags{Mode: ETagTwice}}),
		q("freezes-after-bursts", "siderolabs/omni#785", "ten requests in a row sooner than 50 ms freeze the BMC for a minute",
			Options{Load: Load{Interval: 50 * time.Millisecond, Burst: 10, Freeze: time.Minute}}),
		q("locks-out", "dsx-ai-factory/infra-controller#4978", "three wrong passwords lock the account for ten minutes", Options{Auth: Auth{Lockout: 3, LockoutFor: 10 * time.Minute}}),
		q("login-redirects", "bb-Ricardo/check_redfish#187", "a login is redirected with 308 to the same path with a slash",
			Options{Rules: []Rule{{Method: http.MethodPost, Path: "*/Sessions", Effect: Effect{Redirect: "{path}/", Status: http.StatusPermanentRedirect}}}}),
		q("login-refuses-basic", "ansible-collections/community.general#5903", "a login with a header Authorization is a 415", Options{Auth: Auth{HeaderOnLogin: http.StatusUnsupportedMediaType}}),
		q("logout-is-401", "DMTF/python-redfish-library#160", "the end of a session is a 401", Options{Rules: []Rule{{Method: http.MethodDelete, Path: "*/Sessions/*", Effect: Effect{Replies: http.StatusUnauthorized}}}}),
		q("password-of-20-bytes", "openbmc/openbmc#3550", "a password of more than 20 bytes is refused", Options{Auth: Auth{MaxPassword: 20}}),
		q("restart-takes-minutes", "xcat2/xcat-core#2693", "a restarted BMC is away for two and a half minutes", Options{Load: Load{Rebooting: 150 * time.Second}}),
		{Name: "rsa-key-exchange", Source: "mrlhansen/idrac_exporter#204", Does: "TLS 1.2 with RSA key exchange, and nothing else", TLS: TLS{Kind: TLSSelfSigned, RSAExchange: true}},
		q("sessions-run-out", "stmcginnis/gofish#75, bb-Ricardo/check_redfish#198", "two sessions at once, the next is a 503", Options{Auth: Auth{Sessions: 2, Full: http.StatusServiceUnavailable}}),
		q("starts-busy", "ironcore-dev/metal-operator#170", "everything is a 503 with Retry-After 30 for 30 seconds after a start", Options{Load: Load{Starting: 30 * time.Second, RetryAfter: 30 * time.Second}}),
		q("task-vanishes", "dell/dellemc-openmanage-ansible-modules#420, ironcore-dev/metal-operator#668", "an order is a task, which is a 404 once it is done",
			Options{Tasks: Tasks{For: []string{"*/Actions/*"}, Takes: 2 * time.Second, Ends: TaskVanishes}}),
		q("two-documents", "bb-Ricardo/check_redfish#151", "two JSON documents in one body", Options{Rules: []Rule{{Method: http.MethodGet, Path: "*/Systems/*", Effect: Effect{Body: SpoilTwice}}}}),
	}
}

// identityQuirks are about who a machine is.
func identityQuirks() []Quirk {
	set := func(name, source, does, path string, after int, members map[string]any) Quirk {
		return Quirk{Name: name, Source: source, Does: does, Options: Options{Rules: []Rule{{Method: http.MethodGet, Path: path, After: after, Effect: Effect{Set: members}}}}}
	}
	const long = "80:00:02:08:FE:80:00:00:00:00:00:00:B8:3F:D2:03:00:90:97:C4"
	swapped := set("uuid-changes-order", "metal-stack/go-hal#57", "from the second read on, the first three groups of the UUID have their bytes in reverse",
		"/redfish/v1/Systems/*", 1, map[string]any{"UUID": "44454c4c-3500-1034-8050-c6c04f314733"})
	swapped.Tree = "dell-r750-idrac9-6.00"
	return []Quirk{
		{Name: "baseboard-first", Source: "dsx-ai-factory/libredfish#124", Does: "the GPU baseboard is listed before the host", Tree: "nvidia-gh200-openbmc",
			Options: Options{Rules: []Rule{{Method: http.MethodGet, Path: "/redfish/v1/Systems", Effect: Effect{Set: map[string]any{"Members": []any{
				refer("/redfish/v1/Systems/HGX_Baseboard_0"), refer("/redfish/v1/Systems/System_0")}}}}}}},
		set("mac-of-20-octets", "dsx-ai-factory/infra-controller#4756", "a network interface has a MAC of 20 octets", "*/EthernetInterfaces/*", 0, map[string]any{"MACAddress": long, "PermanentMACAddress": long}),
		swapped,
		set("uuid-zero", "siderolabs/talos#7694", "the UUID is zeros", "/redfish/v1/Systems/*", 0, map[string]any{"UUID": "00000000-0000-0000-0000-000000000000"}),
	}
}
