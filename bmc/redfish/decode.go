package redfish

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/ingotmetal/ingot/bmc/wire"
)

// A doc is a JSON object that a BMC sent. What is missing, null or of another
// type than asked for reads as zero: BMCs differ in which they do.
type doc map[string]json.RawMessage

// read decodes one JSON object; nil where raw is none.
func read(raw []byte) doc {
	var d doc
	if json.Unmarshal(raw, &d) != nil {
		return nil
	}
	return d
}

func (d doc) sub(key string) doc { return read(d[key]) }

// at goes down several keys.
func (d doc) at(keys ...string) doc {
	for _, k := range keys {
		d = d.sub(k)
	}
	return d
}

func (d doc) str(key string) string {
	var s string
	if json.Unmarshal(d[key], &s) != nil {
		return ""
	}
	return strings.TrimSpace(s)
}

func (d doc) num(key string) float64 {
	var n float64
	if json.Unmarshal(d[key], &n) != nil {
		return 0
	}
	return n
}

// truth returns the boolean, and whether there is one.
func (d doc) truth(key string) (is, shown bool) {
	raw := d[key]
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return false, false
	}
	shown = json.Unmarshal(raw, &is) == nil
	return is && shown, shown
}

// shows reports whether the key is there, also as null.
func (d doc) shows(key string) bool { _, ok := d[key]; return ok }

func (d doc) strs(key string) []string {
	var raw []json.RawMessage
	if json.Unmarshal(d[key], &raw) != nil {
		return nil
	}
	var out []string
	for _, r := range raw {
		var s string
		if json.Unmarshal(r, &s) == nil && s != "" {
			out = append(out, s)
		}
	}
	return out
}

func (d doc) docs(key string) []doc {
	var raw []json.RawMessage
	if json.Unmarshal(d[key], &raw) != nil {
		return nil
	}
	var out []doc
	for _, r := range raw {
		if one := read(r); one != nil {
			out = append(out, one)
		}
	}
	return out
}

// link is the checked target of a reference; empty where there is none or it
// leads elsewhere.
func (d doc) link(keys ...string) string { return checked(d.at(keys...).str("@odata.id")) }

// links are the checked targets of a list of references.
func (d doc) links(key string) []string {
	var out []string
	for _, one := range d.docs(key) {
		if l := one.link(); l != "" {
			out = append(out, l)
		}
	}
	return out
}

func checked(ref string) string {
	path, err := wire.Link(ref)
	if err != nil {
		return ""
	}
	return path
}

// same reports whether two paths name one resource. BMCs differ in the trailing
// slash, and some in case.
func same(a, b string) bool { return a != "" && strings.EqualFold(bare(a), bare(b)) }

func bare(path string) string {
	path, _, _ = strings.Cut(path, "#")
	return strings.TrimRight(path, "/")
}
