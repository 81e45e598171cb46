package booting

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/booting/account"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

// posted posts to a desk's socket.
func posted(t testing.TB, h http.Handler, body []byte) (account.Verdict, int) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/explain", bytes.NewReader(body)))
	var v account.Verdict
	if w.Code == http.StatusOK {
		if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
			t.Fatalf("%v: %s", err, w.Body)
		}
	}
	return v, w.Code
}

// captures is a desk that knows the machines of the captured packets.
func captures(t testing.TB) *Desk {
	return newDesk(t, place(), still, boot("52:54:00:12:34:56", "enrolling", "10.78.0.58"), boot("52:54:00:12:34:57", "enrolling", "10.78.0.59"), boot("52:54:00:12:34:58", "enrolling", "10.78.0.60"))
}

// Every packet of real clients, as the booter's own host has it explained: what the
// reply is, byte by byte, or why there is none.
func TestCapturedPacketsAreExplained(t *testing.T) {
	h := captures(t).Local()
	var b strings.Builder
	labels, packets := captured(t)
	for _, label := range labels {
		if packets[label] == nil {
			continue
		}
		in := account.Packet{Packet: hex.EncodeToString(packets[label]), BootPort: strings.Contains(label, "4011")}
		v, code := posted(t, h, []byte(text(in)))
		if code != http.StatusOK {
			t.Fatalf("%s: %d", label, code)
		}
		fmt.Fprintf(&b, "## %s\n", label)
		for _, s := range v.Silences {
			fmt.Fprintf(&b, "%s is silent: %s (%s)\n", strings.TrimSpace(v.Protocol+" "+v.Message), s.Silence, s.Requirement)
		}
		if len(v.Silences) == 0 {
			fmt.Fprintf(&b, "%s %s of %s: %s %s %s to %s, file %q\n%x\n", v.Protocol, v.Message, v.Client, v.Kind, v.Address, v.Image, v.To, v.File, v.Reply)
		}
		b.WriteString("\n")
	}
	statemachinetest.Golden(t, "testdata/explained.txt", b.String())
}

// What is tried is what an answer then is, and trying leaves no trace.
func TestTryIsTheAnswerAndLeavesNoTrace(t *testing.T) {
	_, packets := captured(t)
	for label, raw := range packets {
		d := captures(t)
		tried := d.Try(raw, booter.Request{Interface: "adm0", Source: came(raw).Source})
		if len(d.Counts()) != 0 || len(d.history.by) != 0 || d.seen.Len() != 0 || len(d.served.Take()) != 0 {
			t.Errorf("%s: trying left a trace", label)
		}
		reply, _, ok := d.Answer(came(raw))
		if ok != (len(tried.Silences) == 0) || ok && (string(reply.Kind) != tried.Kind || reply.Image != tried.Image) {
			t.Errorf("%s: tried %+v, answered %t %+v", label, tried, ok, reply)
		}
		if bytes.Contains(tried.Reply, []byte(d.key.Token(came(raw).MAC))) {
			t.Errorf("%s: the token is in the reply that is shown", label)
		}
	}
}

