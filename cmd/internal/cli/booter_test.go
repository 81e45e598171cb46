package cli_test

import (
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"testing"
)

// asks runs a command that asks the fake as a booter.
func (f *fake) asks(args ...string) ran {
	return f.runIn(nil, "", append(args, "--booter", f.server.URL)...)
}

const accountOf = `{"mac":"02:00:00:00:00:01","state":"enrolling","mode":"rescue","address":"10.0.0.9","revision":7,"heard":true,"client":"pxe efi-x64",
"silences":[{"silence":"image-unstaged","requirement":"BOOT-2","means":"The image is not staged on this booter.","change":"Stage it here, or set another image."},{"silence":"not-pxe","means":"m","change":"c"}],
"choices":[{"origin":"rescue","silence":"image-unset"},{"origin":"enrollment","image":"e\u001b[31m","silence":"image-unstaged"},{"origin":"record","image":"own"}],
"moments":[{"time":"2026-05-01T12:00:00Z","stage":"dhcp","what":"DISCOVER","silence":"image-unstaged","detail":"pxe"},{"time":"2026-05-01T12:00:01Z","stage":"tftp","what":"x","image":"e","detail":"no such file for this machine"},{"time":"2026-05-01T12:00:02Z","stage":"http","what":"boot.ipxe","image":"e"}]}`

func TestWhySilentReads(t *testing.T) {
	f := newFake(t)
	f.answer = func(w http.ResponseWriter, r *http.Request) { reply(w, accountOf) }
	got := f.asks("why-silent", "02-00-00-00-00-01")
	want := `02:00:00:00:00:01: enrolling, mode rescue, 10.0.0.9, as of revision 7
last heard as pxe efi-x64
image-unstaged (BOOT-2)
  The image is not staged on this booter.
  Stage it here, or set another image.
not-pxe
  m
  c

IMAGE OF    IMAGE      FOUND
rescue      -          image-unset
enrollment  e\x1b[31m  image-unstaged
record      own        would be served

TIME                  BY    WHAT       CAME OF IT                     IMAGE
2026-05-01T12:00:00Z  dhcp  DISCOVER   image-unstaged                 -
2026-05-01T12:00:01Z  tftp  x          no such file for this machine  e
2026-05-01T12:00:02Z  http  boot.ipxe  answered                       e
`
	if got.out != want || got.code != 5 || !strings.Contains(got.err, "is not answered: image-unstaged; Stage it here") {
		t.Errorf("%d\n%s\nwant\n%s\n%s", got.code, got.out, want, got.err)
	}
	f.answer = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/why/02:00:00:00:00:01" || r.Method != http.MethodGet || r.Header.Get("Authorization") != "" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		reply(w, `{"mac":"02:00:00:00:00:01","state":"enrolling","silences":[],"choices":[],"moments":[]}`)
	}
	if got := f.asks("why-silent", "02:00:00:00:00:01", "-q", ".served"); got.code != 0 || got.out != "true\n" {
		t.Errorf("%d %s%s", got.code, got.out, got.err)
	}
}

// What answers and is no booter is told, and what a booter refuses is passed on.
func TestBooterThatIsNone(t *testing.T) {
	f := newFake(t)
	for text, want := range map[string]int{"": 7, "<html>": 7, `{"mac":7}`: 7} {
		f.answer = func(w http.ResponseWriter, _ *http.Request) { reply(w, text) }
		if got := f.asks("why-silent", mac); got.code != want || !strings.Contains(got.err, "is it the socket of booterd") {
			t.Errorf("%q: %d %s", text, got.code, got.err)
		}
	}
	f.answer = func(w http.ResponseWriter, _ *http.Request) { refuse(w, 400, "INVALID_INPUT") }
	if got := f.asks("why-silent", mac); got.code != 6 || !strings.Contains(got.err, "told by the fake") {
		t.Errorf("%d %s", got.code, got.err)
	}
	f.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }
	if got := f.asks("boot", "explain", "--packet", "00"); got.code != 7 {
		t.Errorf("%d %s", got.code, got.err)
	}
	f.server.Close()
	if got := f.asks("why-silent", mac); got.code != 7 || !strings.Contains(got.err, "where booterd serves") {
		t.Errorf("%d %s", got.code, got.err)
	}
}

