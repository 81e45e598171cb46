package redfish

import (
	"encoding/json"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// The schemes of an [Options].
const (
	SchemeSession = "session"
	SchemeBasic   = "basic"
)

// maxConcurrent bounds Options.Concurrent: BMCs answer 429 and 500 above it.
const maxConcurrent = 4

// Options are the driver's own, as JSON. The zero value works.
type Options struct {
	// Concurrent is how many requests run at once, 1 to 4; default 1. The gate of
	// the BMC enforces it; see [Options.Limits].
	Concurrent int `json:"concurrent,omitempty"`
	// Interval is the least time from the start of one request to the next, as
	// "100ms"; at most 10s.
	Interval string `json:"interval,omitempty"`
	// LegacyTLS takes TLS 1.0 and the RSA key exchange too.
	LegacyTLS bool `json:"legacyTLS,omitempty"`
	// Scheme is "session", the default, or "basic". A service that has no sessions
	// is spoken to by basic, whatever stands here.
	Scheme string `json:"scheme,omitempty"`
	// IgnoreChassis leaves the chassis out of power observations, for a BMC whose
	// chassis stays On when its machine is off. Off is then proved by the system
	// alone.
	IgnoreChassis bool `json:"ignoreChassis,omitempty"`
}

// parseOptions decodes and checks raw.
func parseOptions(raw json.RawMessage) (Options, error) {
	var o Options
	if err := bmc.CheckOptions(raw, &o); err != nil {
		return o, err
	}
	bad := func(why, do string) (Options, error) {
		return o, &bmc.Error{Kind: bmc.InvalidOption, Op: "options", Sent: bmc.SentNo, Why: why, Do: do}
	}
	d, err := o.interval()
	switch {
	case o.Concurrent < 0 || o.Concurrent > maxConcurrent:
		return bad("concurrent is out of range", "want 1 to 4")
	case err != nil || d < 0 || d > 10*time.Second:
		return bad("interval is no duration, or out of range", `want "0s" to "10s"`)
	case o.Scheme != "" && o.Scheme != SchemeSession && o.Scheme != SchemeBasic:
		return bad("no such scheme", "want session or basic")
	}
	return o, nil
}

func (o Options) interval() (time.Duration, error) {
	if o.Interval == "" {
		return 0, nil
	}
	return time.ParseDuration(o.Interval)
}

// Limits are what a BMC with these options bears.
func (o Options) Limits() bmc.Limits {
	d, _ := o.interval() // checked by parseOptions
	return bmc.Limits{Concurrent: max(o.Concurrent, 1), Interval: d}
}
