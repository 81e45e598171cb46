package control

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// bootersLedger is what each booter last reported of itself.
const bootersLedger = store.LedgerPrefix + "booter/"

// A Booter is what a booter reports of itself; the newest report counts.
type Booter struct {
	Name   string
	Staged []string // images that it can serve
	Disks  []string // disk images, as a layout names them
	Seen   time.Time
}

// Booters are all booters that ever reported.
func Booters(r store.Reader) []Booter {
	var all []Booter
	for _, raw := range r.Range(bootersLedger, Beyond(bootersLedger)) {
		var b Booter
		if json.Unmarshal(raw, &b) == nil {
			all = append(all, b)
		}
	}
	return all
}

// Staged is the world of a site whose only part besides the control plane is its
// booters. Nothing places work, runs workflows or drives power there: there are no
// allocations to ask for, and nothing to say of them.
func Staged(r store.Reader, _ *lifecycle.Node) lifecycle.World {
	var w lifecycle.World
	for _, b := range Booters(r) {
		for _, image := range slices.Concat(b.Staged, b.Disks) {
			if !slices.Contains(w.Staged, image) {
				w.Staged = append(w.Staged, image)
			}
		}
	}
	return w
}
