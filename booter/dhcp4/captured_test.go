package dhcp4

import (
	"encoding/hex"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/booter"
)

// Every captured packet of DHCPv4 has its reply, byte for byte and option by option, or
// the reason of its silence. DHCPv6 and TFTP are malformed here, not misread.
func TestChecklistOfCapturedPackets(t *testing.T) {
	labels, packets := captured(t)
	var b strings.Builder
	for _, label := range labels {
		t.Run(label, func(t *testing.T) {
			raw := packets[label]
			if strings.Contains(label, "tftp") || strings.Contains(label, "dhcp6") {
				if _, why := answer(t, site(), enrolling(), came(raw, "10.78.0.58:1234")); len(raw) == 0 || why != booter.Malformed {
					t.Errorf("%d bytes: %q", len(raw), why)
				}
				return
			}
			fmt.Fprintf(&b, "## %s\n%s\n\n", label, replied(t, label, raw))
		})
	}
	golden(t, "testdata/replies.txt", b.String())
}

// replied is the reply to a captured packet, or why there is none.
func replied(t *testing.T, label string, raw []byte) string {
	source := "0.0.0.0:68"
	if strings.Contains(label, "binl") {
		source = "10.78.0.60:4011"
	}
	p, rec := came(raw, source), enrolling()
	if p.Requested.IsValid() {
		rec.Address = p.Requested
	}
	out, why := answer(t, site(), rec, p)
	if why != "" {
		return fmt.Sprintf("silence: %s", why)
	}
	return hex.EncodeToString(out) + "\n" + describe(t, out)
}

// describe reads a reply by the same rules as a request.
func describe(t *testing.T, out []byte) string {
	t.Helper()
	var o options
	if flaw := o.read(out); flaw != "" {
		t.Errorf("the reply is %s", flaw)
	}
	var lines []string
	for code := range 256 {
		if v, ok := o.get(byte(code)); ok {
			lines = append(lines, fmt.Sprintf("  %3d %s", code, printable(v)))
		}
	}
	sort.Strings(lines)
	file, _, _ := strings.Cut(string(out[offFile:offCookie]), "\x00")
	return fmt.Sprintf("  yiaddr %d.%d.%d.%d siaddr %d.%d.%d.%d file %q, %d bytes\n%s", out[16], out[17], out[18], out[19], out[20], out[21], out[22], out[23], file, len(out), strings.Join(lines, "\n"))
}

func printable(v []byte) string {
	for i, c := range v {
		if (c < ' ' || c > '~') && (i < len(v)-1 || i < 4) {
			return hex.EncodeToString(v)
		}
	}
	return fmt.Sprintf("%q", v)
}
