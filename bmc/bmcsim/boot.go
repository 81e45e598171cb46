package bmcsim

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
)

// Members of Boot.
const (
	bootEnabled = "BootSourceOverrideEnabled"
	bootTarget  = "BootSourceOverrideTarget"
	bootMode    = "BootSourceOverrideMode"
	bootURI     = "HttpBootUri"
	bootUEFI    = "UefiTargetBootSourceOverride"
	allowable   = "@Redfish.AllowableValues"
)

// settingsOf is the key of the settings object that a system names, or "".
func (b *BMC) settingsOf(k string) string {
	n := b.node(k)
	if n == nil {
		return ""
	}
	s := key(linkOf(dig(n.body, "@Redfish.Settings")["SettingsObject"]))
	if b.node(s) == nil {
		return ""
	}
	return s
}

// dropMode takes the mode out of a system that refuses one.
func (b *BMC) dropMode(n *node) {
	if !b.o.Boot.RefusesMode || n.body["Boot"] == nil {
		return
	}
	b.edit(key(n.path), func(body map[string]any) {
		boot := own(body, "Boot")
		delete(boot, bootMode)
		delete(boot, bootMode+allowable)
	})
}

// addSettings gives a system a settings object that takes overrides, where options want
// one and the tree's does not.
func (b *BMC) addSettings(n *node) {
	if !b.o.Boot.SettingsOnly {
		return
	}
	k := key(n.path)
	path := linkOf(dig(n.body, "@Redfish.Settings")["SettingsObject"])
	if path == "" {
		path = n.path + "/" + cmp.Or(b.o.Boot.SettingsName, "Settings")
		b.edit(k, func(body map[string]any) {
			body["@Redfish.Settings"] = map[string]any{"@odata.type": "#Settings.v1_3_5.Settings", "SettingsObject": refer(path)}
		})
	}
	old := b.node(key(path))
	if old != nil && takesOverride(dig(old.body, "Boot")) {
		return
	}
	body := map[string]any{"@odata.id": path, "@odata.type": text(n.body, "@odata.type"), "Id": "Settings", "Name": "Settings"}
	if old != nil {
		body = overlaid(old.body, nil)
	}
	boot := own(body, "Boot")
	for name, v := range dig(n.body, "Boot") {
		if strings.Contains(name, "Override") || name == bootURI {
			boot[name] = deep(v)
		}
	}
	b.set(path, body)
}

func takesOverride(boot map[string]any) bool {
	_, value := boot[bootTarget]
	_, list := boot[bootTarget+allowable]
	return value || list
}

// settingsOnly reports whether the override of a system is its settings object's alone:
// options say so, or only that one lists what it takes.
func (b *BMC) settingsOnly(k string) bool {
	settings := b.settingsOf(k)
	if settings == "" {
		return false
	}
	_, there := dig(b.node(k).body, "Boot")[bootTarget+allowable]
	_, pending := dig(b.node(settings).body, "Boot")[bootTarget+allowable]
	return b.o.Boot.SettingsOnly || pending && !there
}

// ownerOf is the system whose settings object a key is, or nil.
func (b *BMC) ownerOf(k string) *system {
	for _, s := range b.systems {
		if b.settingsOf(s.key) == k {
			return s
		}
	}
	return nil
}

