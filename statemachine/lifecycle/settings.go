package lifecycle

import (
	"maps"
	"strings"

	"github.com/ingotmetal/ingot/statemachine/registration"
)

// Limits of what an operator sets on a row (LABEL-1).
const (
	MaxSetLabels  = 64
	MaxLabelKey   = 128
	MaxLabelValue = 256
	MaxRootHash   = 560 // bytes; crypt(5) allows 384, which seal to 551
)

// reservedLabel begins the labels that only the system sets (LABEL-2).
const reservedLabel = "ingot.dev/"

// Configure sets what an operator may set on a row without moving it
// (REG-16). The settings replace the old ones whole; the same settings again
// change nothing.
//
// The row is read and its settings are sent back changed, with Version: without
// one, two operators who set a label each would undo one another.
type Configure struct {
	Call
	Settings registration.Settings
}

// Name is configure.
func (Configure) Name() string { return "configure" }

func (in Configure) apply(w *work) error {
	was := w.Node.Reg.Settings
	in.Settings.Labels = maps.Clone(in.Settings.Labels) // a caller's map is the one that is changed by habit
	if err := w.reg(registration.Event{Event: on(registration.Configure), Settings: in.Settings}); err != nil {
		return err
	}
	if err := w.call(in.Call); err != nil {
		return err
	}
	if maps.Equal(was.Labels, in.Settings.Labels) && was.Reservoir == in.Settings.Reservoir && was.RootHash == in.Settings.RootHash {
		w.Node.Reg.Settings = was
		return nil
	}
	w.factWhy(SettingsChanged, in.Reason)
	// Labels are the node's to everyone else, so they have a name of their own
	// (EVENT-2). A row without a node labels none.
	if w.Node.Live() && !maps.Equal(was.Labels, in.Settings.Labels) {
		w.factWhy(NodeLabeled, in.Reason)
	}
	return in.check(w)
}

// check holds the settings to LABEL-1.
func (in *Configure) check(w *work) error {
	s := &in.Settings
	if len(s.Labels) > MaxSetLabels || len(s.RootHash) > MaxRootHash || s.RootHash != "" && !sealed(s.RootHash) {
		return invalid(w.name, "REG-16", "want at most %d labels, and a root password hash of at most %d bytes", MaxSetLabels, MaxRootHash)
	}
	for key, val := range s.Labels {
		short := key[:min(len(key), MaxLabelKey)]
		switch {
		case !labelKey(key):
			return invalid(w.name, "LABEL-1", "label key %q: want 1 to %d letters, digits or . _ / -, first and last alphanumeric", short, MaxLabelKey)
		case strings.HasPrefix(key, reservedLabel):
			return invalid(w.name, "LABEL-1", "label key %q: want a key that does not begin with %s", short, reservedLabel)
		case len(val) > MaxLabelValue || !made(val, "._:/@+=-"):
			return invalid(w.name, "LABEL-1", "value of label %q: want up to %d letters, digits or . _ : / @ + = -", short, MaxLabelValue)
		}
	}
	return nil
}

// notASCII reports what is no visible ASCII character.
func notASCII(r rune) bool { return r <= ' ' || r > '~' }

// labelKey reports whether key has LABEL-1's form.
func labelKey(key string) bool {
	return key != "" && len(key) <= MaxLabelKey && made(key, "._/-") && made(key[:1], "") && made(key[len(key)-1:], "")
}

// made reports whether s has only letters, digits and the extra characters.
func made(s, extra string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(extra, r))
	})
}