func TestOtherProtocols(t *testing.T) {
	d := captures(t)
	whole := message(mac(known), 1, pxe...)
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"a cut packet of DHCPv4": {whole[:200], "dhcp4"},
		"its first bytes":        {whole[:4], "dhcp4"},
		"nothing":                {nil, "dhcp4"},
		"solicit":                {[]byte{1, 1, 2, 3, 0, 1, 0, 2, 9, 9}, "dhcp6"},
		"solicit without any":    {[]byte{1, 1, 2, 3}, "dhcp4"},
		"a cut solicit":          {[]byte{1, 1, 2, 3, 0, 1, 0, 9, 9, 9}, "dhcp4"},
		"relayed":                {append(append([]byte{12, 0}, make([]byte, 32)...), 0, 9, 0, 1, 7), "dhcp6"},
		"rrq":                    {[]byte("\x00\x01a\x00octet\x00"), "tftp"},
		"noise":                  {[]byte("GET / HTTP/1.1\r\n\r\n"), "dhcp4"},
	} {
		v := d.Try(c.raw, booter.Request{})
		if len(v.Silences) == 0 || v.Protocol != c.want || (v.Silences[0].Silence == account.Unsupported) != (c.want != "dhcp4") {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// The account of a machine names the rule, and what was considered.
func TestWhy(t *testing.T) {
	d := newDesk(t, place(), still, append(fleet(), boot(numbered(0x66).String(), "enrolling", ""))...)
	arm := message(mac(known), 1, opt(60, []byte("PXEClient:Arch:00011:UNDI:003000")...), opt(93, 0, 11))
	for name, c := range map[string]struct {
		mac   string
		raw   []byte
		state string
		why   string
	}{
		"never heard, served":     {known, nil, "enrolling", ""},
		"never heard, no address": {numbered(0x66).String(), nil, "enrolling", "no-address"},
		"never heard, shut":       {shut, nil, "decommissioned", "decommissioned"},
		"unknown":                 {"02:00:00:00:00:77", nil, "absent", "no-record"},
		"heard and served":        {known, message(mac(known), 1, pxe...), "enrolling", ""},
		"an operating system":     {known, message(mac(known), 1), "enrolling", "not-pxe"},
		"unknown and heard":       {"02:00:00:00:00:77", message(numbered(0x77), 1, pxe...), "absent", "no-record no-address"},
		"no first boot program":   {known, arm, "enrolling", "image-unstaged"},
		"several reasons at once": {shut, message(mac(shut), 1), "decommissioned", "not-pxe decommissioned"},
	} {
		if c.raw != nil {
			d.Answer(came(c.raw))
		}
		a := d.Why(mac(c.mac))
		var why []string
		for _, s := range a.Silences {
			why = append(why, s.Silence)
			if s.Requirement == "" || s.Means == "" || s.Change == "" {
				t.Errorf("%s: %+v", name, s)
			}
		}
		if a.State != c.state || strings.Join(why, " ") != c.why || a.Heard != (c.raw != nil) || a.Revision != 7 {
			t.Errorf("%s: %+v", name, a)
		}
		if c.raw != nil && len(a.Moments) == 0 || strings.Contains(text(a), "null") {
			t.Errorf("%s: %s", name, text(a))
		}
		d.history = newHistory()
	}
	d.Answer(came(arm))
	if a := d.Why(mac(known)); !strings.Contains(a.Silences[0].Means, "efi-arm64") || !strings.Contains(a.Silences[0].Change, "ipxe") {
		t.Errorf("what is missing is not named: %+v", a.Silences)
	}
}

// The socket refuses what is not asked as it should be.
func TestLocalRefuses(t *testing.T) {
	h := newDesk(t, place(), still).Local()
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/v1/why/" + known, "", 200}, {"GET", "/v1/why/x", "", 400}, {"GET", "/v1/why/", "", 404}, {"GET", "/healthz", "", 200},
		{"GET", "/v1/counts", "", 200}, {"GET", "/metrics", "", 200}, {"GET", "/", "", 404}, {"POST", "/v1/explain", "{}", 200},
		{"POST", "/v1/explain", "", 400}, {"POST", "/v1/explain", `{"packet":"0"}`, 400}, {"POST", "/v1/explain", `{"packet":"zz"}`, 400},
		{"POST", "/v1/explain", `{"pocket":"00"}`, 400}, {"POST", "/v1/explain", `{"packet":"` + strings.Repeat("00", account.MaxPacket) + `"}`, 400},
		{"POST", "/v1/explain", `{"packet":"00"} {"packet":"00"}`, 400}, {"POST", "/v1/explain", `{"packet":"00","source":"x"}`, 400},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(c.method, c.path, strings.NewReader(c.body)))
		if w.Code != c.want {
			t.Errorf("%s %s %.40q: %d, want %d: %s", c.method, c.path, c.body, w.Code, c.want, w.Body)
		}
		if w.Code == 400 {
			var p api.Problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Name != "INVALID_INPUT" {
				t.Errorf("%s: %s", c.path, w.Body)
			}
		}
	}
}

// FuzzExplain wants a verdict for any packet, and an answer for any body.
func FuzzExplain(f *testing.F) {
	_, packets := captured(f)
	for _, raw := range packets {
		f.Add(raw)
		f.Add([]byte(text(account.Packet{Packet: hex.EncodeToString(raw)})))
	}
	d := captures(f)
	h := d.Local()
	f.Fuzz(func(t *testing.T, raw []byte) {
		v := d.Try(raw, booter.Request{BootPort: len(raw)%2 == 1})
		if len(v.Silences) == 0 && (v.Kind == "" || len(v.Reply) == 0) {
			t.Fatalf("neither a reply nor a reason: %+v", v)
		}
		if bytes.Contains(v.Reply, []byte(d.key.Token(came(raw).MAC))) {
			t.Fatalf("the token shows: %x", v.Reply)
		}
		if _, code := posted(t, h, raw); code != 200 && code != 400 {
			t.Fatalf("%d", code)
		}
		if len(d.history.by) != 0 || d.seen.Len() != 0 {
			t.Fatal("trying left a trace")
		}
	})
}
