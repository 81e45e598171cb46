package bmcsim

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// A slot takes a medium. It may be shown in two places.
type slot struct {
	path   string
	system string // key of the system below which it is; "" is every system's
	types  []string
	patch  bool // Image is written; there are no actions
	noURL  bool // for remote consoles and uploads, which take no URL

	// BMC.mu guards the rest.
	touched  bool // it is no longer as the tree has it
	busy     bool // an insert is fetching
	inserted bool
	image    string
	params   map[string]any
	medium   Medium
	stale    time.Time // until when Inserted is still read true
	ejecting time.Time // until when an eject runs
}

// addSlots finds the slots. Two with one name, below a system and below a manager, are
// one: XCC shows each so.
func (b *BMC) addSlots() {
	b.slots = map[string]*slot{}
	byName := map[string]*slot{}
	for _, k := range b.tree.slots {
		n := b.tree.nodes[k]
		name := k[strings.LastIndex(k, "/")+1:]
		s := byName[name]
		if s == nil {
			s = &slot{path: n.path, types: texts(n.body["MediaTypes"])}
			s.patch = b.o.Media.PatchOnly || dig(n.body, "Actions", "#VirtualMedia.InsertMedia") == nil
			s.noURL = s.patch && (strings.HasPrefix(name, "rdoc") || strings.HasPrefix(name, "remote")) ||
				slices.ContainsFunc(b.o.Media.NoURL, func(p string) bool { return glob(strings.ToLower(p), name) })
			s.inserted, _ = n.body["Inserted"].(bool)
			if image := text(n.body, "Image"); image != "None" {
				s.image = image
			}
			if b.o.Media.KeepsImage && !s.inserted {
				s.touched, s.image = true, "http://192.0.2.1/left-behind.iso"
			}
			for _, sys := range b.tree.systems {
				if strings.HasPrefix(k, sys+"/") {
					s.system = sys
				}
			}
			byName[name] = s
		} else if s.system != "" && !strings.HasPrefix(k, s.system+"/") {
			s.system = ""
		}
		b.slots[k] = s
	}
}

// slotShown is what lies over a slot; nil while it is as the tree has it.
func (b *BMC) slotShown(q *request, s *slot) map[string]any {
	b.mu.Lock()
	defer b.mu.Unlock()
	body := b.node(q.key).body
	out := map[string]any{}
	if b.o.Media.PatchOnly && body["Actions"] != nil {
		out["Actions"] = map[string]any{}
	}
	if !s.touched {
		if len(out) == 0 {
			return nil
		}
		return out
	}
	var image, name, method, protocol any
	if s.image != "" {
		image, name = s.image, s.image[strings.LastIndex(s.image, "/")+1:]
	}
	inserted, via := s.inserted || q.now.Before(s.stale), "NotConnected"
	if inserted {
		via, method, protocol = "URI", s.params["TransferMethod"], s.params["TransferProtocolType"]
		if method == nil {
			method = "Stream"
		}
	}
	for member, v := range map[string]any{"Image": image, "ImageName": name, "TransferMethod": method, "TransferProtocolType": protocol} {
		if _, there := body[member]; there || v != nil {
			out[member] = v
		}
	}
	out["Inserted"], out["ConnectedVia"] = inserted, via
	if s.inserted {
		out["WriteProtected"] = s.medium.WriteProtected
	}
	if actions := dig(body, "Actions"); !s.patch && actions["#VirtualMedia.EjectMedia"] == nil {
		out["Actions"] = overlaid(actions, map[string]any{"#VirtualMedia.EjectMedia": map[string]any{"target": b.node(q.key).path + "/Actions/VirtualMedia.EjectMedia"}})
	}
	return out
}

// mediaOf are the media that a system boots with. The caller holds b.mu.
func (b *BMC) mediaOf(sys *system) []Medium {
	var out []Medium
	for _, s := range b.eachSlot() {
		if s.inserted && s.touched && (s.system == "" || s.system == sys.key) {
			out = append(out, s.medium)
		}
	}
	return out
}

