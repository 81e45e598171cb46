package cli

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/internal/booting/account"
	"github.com/ingotmetal/ingot/cmd/internal/cli/pcap"
)

// The bounds of what is explained at once.
const (
	maxCapture = 64 << 20 // bytes
	maxPackets = 10_000
)

// dhcp6Port is where clients of DHCPv6 send to (RFC 8415 section 7.2).
const dhcp6Port = 547

// stamp is how times of packets are written.
const stamp = "2006-01-02T15:04:05.000Z"

// how are the flags that say how a packet came.
type how struct {
	packet, via, source string
	port                uint16
}

// A tried is a packet and what it would come to.
type tried struct {
	Number int       `json:"number,omitempty"` // in the capture
	Time   time.Time `json:"time,omitzero"`
	Source string    `json:"source,omitempty"`
	Port   uint16    `json:"port"`
	account.Verdict
}

// bootExplain dry-runs packets against the booter on this host.
func (a *app) bootExplain() *cobra.Command {
	var h how
	c := a.booterLeaf("explain", "Say what the booter here would answer to packets, and why", "ingot boot explain --packet discover.pcap --interface eth1",
		func(ctx context.Context, b *hostSocket, _ []string) error {
			packets, broken, err := a.packets(h)
			if err != nil {
				return err
			}
			all := []tried{}
			for _, p := range packets {
				t, err := b.try(ctx, p, h)
				if err != nil {
					return err
				}
				all = append(all, t)
			}
			if err := a.showTried(ctx, all); err != nil {
				return err
			}
			return broken
		})
	c.Args = exactly(0)
	f := c.Flags()
	f.StringVar(&h.packet, "packet", "", "the `PACKET`: its UDP payload in hexadecimal, a file with that or a capture (pcap), or -")
	f.StringVar(&h.via, "interface", "", "the `NAME` of the booter's interface that it comes by; default: its first")
	f.Uint16Var(&h.port, "port", booter.ServerPort, "the `PORT` that it goes to, 67 or 4011; a capture tells itself")
	f.StringVar(&h.source, "source", "", "the `IP:PORT` that it comes from; a capture tells itself")
	return c
}

// packets reads what --packet names. broken is why the rest could not be read.
func (a *app) packets(h how) (all []pcap.Datagram, broken, err error) {
	one := pcap.Datagram{}
	if h.packet == "" {
		return nil, nil, usage("--packet is missing").then("give hexadecimal digits, a file, or - for standard input")
	}
	if h.port != booter.ServerPort && h.port != booter.BootPort {
		return nil, nil, usage("--port must be 67 or 4011")
	}
	if one.Source, err = netip.ParseAddrPort(h.source); h.source != "" && err != nil {
		return nil, nil, usage("--source must be IP:PORT, such as 0.0.0.0:68")
	}
	one.Dest = netip.AddrPortFrom(netip.IPv4Unspecified(), h.port)
	raw, ok := digits(h.packet)
	if !ok {
		if raw, err = a.capture(h.packet); err != nil {
			return nil, nil, err
		}
		if pcap.Is(raw) {
			return captured(raw)
		}
		if raw, ok = digits(string(raw)); !ok {
			return nil, nil, usage("%s is neither hexadecimal nor a capture of libpcap", quote(h.packet)).then("tcpdump -w FILE udp port 67 or udp port 4011 makes one")
		}
	}
	one.Payload = raw
	return []pcap.Datagram{one}, nil, nil
}

// capture reads a file, which may be larger than one that is typed.
func (a *app) capture(name string) ([]byte, error) {
	if _, err := os.Stat(a.path(name)); name != "-" && err != nil {
		return nil, usage("%s is neither hexadecimal nor a file that can be read", quote(name))
	}
	return a.slurp(name, maxCapture)
}

// digits reads hexadecimal, with white space and colons between.
func digits(text string) ([]byte, bool) {
	text = strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "", ":", "").Replace(text)
	raw, err := hex.DecodeString(text)
	return raw, err == nil && len(raw) > 0
}

// captured are the packets of a capture that are for a booter.
func captured(raw []byte) (all []pcap.Datagram, broken, err error) {
	for d, err := range pcap.Read(raw) {
		switch port := d.Dest.Port(); {
		case err != nil && len(all) == 0:
			return nil, nil, err
		case err != nil:
			return all, err, nil
		case port != booter.ServerPort && port != booter.BootPort && port != dhcp6Port:
		case len(all) == maxPackets:
			return all, usage("the capture has more than %d packets for a booter", maxPackets).then("cut it: editcap -r IN OUT FIRST-LAST"), nil
		default:
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return nil, nil, &Refusal{"the capture has no packet for UDP port 67 or 4011", "", "NOT_FOUND"}
	}
	return all, nil, nil
}

// try asks the booter what it would do.
func (b *hostSocket) try(ctx context.Context, d pcap.Datagram, h how) (tried, error) {
	t := tried{Number: d.Number, Time: d.Time, Port: d.Dest.Port()}
	if d.Source.IsValid() {
		t.Source = d.Source.String()
	}
	if d.Cut {
		t.Verdict = account.Verdict{Protocol: "cut", Silences: []account.Silence{{Silence: "cut", Means: "The capture has only the beginning of this packet.", Change: "Capture whole packets: tcpdump -s 0."}}}
		return t, nil
	}
	in := account.Packet{Packet: hex.EncodeToString(d.Payload), Interface: h.via, Source: d.Source, BootPort: d.Dest.Port() == booter.BootPort}
	return t, b.ask(ctx, http.MethodPost, "/v1/explain", in, &t.Verdict)
}

func (a *app) showTried(ctx context.Context, all []tried) error {
	if a.structured() {
		return a.value(ctx, "boot.explain", must(map[string]any{"packets": all}))
	}
	if len(all) == 1 {
		return a.print(all[0].page())
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "PACKET\tTIME\tFROM\tMAC\tMESSAGE\tCLIENT\tWOULD COME TO")
	for _, t := range all {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", t.Number, t.Time.Format(stamp), t.Source, clean(cmp.Or(t.MAC, "-")), clean(cmp.Or(t.Message, t.Protocol)), clean(cmp.Or(t.Client, "-")), clean(t.verdict()))
	}
	_ = w.Flush()
	return a.print(a.heading(trimmed(b.String())))
}

// verdict is what a packet would come to, in a few words.
func (t tried) verdict() string {
	if len(t.Silences) > 0 {
		return t.Silences[0].Silence
	}
	return strings.TrimSpace(strings.Join([]string{t.Kind, t.Address, t.Image}, " "))
}

// page is one packet in every detail.
func (t tried) page() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	reply := ""
	if len(t.Reply) > 0 {
		reply = hex.EncodeToString(t.Reply)
	}
	comes, captured := t.verdict(), ""
	if len(t.Silences) > 0 {
		comes = "silence"
	}
	if t.Number > 0 {
		captured = fmt.Sprintf("packet %d at %s from %s", t.Number, t.Time.Format(stamp), t.Source)
	}
	for _, l := range [][2]string{{"captured", captured}, {"packet", strings.TrimSpace(t.Protocol + " " + t.Message)}, {"mac", t.MAC}, {"client", t.Client}, {"flaw", t.Flaw},
		{"would come to", comes}, {"file", t.File}, {"sent to", t.To}, {"reply", reply}} {
		if l[1] != "" {
			fmt.Fprintf(w, "%s:\t%s\n", l[0], clean(l[1]))
		}
	}
	_ = w.Flush()
	return trimmed(b.String()) + silences(t.Silences, "")
}
