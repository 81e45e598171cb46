package liveness_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/liveness"
	"pgregory.net/rapid"
)

func TestLastSeen(t *testing.T) {
	const never = liveness.Never
	tests := []struct {
		name                                     string
		flushed, disconnected, connected, issued liveness.Instant
		want                                     liveness.Instant
	}{
		{"nothing is known", never, never, never, never, never},
		{"joined, no hello yet", never, never, never, sec(5), sec(5)},
		{"connected, no flush yet", never, never, sec(7), sec(5), sec(7)},
		{"a certificate renewed later does not count", never, never, sec(7), sec(50), sec(7)},
		{"flushed", sec(20), never, sec(7), sec(5), sec(20)},
		{"a beat was flushed after the end was noticed", sec(20), sec(19), sec(7), sec(5), sec(20)},
		{"it ended after its last flush", sec(20), sec(29), sec(7), sec(5), sec(29)},
		{"ended without a flush", never, sec(9), sec(7), sec(5), sec(9)},
		{"flushed comes before connected, whatever is later", sec(6), never, sec(7), sec(5), sec(6)},
	}
	for _, tt := range tests {
		o := liveness.Observation{Flushed: tt.flushed, Disconnected: tt.disconnected, Connected: tt.connected, Issued: tt.issued}
		if got := o.LastSeen(); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestOnlyUnreachableAndLostKeepWorkAway(t *testing.T) {
	for s, want := range map[liveness.State]bool{
		"": false, liveness.Connected: false, liveness.Disconnected: false, "asleep": false,
		liveness.Unreachable: true, liveness.Lost: true,
	} {
		if s.NoSchedule() != want {
			t.Errorf("%q keeps work away: %t", s, !want)
		}
	}
}

func TestPoolMayLoseNodesByKindAlone(t *testing.T) {
	tests := []struct {
		pool liveness.Pool
		want string
	}{
		{liveness.Pool{}, ""},
		{liveness.Pool{Kind: "metal"}, ""},
		{liveness.Pool{Kind: liveness.Provider}, ""},
		{liveness.Pool{Kind: liveness.Provider, LostAfter: time.Hour}, ""},
		{liveness.Pool{Kind: liveness.VPSHost, LostAfter: 1}, ""},
		{liveness.Pool{Kind: "metal", LostAfter: time.Hour}, "unset outside provider and vps-host pools"},
		{liveness.Pool{Kind: "metal", LostAfter: -1}, "unset outside provider and vps-host pools"},
		{liveness.Pool{Kind: "", LostAfter: 1}, "unset outside provider and vps-host pools"},
		{liveness.Pool{Kind: "PROVIDER", LostAfter: 1}, "unset outside provider and vps-host pools"},
		{liveness.Pool{Kind: liveness.VPSHost, LostAfter: -1}, "0 or more"},
	}
	for _, tt := range tests {
		err := tt.pool.Validate()
		var inv *liveness.Invalid
		switch {
		case tt.want == "":
			if err != nil {
				t.Errorf("%+v: %v", tt.pool, err)
			}
		case !errors.As(err, &inv) || inv.Want != tt.want || inv.Code() != "INVALID_INPUT" || inv.Req != "PLACE-6":
			t.Errorf("%+v: %v, want %q", tt.pool, err, tt.want)
		}
	}
}

// observation draws any node as an observer at now may know it.
func observation(t *rapid.T, now liveness.Instant) liveness.Observation {
	at := rapid.OneOf(
		rapid.Just(liveness.Never),
		rapid.Custom(func(t *rapid.T) liveness.Instant {
			return now.Add(-time.Duration(rapid.IntRange(-1, 500).Draw(t, "age")) * time.Second)
		}),
	)
	kind := rapid.SampledFrom([]liveness.PoolKind{"", "metal", liveness.Provider, liveness.VPSHost})
	o := liveness.Observation{
		State: rapid.SampledFrom(states).Draw(t, "state"), Since: at.Draw(t, "since"),
		Open: rapid.Bool().Draw(t, "open"), AsOf: at.Draw(t, "as of"),
		Flushed: at.Draw(t, "flushed"), Disconnected: at.Draw(t, "disconnected"),
		Connected: at.Draw(t, "connected"), Issued: at.Draw(t, "issued"),
		Gateway: rapid.SampledFrom(gateways).Draw(t, "gateway"),
		Domain:  liveness.Domain(rapid.IntRange(0, 2).Draw(t, "domain")),
	}
	if rapid.Bool().Draw(t, "pooled") {
		o.Pool = &liveness.Pool{Kind: kind.Draw(t, "kind"), LostAfter: time.Duration(rapid.IntRange(0, 300).Draw(t, "lost after")) * time.Second}
	}
	return o
}

var (
	states   = []liveness.State{"", liveness.Connected, liveness.Disconnected, liveness.Unreachable, liveness.Lost, "asleep"}
	gateways = []string{"", "gw-1", "gw-2"}
)
