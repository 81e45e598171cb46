package vmlab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A scenario is something that a run can be asked for, by its name.
type scenario struct {
	name string
	does string
	live func(*Lab, context.Context) ([]Result, error)
}

// scenarios are all there are.
func scenarios() []scenario {
	return []scenario{
		{string(PXE), "UEFI, PXE over IPv4", life(PXE)},
		{string(HTTP), "UEFI HTTP boot", life(HTTP)},
		{string(BIOS), "BIOS with the iPXE ROM of the network card", life(BIOS)},
		{string(Secure), "UEFI with Secure Boot, PXE over IPv4; a loader that nobody signed does not run", secure},
		{"proxy", "UEFI, PXE beside a dnsmasq that hands out the addresses", beside("proxy", proxied, PXE)},
		{"relay", "UEFI, PXE behind a DHCP relay on another host", beside("relay", relayed, PXE)},
		{"bmc", "UEFI, moved by ingotd through the Redfish of a simulated BMC: power, PXE once, virtual media", outOfBand},
		{"guards", "what would destroy another's data is refused before the first write", guards},
		{"fleet", fmt.Sprintf("%d machines at once, UEFI, PXE over IPv4: they enroll and are set up", fleetSize), fleet},
	}
}

// Scenarios are the names of what a run can be asked for.
func Scenarios() []string {
	var out []string
	for _, s := range scenarios() {
		out = append(out, s.name)
	}
	return out
}

// A Result is what came of one machine's part in a scenario.
type Result struct {
	Scenario  string  `json:"scenario"`
	Machine   string  `json:"machine"`
	Seconds   float64 `json:"seconds"`
	Announced float64 `json:"announced,omitempty"` // from power on to the first announce, in seconds
	Error     string  `json:"error,omitempty"`
}

// Run lives scenarios, one after the other, since some change the site for a while, and
// writes a report into the lab's folder. One that fails does not keep the others from
// being lived. The error joins those of the machines that failed.
func Run(ctx context.Context, o Options, names []string) (results []Result, err error) {
	all, err := known(names)
	if err != nil {
		return nil, err
	}
	l, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	var errs []error
	for _, s := range all {
		r, err := s.live(l, ctx)
		results, errs = append(results, r...), append(errs, err)
	}
	return results, errors.Join(append(errs, l.report(results))...)
}

// known are the scenarios of some names; a name that is none is refused.
func known(names []string) (out []scenario, err error) {
	if len(names) == 0 {
		return nil, &Invalid{"no scenario", "some of " + strings.Join(Scenarios(), ", ")}
	}
	all := scenarios()
	for _, name := range names {
		i := slices.IndexFunc(all, func(s scenario) bool { return s.name == name })
		if i < 0 {
			return nil, &Invalid{"scenario " + name, "one of " + strings.Join(Scenarios(), ", ")}
		}
		out = append(out, all[i])
	}
	return out, nil
}