// A packet is sent as it was given, with how it came.
func TestBootExplainSends(t *testing.T) {
	f := newFake(t)
	var body string
	f.answer = func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body = r.Method + " " + r.URL.Path + " " + string(raw)
		reply(w, `{"protocol":"dhcp4","message":"DISCOVER","mac":"02:00:00:00:00:01","flaw":"short","silences":[{"silence":"malformed","requirement":"BOOT-23","means":"M","change":"C"}]}`)
	}
	got := f.asks("boot", "explain", "--packet", "01:0A ff", "--interface", "eth1", "--port", "4011", "--source", "10.0.0.9:68")
	if want := `POST /v1/explain {"packet":"010aff","interface":"eth1","source":"10.0.0.9:68","boot_port":true}`; body != want || got.code != 0 {
		t.Errorf("%s\nwant %s\n%d %s", body, want, got.code, got.err)
	}
	if want := "packet:         dhcp4 DISCOVER\nmac:            02:00:00:00:00:01\nflaw:           short\nwould come to:  silence\nmalformed (BOOT-23)\n  M\n  C\n"; got.out != want {
		t.Errorf("%s\nwant %s", got.out, want)
	}
}

// frames is a capture of UDP datagrams to ports.
func frames(payload string, ports ...uint16) string {
	b := "\xa1\xb2\xc3\xd4\x00\x02\x00\x04" + strings.Repeat("\x00", 8) + "\x00\x04\x00\x00\x00\x00\x00\x01"
	be := binary.BigEndian
	for _, port := range ports {
		u := be.AppendUint16(be.AppendUint16(be.AppendUint16(nil, 68), port), uint16(8+len(payload)))
		u = append(append(u, 0, 0), payload...)
		ip := be.AppendUint16([]byte{0x45, 0}, uint16(20+len(u)))
		ip = append(append(ip, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 9, 10, 0, 0, 1), u...)
		frame := append(append(make([]byte, 12), 8, 0), ip...)
		h := be.AppendUint32(be.AppendUint32(be.AppendUint32(be.AppendUint32(nil, 0), 0), uint32(len(frame))), uint32(len(frame)))
		b += string(h) + string(frame)
	}
	return b
}

// Of a capture the packets for a booter are sent, each with its source and port, and
// those that the capture cut are not.
func TestBootExplainReadsCaptures(t *testing.T) {
	f := newFake(t)
	var bodies []string
	f.answer = func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(raw))
		reply(w, `{"protocol":"dhcp4","message":"REQUEST","silences":[],"kind":"ack","address":"10.0.0.9","image":"i"}`)
	}
	f.write("c.pcap", frames("hi", 53, 67, 68, 4011, 547))
	got := f.asks("boot", "explain", "--packet", "c.pcap", "-q", ".packets[] | [.number, .port, .kind]")
	if got.out != "[2,67,\"ack\"]\n[4,4011,\"ack\"]\n[5,547,\"ack\"]\n" || len(bodies) != 3 {
		t.Errorf("%s%s %q", got.out, got.err, bodies)
	}
	if want := `{"packet":"6869","source":"10.0.0.9:68","boot_port":true}`; bodies[1] != want {
		t.Errorf("%s\nwant %s", bodies[1], want)
	}
	if got := f.asks("boot", "explain", "--packet", "c.pcap"); !strings.Contains(got.out, "2       1970-01-01T00:00:00.000Z  10.0.0.9:68  -    REQUEST  -       ack 10.0.0.9 i\n") {
		t.Errorf("%s%s", got.out, got.err)
	}
	bodies = nil
	whole := frames("hello", 67)
	at := 24 + 8
	cut := whole[:at] + string(binary.BigEndian.AppendUint32(nil, uint32(len(whole)-24-16-2))) + whole[at+4:len(whole)-2]
	f.write("cut.pcap", cut)
	if got := f.asks("boot", "explain", "--packet", "cut.pcap"); got.code != 0 || len(bodies) != 0 || !strings.Contains(got.out, "tcpdump -s 0") {
		t.Errorf("%d %s%s %q", got.code, got.out, got.err, bodies)
	}
	f.write("none.pcap", frames("hi", 53))
	if got := f.asks("boot", "explain", "--packet", "none.pcap"); got.code != 3 {
		t.Errorf("%d %s", got.code, got.err)
	}
}
