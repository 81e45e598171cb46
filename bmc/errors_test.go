package bmc_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ingotmetal/ingot/bmc"
)

// What may be sent again, by kind and by whether it was sent, and the wire
// name. The second letter of again is for a request that may have been sent, the
// third for one that was answered.
var kinds = []struct {
	kind  bmc.Kind
	again string
	code  string
}{
	{bmc.Unsupports, "nnn", "UNSUPPORTED"},
	{bmc.InvalidOption, "nnn", "INVALID_INPUT"},
	{bmc.Auth, "nnn", "INVALID_CONFIG"},
	{bmc.Forbidden, "nnn", "INVALID_CONFIG"},
	{bmc.Licence, "nnn", "UNSUPPORTED"},
	{bmc.PasswordChange, "nnn", "INVALID_CONFIG"},
	{bmc.Unreachable, "ynn", "UNAVAILABLE"},
	{bmc.PeerIdentity, "nnn", "INVALID_CONFIG"},
	{bmc.Busy, "yny", "UNAVAILABLE"},
	{bmc.Conflict, "nnn", "CONFLICT"},
	{bmc.NotFound, "nnn", "NOT_FOUND"},
	{bmc.Protocol, "nnn", "UNAVAILABLE"},
	{bmc.Untrusted, "nnn", "UNAVAILABLE"},
	{bmc.Indeterminate, "nnn", "UNAVAILABLE"},
	{bmc.NotReached, "nnn", "UNAVAILABLE"},
}

func TestKinds(t *testing.T) {
	for _, tt := range kinds {
		for i, sent := range []bmc.Sent{bmc.SentNo, bmc.SentMaybe, bmc.SentYes} {
			e := &bmc.Error{Kind: tt.kind, Sent: sent}
			if e.Again() != (tt.again[i] == 'y') || e.Code() != tt.code {
				t.Errorf("%s, sent %s: again %v, %s", tt.kind, sent, e.Again(), e.Code())
			}
		}
		if zero := (&bmc.Error{Kind: tt.kind}); zero.Again() != (tt.again[0] == 'y') {
			t.Errorf("%s: an unset Sent does not count as no", tt.kind)
		}
	}
	var listed []string
	for _, tt := range kinds {
		listed = append(listed, string(tt.kind))
	}
	if declared := constants(t, "Kind"); !sameSet(declared, listed) {
		t.Errorf("the table has %v, the package %v", listed, declared)
	}
}

func TestErrorText(t *testing.T) {
	tests := []struct {
		e    *bmc.Error
		want string
	}{
		{&bmc.Error{Kind: bmc.Auth, Op: "open"}, "bmc: open: auth"},
		{&bmc.Error{Kind: bmc.Busy, Op: "power off", Why: "SYS518", After: 30 * time.Second}, "bmc: power off: busy: SYS518; try again in 30s"},
		{&bmc.Error{Kind: bmc.Conflict, Op: "power reset", State: bmc.Off, Do: "turn it on"}, "bmc: power reset: conflict (the machine is off); turn it on"},
		{&bmc.Error{Kind: bmc.Indeterminate, Op: "power nmi", Sent: bmc.SentMaybe}, "bmc: power nmi: indeterminate (it may have been sent)"},
		{&bmc.Error{Kind: bmc.Protocol, Op: "read\n", Why: "<html>\r\n\x1b[31m no\u202e", Do: "see\nthis"}, "bmc: read: protocol: <html> [31m no; see this"},
	}
	for _, tt := range tests {
		if got := tt.e.Error(); got != tt.want {
			t.Errorf("%q\nwant %q", got, tt.want)
		}
	}
	wrapped := fmt.Errorf("machine 7: %w", &bmc.Error{Kind: bmc.Unreachable, Op: "open", Err: context.DeadlineExceeded})
	if !errors.Is(wrapped, context.DeadlineExceeded) {
		t.Error("the cause is not found")
	}
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "plain", "a\nb\x00c", strings.Repeat("ä", 400), strings.Repeat("\xff", 600), "  a   b ", "\u202etxt", strings.Repeat("x", bmc.MaxWhy), strings.Repeat("x", bmc.MaxWhy+1)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := bmc.Quote(s)
		if len(q) > bmc.MaxWhy || !utf8.ValidString(q) || strings.ContainsFunc(q, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x2028 || r == 0x202e }) {
			t.Errorf("%q becomes %q", s, q)
		}
		if bmc.Quote(q) != q {
			t.Errorf("%q is not the end of it: %q", q, bmc.Quote(q))
		}
		plain := !strings.ContainsFunc(s, func(r rune) bool { return r < '!' || r > '~' })
		if plain && len(s) <= bmc.MaxWhy && q != s {
			t.Errorf("%q is changed to %q", s, q)
		}
	})
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}