// patchBoot changes the override in a system or in its settings object. The caller holds
// b.mu.
func (b *BMC) patchBoot(k string, v any) answer {
	in, ok := v.(map[string]any)
	if !ok {
		return badType("Boot")
	}
	s := b.systems[k]
	if s != nil && b.settingsOnly(k) {
		for name := range in {
			if strings.Contains(name, "Override") || name == bootURI {
				return readOnlyProperty(name)
			}
		}
	}
	have := dig(b.node(k).body, "Boot")
	for name, v := range in {
		if no := judgeMember(have, name, v); no.status != 0 {
			return no
		}
	}
	if no := b.bootQuirks(in); no.status != 0 {
		return no
	}
	b.edit(k, func(body map[string]any) {
		boot := own(body, "Boot")
		for name, v := range in {
			boot[name] = deep(v)
		}
		if _, given := in[bootMode]; b.o.Boot.DropsMode && !given && text(in, bootTarget) != "" {
			boot[bootMode] = "Legacy"
		}
		if b.o.Boot.DropsOnce && text(in, bootEnabled) == "Once" {
			boot[bootEnabled] = "Disabled"
		}
		if text(boot, bootEnabled) == "Disabled" && slices.Contains(texts(boot[bootTarget+allowable]), "None") && in[bootTarget] == nil && in[bootEnabled] != nil {
			boot[bootTarget] = "None"
		}
	})
	if s == nil {
		if owner := b.ownerOf(k); owner != nil {
			owner.pending = true
		}
	}
	return answer{}
}

// judgeMember judges one member that is to be written.
func judgeMember(have map[string]any, name string, v any) answer {
	list := texts(have[name+allowable])
	if _, there := have[name]; !there && list == nil {
		return unknownProperty("Boot/" + name)
	}
	if name == "BootOrder" {
		if _, ok := v.([]any); !ok {
			return badType(name)
		}
		return answer{}
	}
	value, ok := v.(string)
	if !ok && v != nil {
		return badType(name)
	}
	switch {
	case name == bootEnabled && list == nil:
		list = []string{"Disabled", "Once", "Continuous"}
	case name == bootMode && list == nil:
		list = []string{"UEFI", "Legacy"}
	}
	if list != nil && name != bootUEFI && !slices.Contains(list, value) {
		return badValue(name, value)
	}
	return answer{}
}

// bootQuirks refuses what the BMC does not take.
func (b *BMC) bootQuirks(in map[string]any) answer {
	o := b.o.Boot
	_, mode := in[bootMode]
	target := text(in, bootTarget)
	switch {
	case o.RefusesMode && mode:
		return unknownProperty("Boot/" + bootMode)
	case o.NeedsMode && target != "" && target != "None" && !mode:
		return missingProperty(bootMode)
	case o.RefusesContinuous && text(in, bootEnabled) == "Continuous":
		return badValue(bootEnabled, "Continuous")
	case o.RefusesNone && target == "None":
		return refuse(http.StatusBadRequest, "PropertyValueNotInList", "The value None for the property "+bootTarget+" is not in the list of acceptable values.", "None", bootTarget)
	}
	return answer{}
}

// start is what a machine is turned on with now. An override that holds once is spent.
func (b *BMC) start(s *system) Start {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.applyBios(s)
	from := s.key
	if settings := b.settingsOf(s.key); s.pending && settings != "" {
		from, s.pending = settings, false
	}
	boot := dig(b.node(from).body, "Boot")
	out := Start{Media: b.mediaOf(s)}
	enabled, target := text(boot, bootEnabled), text(boot, bootTarget)
	if (enabled == "Once" || enabled == "Continuous") && target != "" && target != "None" {
		out.Target, out.Once, out.Mode, out.URI = target, enabled == "Once", text(boot, bootMode), text(boot, bootURI)
	}
	if enabled == "Once" {
		b.edit(from, func(body map[string]any) {
			boot := own(body, "Boot")
			boot[bootEnabled] = "Disabled"
			if slices.Contains(texts(boot[bootTarget+allowable]), "None") {
				boot[bootTarget] = "None"
			}
		})
		if b.o.Boot.IgnoresOnce {
			out.Target, out.Once, out.Mode, out.URI = "", false, "", ""
		}
	}
	if from != s.key && (enabled == "Continuous" || enabled == "Disabled") && takesOverride(dig(b.node(s.key).body, "Boot")) {
		b.edit(s.key, func(body map[string]any) {
			boot := own(body, "Boot")
			boot[bootEnabled], boot[bootTarget] = enabled, target
		})
	}
	return out
}
