package tftp

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// captured returns the requests of real firmware by name.
func captured(t testing.TB) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile("testdata/requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for line := range strings.Lines(string(text)) {
		name, digits, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || name == "#" {
			continue
		}
		if out[name], err = hex.DecodeString(digits); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// rrq encodes a read request.
func rrq(name, mode string, options ...string) []byte {
	return []byte("\x00\x01" + strings.Join(append([]string{name, mode}, options...), "\x00") + "\x00")
}

func TestParseRequest(t *testing.T) {
	want := asked{opRead, "boot.efi", "octet", []option{{"blksize", "1468"}, {"TSize", "0"}}}
	whole := rrq("boot.efi", "octet", "blksize", "1468", "TSize", "0")
	for name, c := range map[string]struct {
		b    []byte
		want asked
	}{
		"whole":                   {whole, want},
		"without the last NUL":    {whole[:len(whole)-1], want},
		"padded":                  {append(slices.Clone(whole), 0, 0, 0, 0), want},
		"an option without value": {append(slices.Clone(whole), "timeout\x00"...), want},
		"half an option":          {append(slices.Clone(whole), "time"...), want},
		"no options":              {rrq("a", "octet"), asked{opRead, "a", "octet", nil}},
		"mode without NUL":        {rrq("a", "octet")[:9], asked{opRead, "a", "octet", nil}},
		"empty name":              {rrq("", "octet"), asked{opRead, "", "octet", nil}},
		"write":                   {[]byte("\x00\x02a\x00octet\x00"), asked{opWrite, "a", "octet", nil}},
	} {
		got, err := parseRequest(c.b)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func TestMalformedRequests(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty":       nil,
		"one byte":    {0},
		"opcode only": {0, 1},
		"no mode":     []byte("\x00\x01boot.efi\x00"),
		"no NUL":      []byte("\x00\x01boot.efi"),
		"an ACK":      ack(1),
		"an ERROR":    appendError(nil, 0, "x"),
		"too long":    rrq(strings.Repeat("a", maxRequest), "octet"),
	} {
		if got, err := parseRequest(b); err == nil {
			t.Errorf("%s is read as %+v", name, got)
		} else if m, ok := err.(*Malformed); !ok || m.Code() != "INVALID_INPUT" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestManyOptionsAreCut(t *testing.T) {
	a, err := parseRequest(rrq("a", "octet", strings.Split(strings.Repeat("x,1,", 40)+"x,1", ",")...))
	if err != nil || len(a.options) != maxOptions {
		t.Errorf("%d options, %v", len(a.options), err)
	}
}

// What firmware really sends is understood whole.
func TestCaptured(t *testing.T) {
	all := captured(t)
	for name, want := range map[string]string{
		"edk2-size":      "tsize=5000 blksize=1468 windowsize=4",
		"edk2":           "blksize=1468 windowsize=4",
		"edk2-ipv6-size": "tsize=5000 blksize=1228 windowsize=4",
		"edk2-ipv6":      "blksize=1228 windowsize=4",
		"ipxe":           "blksize=1432 tsize=5000",
	} {
		a, err := parseRequest(all[name])
		if err != nil || a.op != opRead || a.name != "boot.efi" || a.mode != "octet" {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
		if got := spelled(negotiate(a.options, 5000, 1468).oack); got != want {
			t.Errorf("%s is answered %s, want %s", name, got, want)
		}
	}
	if len(all) != 5 {
		t.Errorf("%d packets were captured", len(all))
	}
}

func spelled(options []option) string {
	var all []string
	for _, o := range options {
		all = append(all, o.name+"="+o.value)
	}
	return strings.Join(all, " ")
}

func TestParseAckAndError(t *testing.T) {
	if n, ok := parseAck([]byte{0, 4, 0xff, 0xfe, 0, 0}); !ok || n != 0xfffe {
		t.Errorf("a padded ACK is %d, %t", n, ok)
	}
	if _, ok := parseAck([]byte{0, 4, 1}); ok {
		t.Error("half an ACK is one")
	}
	for b, want := range map[string]ClientError{
		"\x00\x05\x00\x08User aborted\x00":            {8, "User aborted"},
		"\x00\x05\x00\x00no NUL":                      {0, "no NUL"},
		"\x00\x05\x00\x03":                            {3, ""},
		"\x00\x05\x00\x00" + strings.Repeat("x", 400): {0, strings.Repeat("x", maxText)},
	} {
		if got, ok := parseError([]byte(b)); !ok || *got != want {
			t.Errorf("%q is %+v", b, got)
		}
	}
	if _, ok := parseError([]byte{0, 5, 0}); ok {
		t.Error("half an ERROR is one")
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("a", maxName)
	for sent, want := range map[string]string{
		"boot.efi":                     "boot.efi",
		"/boot.efi":                    "boot.efi",
		`\EFI\BOOT\grubx64.efi`:        "EFI/BOOT/grubx64.efi",
		"//a///b":                      "a/b",
		`\\a\/b`:                       "a/b",
		"pxelinux.cfg/01-52-54":        "pxelinux.cfg/01-52-54",
		"netboot.xyz.kpxe\xff\xff\xff": "netboot.xyz.kpxe", // old ROMs, netbootxyz/netboot.xyz#1198
		"/" + long:                     long,
		"..a/b..":                      "..a/b..",
		"grub/ä":                       "grub/ä",
	} {
		if got, err := localName(sent); err != nil || got != want {
			t.Errorf("%q is %q, %v", sent, got, err)
		}
	}
	for sent, want := range map[string]uint16{
		"":               errNotFound,
		"/":              errNotFound,
		"///":            errNotFound,
		".":              errNotFound,
		"./a":            errNotFound,
		"a/":             errNotFound,
		"a\x01b":         errNotFound,
		"a\nb":           errNotFound,
		"a\x7f":          errNotFound,
		"a\xffb":         errNotFound,
		"\xff":           errNotFound,
		"a\u0085":        errNotFound,
		long + "a":       errNotFound,
		"..":             errDenied,
		"../etc/passwd":  errDenied,
		"/../etc/passwd": errDenied,
		`..\..\secret`:   errDenied,
		`a\..\b`:         errDenied,
		"a/../../b":      errDenied,
		"a//..//b":       errDenied,
		"a/..\xff":       errDenied,
	} {
		if got, err := localName(sent); err == nil || err.Number != want {
			t.Errorf("%q is %q, %v", sent, got, err)
		}
	}
}

func TestNegotiate(t *testing.T) {
	for asked, want := range map[string]struct {
		oack          string
		block, window int
	}{
		"":                                       {"", 512, 1},
		"blksize=1468":                           {"blksize=1468", 1468, 1},
		"blksize=9000":                           {"blksize=1468", 1468, 1},
		"blksize=70000":                          {"blksize=1468", 1468, 1},
		"blksize=8":                              {"blksize=8", 8, 1},
		"blksize=7":                              {"", 512, 1},
		"blksize=-8":                             {"", 512, 1},
		"blksize=":                               {"", 512, 1},
		"blksize=1e3":                            {"", 512, 1},
		"blksize=99999999999999999999":           {"", 512, 1},
		"BlkSize=1000":                           {"BlkSize=1000", 1000, 1},
		"blksize=1000 BLKSIZE=8":                 {"blksize=1000", 1000, 1},
		"windowsize=4":                           {"windowsize=4", 512, 4},
		"windowsize=65535":                       {"windowsize=64", 512, 64},
		"windowsize=65536":                       {"", 512, 1},
		"windowsize=0":                           {"", 512, 1},
		"timeout=255":                            {"timeout=255", 512, 1},
		"timeout=0":                              {"", 512, 1},
		"timeout=256":                            {"", 512, 1},
		"tsize=0":                                {"tsize=123456", 512, 1},
		"tsize=77":                               {"tsize=123456", 512, 1},
		"multicast= blksize2=1024 rollover=0":    {"", 512, 1},
		"tsize=0 blksize=1428 x=y windowsize=16": {"tsize=123456 blksize=1428 windowsize=16", 1428, 16},
		"utimeout=1000000 blksize=1024 timeout=250": {"blksize=1024 timeout=250", 1024, 1},
	} {
		var options []option
		for o := range strings.FieldsSeq(asked) {
			name, value, _ := strings.Cut(o, "=")
			options = append(options, option{name, value})
		}
		got := negotiate(options, 123456, 1468)
		if spelled(got.oack) != want.oack || got.block != want.block || got.window != want.window {
			t.Errorf("%q: %s with %d x %d", asked, spelled(got.oack), got.window, got.block)
		}
	}
}

// A window fits its buffer, in whatever order it was asked for.
func TestWindowsFitTheBuffer(t *testing.T) {
	for _, options := range [][]option{
		{{"windowsize", "64"}, {"blksize", "65464"}}, {{"blksize", "65464"}, {"windowsize", "64"}},
	} {
		got := negotiate(options, 1<<30, maxBlock)
		if got.window != 4 || !strings.Contains(spelled(got.oack), "windowsize=4") || got.block != 65464 {
			t.Errorf("%+v", got)
		}
		if n := len(newFrames(nil, 1<<30, got).buf); n > maxBuffer {
			t.Errorf("a buffer of %d bytes", n)
		}
	}
}

func FuzzRequest(f *testing.F) {
	for _, b := range captured(f) {
		f.Add(b)
	}
	f.Add(rrq(`\..\a`, "NETASCII", "windowsize", "0"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parseRequest(b)
		if err != nil {
			return
		}
		if name, refused := localName(a.name); refused == nil {
			if !fs.ValidPath(name) || len(name) > maxName || strings.ContainsAny(name, "\x00\n\\") || slices.Contains(strings.Split(name, "/"), "..") {
				t.Fatalf("%q passes", name)
			}
		}
		n := negotiate(a.options, 1<<40, 1468)
		if n.block < minBlock || n.block > 1468 || n.window < 1 || n.window > maxWindow || n.block*n.window > maxBuffer {
			t.Fatalf("%+v", n)
		}
		if oack := appendOACK(nil, n.oack); len(oack) > maxRequest+32 {
			t.Fatalf("an OACK of %d bytes for a request of %d", len(oack), len(b))
		}
	})
}

func FuzzReply(f *testing.F) {
	f.Add(ack(7))
	f.Add(appendError(nil, 8, "no"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, isAck := parseAck(b)
		e, isError := parseError(b)
		switch {
		case isAck && isError:
			t.Fatal("both")
		case isAck && !bytes.HasPrefix(b, ack(int64(n))):
			t.Fatalf("%x is no ACK of %d", b, n)
		case isError && (len(e.Text) > maxText || strings.Contains(e.Text, "\x00")):
			t.Fatalf("%x says %q", b, e.Text)
		}
	})
}
