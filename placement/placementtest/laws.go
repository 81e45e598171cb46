package placementtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ingotmetal/ingot/placement"
)

// Path decides one case: true lets the work through.
type Path func(Case) bool

// Law is one promise that every path keeps.
type Law struct {
	Name string
	Req  string // the requirement it comes from
	// Broken reports whether the path breaks the law in this case, and how.
	Broken func(Path, Case) string
}

// Check tries the law on every case of the [World].
func (l Law) Check(p Path) error {
	for c := range World() {
		if how := l.Broken(p, c); how != "" {
			return fmt.Errorf("%s (%s): %s: %v", l.Name, l.Req, how, c)
		}
	}
	return nil
}

// Run checks every law in a subtest.
func Run(t *testing.T, p Path) {
	for _, law := range Laws() {
		t.Run(law.Name, func(t *testing.T) {
			if err := law.Check(p); err != nil {
				t.Error(err)
			}
		})
	}
}

// Laws returns the laws. Together they decide every case, so a path that keeps
// them all is equal to placement.Judge.
func Laws() []Law {
	return []Law{
		{"an open node lets everyone through", "TAINT-2", openNode},
		{"a hold keeps everyone out", "TAINT-2, REG-11, SCHED-3, LIVE-5", hold},
		{"one dedication alone lets its tenant through and nobody else", "TAINT-2", oneDedication},
		{"two dedications keep everyone out", "TAINT-2", twoDedications},
		{"a dedication to nobody keeps everyone out", "TAINT-2", toNobody},
		{"another reason keeps everyone off the devices", "TAINT-2", otherReason},
		{"whole-node leases look at dedications alone", "TAINT-2", wholeNode},
	}
}

// openNode is the first half of TAINT-2: where there is no reason, none blocks.
func openNode(p Path, c Case) string {
	if c.Holds == 0 && c.Reasons.Len() == 0 && !p(c) {
		return "kept out"
	}
	return ""
}

// hold covers the holds that this version does not know as well: state
// enumerations are open, and the safe reading of an unknown one is to keep out.
func hold(p Path, c Case) string {
	if c.Holds != 0 && p(c) {
		return "let through"
	}
	return ""
}

// oneDedication binds both policies; a dedication that names nobody is another
// law's.
func oneDedication(p Path, c Case) string {
	tenants, others := c.Dedications()
	if c.Holds != 0 || others > 0 || len(tenants) != 1 || tenants[0] == "" {
		return ""
	}
	if its := tenants[0] == c.Tenant; p(c) != its {
		return fmt.Sprintf("want let through %t", its)
	}
	return ""
}

// twoDedications holds even where one of the two is the asker's own.
func twoDedications(p Path, c Case) string {
	if tenants, _ := c.Dedications(); len(tenants) > 1 && p(c) {
		return "let through"
	}
	return ""
}

// toNobody takes the stricter reading: taint:dedicated=a/b is a dedication, so
// it binds whole-node leases too.
func toNobody(p Path, c Case) string {
	if tenants, _ := c.Dedications(); slices.Contains(tenants, "") && p(c) {
		return "let through"
	}
	return ""
}

// otherReason holds for a node dedicated to the asker as for any other.
func otherReason(p Path, c Case) string {
	if _, others := c.Dedications(); others > 0 && c.Policy == placement.EveryReason && p(c) {
		return "let through"
	}
	return ""
}

// wholeNode compares a case with the one that has only its dedications.
func wholeNode(p Path, c Case) string {
	if c.Policy != placement.DedicationsOnly {
		return ""
	}
	var keys []string
	for r := range c.Reasons.All() {
		if _, ok := r.Dedication(); ok {
			keys = append(keys, string(r))
		}
	}
	bare := c
	bare.Reasons = must(placement.ParseReasons(keys...))
	if want := p(bare); p(c) != want {
		return fmt.Sprintf("let through %t without the other reasons", want)
	}
	return ""
}