// eachSlot is each slot once, by its path.
func (b *BMC) eachSlot() []*slot {
	var out []*slot
	for _, k := range b.tree.slots {
		if s := b.slots[k]; !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// systemsOf are the systems that see a slot.
func (b *BMC) systemsOf(s *slot) []*system {
	var out []*system
	for _, k := range b.tree.systems {
		if s.system == "" || s.system == k {
			out = append(out, b.systems[k])
		}
	}
	return out
}

// insert puts an image into a slot.
func (b *BMC) insert(q *request, s *slot, params map[string]any) answer {
	image := text(params, "Image")
	if no := b.mayInsert(q, s, params, image); no.status != 0 {
		return no
	}
	defer func() {
		b.mu.Lock()
		s.busy = false
		b.mu.Unlock()
	}()
	shown, err := withoutUser(image)
	if err != nil {
		return refuse(http.StatusBadRequest, "ActionParameterValueFormatError", "The value for the parameter Image is no URL.", "Image")
	}
	m := Medium{Slot: s.path, Types: s.types, Image: shown, WriteProtected: true}
	if w, ok := params["WriteProtected"].(bool); ok {
		m.WriteProtected = w
	}
	if b.o.Media.ReadOnly && !m.WriteProtected {
		return answer{status: http.StatusNoContent} // and it is not there
	}
	if b.o.Media.Client != nil {
		if err := b.fetch(q, image, params, &m); err != nil {
			return fetchFailed(shown, err)
		}
	}
	if inserted, ok := params["Inserted"].(bool); ok && !inserted {
		return errorsAnswer(b.dropImage(m))
	}
	return b.putIn(q, s, m, params)
}

// mayInsert judges an insert, and holds the slot for it.
func (b *BMC) mayInsert(q *request, s *slot, params map[string]any, image string) answer {
	const name = "VirtualMedia.InsertMedia"
	o := b.o.Media
	switch {
	case o.NoLicence:
		return refuse(http.StatusForbidden, "Oem.1.0.LicenseRequired", "A license is required to use this function.")
	case s.noURL:
		return readOnlyProperty("Image")
	case image == "":
		return missingParameter(name, "Image")
	}
	for _, d := range o.Demands {
		if v := params[d]; v == nil || v == "" {
			return missingParameter(name, d)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case q.now.Before(s.ejecting):
		return refuse(http.StatusInternalServerError, "InternalError", "The request failed due to an internal service error. The service is still operational.")
	case s.busy || s.inserted || s.image != "" || q.now.Before(s.stale):
		return refuse(http.StatusConflict, "ResourceInUse", "The change to the requested resource failed because the resource is in use or in transition.")
	}
	s.busy = true
	return answer{}
}

// putIn has the medium in the slot, and tells machines that are on.
func (b *BMC) putIn(q *request, s *slot, m Medium, params map[string]any) answer {
	for _, sys := range b.systemsOf(s) {
		to, ok := sys.backend.(MediaBackend)
		if !ok {
			continue
		}
		if err := to.Insert(q.Context(), m); err != nil {
			return backendFailed(errors.Join(err, b.dropImage(m)))
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s.touched, s.inserted, s.image, s.medium, s.stale = true, true, m.Image, m, time.Time{}
	s.params = map[string]any{"TransferMethod": params["TransferMethod"], "TransferProtocolType": params["TransferProtocolType"]}
	return done()
}

// eject takes the medium out.
func (b *BMC) eject(q *request, s *slot) answer {
	b.mu.Lock()
	was, image, m := s.inserted, s.image, s.medium
	b.mu.Unlock()
	if !was && image == "" {
		if b.o.Media.RefusesEmpty {
			return refuse(http.StatusBadRequest, "InvalidOperationForSystemState", "The operation cannot be performed: there is no medium in the slot.")
		}
		return done()
	}
	on := false
	for _, sys := range b.systemsOf(s) {
		running, err := b.look(q.Context(), sys)
		if err == nil && was {
			if of, ok := sys.backend.(MediaBackend); ok {
				err = of.Eject(q.Context(), s.path)
			}
		}
		if err != nil {
			return backendFailed(err)
		}
		on = on || running
	}
	b.mu.Lock()
	if on && was {
		b.stats.EjectsWhileOn++
	}
	s.touched, s.inserted, s.image, s.medium = true, false, "", Medium{}
	s.ejecting = q.now.Add(b.o.Media.EjectTakes)
	if was || image != "" {
		s.stale = q.now.Add(b.o.Media.Stale)
	}
	b.mu.Unlock()
	return errorsAnswer(b.dropImage(m))
}

// patchSlot is how a slot without actions takes and loses an image.
func (b *BMC) patchSlot(q *request, s *slot) answer {
	body, _ := b.body(q)
	for name := range q.body {
		if _, there := body[name]; !there {
			return unknownProperty(name)
		}
	}
	if image, given := q.body["Image"]; given && image != nil && image != "" {
		return b.insert(q, s, q.body)
	}
	return b.eject(q, s)
}

// errorsAnswer is done, or why it is not.
func errorsAnswer(err error) answer {
	if err != nil {
		return refuse(http.StatusInternalServerError, "InternalError", "The request failed due to an internal service error: "+err.Error())
	}
	return done()
}

// withoutUser is a URL as it may be shown.
func withoutUser(image string) (string, error) {
	u, err := url.Parse(image)
	if err != nil {
		return "", errors.New("no URL")
	}
	if u.User == nil {
		return image, nil
	}
	u.User = nil
	return u.String(), nil
}

// dropImage removes what was kept of a medium.
func (b *BMC) dropImage(m Medium) error {
	if m.File == "" {
		return nil
	}
	if err := os.Remove(m.File); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("bmcsim: %w", err)
	}
	return nil
}

// dropImages removes what was kept of all.
func (b *BMC) dropImages() error {
	var errs []error
	for _, s := range b.eachSlot() {
		errs = append(errs, b.dropImage(s.medium))
	}
	return errors.Join(errs...)
}
