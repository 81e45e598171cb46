package tftp

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
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

func TestChecklistOfRequests(t *testing.T) {
	want := asked{opRead, "boot.efi", "octet", []option{{"blksize", "1468"}, {"TSize", "0"}}}
	whole := rrq("boot.efi", "octet", "blksize", "1468", "TSize", "0")
	for name, c := range map[string]struct {
		b    []byte
		want asked
	}{
		"a whole request":                       {whole, want},
		"a missing last NUL is tolerated":       {whole[:len(whole)-1], want},
		"padding is no harm":                    {append(slices.Clone(whole), 0, 0, 0, 0), want},
		"an option without a value is not read": {append(slices.Clone(whole), "timeout\x00"...), want},
		"half an option is not read":            {append(slices.Clone(whole), "time"...), want},
		"no options":                            {rrq("a", "octet"), asked{opRead, "a", "octet", nil}},
		"a mode without its NUL is read":        {rrq("a", "octet")[:9], asked{opRead, "a", "octet", nil}},
		"empty name":                            {rrq("", "octet"), asked{opRead, "", "octet", nil}},
		"a write is read, to be refused":        {[]byte("\x00\x02a\x00octet\x00"), asked{opWrite, "a", "octet", nil}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := parseRequest(c.b); err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestChecklistOfMalformedRequests(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty":                                  nil,
		"one byte":                               {0},
		"opcode only":                            {0, 1},
		"no mode":                                []byte("\x00\x01boot.efi\x00"),
		"a name without its NUL, and so no mode": []byte("\x00\x01boot.efi"),
		"an ACK":                                 ack(1),
		"an ERROR":                               appendError(nil, 0, "x"),
		"too long":                               rrq(strings.Repeat("a", maxRequest), "octet"),
	} {
		t.Run(name+": malformed, and silence", func(t *testing.T) {
			if got, err := parseRequest(b); err == nil {
				t.Errorf("it is read as %+v", got)
			} else if m, ok := err.(*Malformed); !ok || m.Code() != "INVALID_INPUT" {
				t.Error(err)
			}
		})
	}
}

func TestManyOptionsAreCut(t *testing.T) {
	a, err := parseRequest(rrq("a", "octet", strings.Split(strings.Repeat("x,1,", 40)+"x,1", ",")...))
	if err != nil || len(a.options) != maxOptions {
		t.Errorf("%d options, %v", len(a.options), err)
	}
}

// What firmware really sends is understood whole.
func TestChecklistOfCapturedRequests(t *testing.T) {
	all := captured(t)
	for name, want := range map[string]string{
		"edk2-size":      "tsize=5000 blksize=1468 windowsize=4",
		"edk2":           "blksize=1468 windowsize=4",
		"edk2-ipv6-size": "tsize=5000 blksize=1228 windowsize=4",
		"edk2-ipv6":      "blksize=1228 windowsize=4",
		"ipxe":           "blksize=1432 tsize=5000",
	} {
		t.Run("OACK to firmware as captured: "+name, func(t *testing.T) {
			a, err := parseRequest(all[name])
			if err != nil || a.op != opRead || a.name != "boot.efi" || a.mode != "octet" {
				t.Errorf("%+v, %v", a, err)
			}
			if got := spelled(negotiate(a.options, 5000, 1468).oack); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
	if len(all) != 5 {
		t.Errorf("%d packets were captured", len(all))
	}
	text, err := os.ReadFile("../dhcp4/testdata/packets.txt") // of one capture with these
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(text)) {
		if raw, err := hex.DecodeString(strings.TrimSpace(line)); err == nil && opcode(raw) == opRead {
			seen++
			if !slices.ContainsFunc(slices.Collect(maps.Values(all)), func(b []byte) bool { return bytes.Equal(b, raw) }) {
				t.Errorf("%q has no case here", raw)
			}
		}
	}
	if seen != 7 {
		t.Errorf("%d requests are in the capture", seen)
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

func TestChecklistOfNames(t *testing.T) {
	long := strings.Repeat("a", maxName)
	for name, c := range map[string][2]string{
		"a plain name":                           {"boot.efi", "boot.efi"},
		"a leading slash goes":                   {"/boot.efi", "boot.efi"},
		"backslashes become slashes":             {`\EFI\BOOT\grubx64.efi`, "EFI/BOOT/grubx64.efi"},
		"double slashes become one":              {"//a///b", "a/b"},
		"backslashes and slashes together":       {`\\a\/b`, "a/b"},
		"a folder":                               {"pxelinux.cfg/01-52-54", "pxelinux.cfg/01-52-54"},
		"bytes 0xff behind the name are cut off": {"netboot.xyz.kpxe\xff\xff\xff", "netboot.xyz.kpxe"}, // netbootxyz/netboot.xyz#1198
		"the longest name":                       {"/" + long, long},
		"dots within an element":                 {"..a/b..", "..a/b.."},
		"letters of other scripts":               {"grub/ä", "grub/ä"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := localName(c[0]); err != nil || got != c[1] {
				t.Errorf("%q is %q, %v", c[0], got, err)
			}
		})
	}
	for name, all := range map[string][]string{
		"no local path gets ERROR 1":                     {"", "/", "///", ".", "./a", "a/", long + "a"},
		"control characters and stray bytes get ERROR 1": {"a\x01b", "a\nb", "a\x7f", "a\xffb", "\xff", "a\u0085"},
	} {
		t.Run(name, func(t *testing.T) { refused(t, errNotFound, all) })
	}
	t.Run("a way out, by .. in any spelling, gets ERROR 2", func(t *testing.T) {
		refused(t, errDenied, []string{"..", "../etc/passwd", "/../etc/passwd", `..\..\secret`, `a\..\b`, "a/../../b", "a//..//b", "a/..\xff"})
	})
}

func refused(t *testing.T, number uint16, names []string) {
	for _, sent := range names {
		if got, err := localName(sent); err == nil || err.Number != number {
			t.Errorf("%q is %q, %v", sent, got, err)
		}
	}
}

func TestChecklistOfOptions(t *testing.T) {
	for name, c := range map[string]struct {
		asked, oack   string
		block, window int
	}{
		"no option asked: no OACK, 512 bytes, lockstep": {"", "", 512, 1},
		"blksize as asked":                                           {"blksize=1468", "blksize=1468", 1468, 1},
		"blksize at most the MTU less 32":                            {"blksize=9000", "blksize=1468", 1468, 1},
		"blksize over 65464 is cut as well":                          {"blksize=70000", "blksize=1468", 1468, 1},
		"blksize of 8, the least":                                    {"blksize=8", "blksize=8", 8, 1},
		"blksize under 8 counts as not asked":                        {"blksize=7", "", 512, 1},
		"blksize that is negative counts as not asked":               {"blksize=-8", "", 512, 1},
		"blksize without a value counts as not asked":                {"blksize=", "", 512, 1},
		"blksize that is no number counts as not asked":              {"blksize=1e3", "", 512, 1},
		"blksize without end counts as not asked":                    {"blksize=99999999999999999999", "", 512, 1},
		"option names in any case, echoed as the client spells them": {"BlkSize=1000", "BlkSize=1000", 1000, 1},
		"an option twice counts once, in any case":                   {"blksize=1000 BLKSIZE=8", "blksize=1000", 1000, 1},
		"windowsize as asked, 4 as EDK2 does":                        {"windowsize=4", "windowsize=4", 512, 4},
		"windowsize over 64 is clamped, as some clients fail there":  {"windowsize=65535", "windowsize=64", 512, 64},
		"windowsize over 65535 counts as not asked":                  {"windowsize=65536", "", 512, 1},
		"windowsize of 0 counts as not asked":                        {"windowsize=0", "", 512, 1},
		"timeout of 1 to 255 is echoed":                              {"timeout=255", "timeout=255", 512, 1},
		"timeout of 0 counts as not asked":                           {"timeout=0", "", 512, 1},
		"timeout of 256 counts as not asked":                         {"timeout=256", "", 512, 1},
		"tsize=0 is answered with the size":                          {"tsize=0", "tsize=123456", 512, 1},
		"tsize of any value is answered with the size":               {"tsize=77", "tsize=123456", 512, 1},
		"tsize that was not asked is not in the OACK":                {"blksize=1428", "blksize=1428", 1428, 1},
		"unknown options are not in the OACK":                        {"multicast= blksize2=1024 rollover=0", "", 512, 1},
		"known options among unknown ones, in their order":           {"tsize=0 blksize=1428 x=y windowsize=16", "tsize=123456 blksize=1428 windowsize=16", 1428, 16},
		"utimeout is unknown":                                        {"utimeout=1000000 blksize=1024 timeout=250", "blksize=1024 timeout=250", 1024, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var options []option
			for o := range strings.FieldsSeq(c.asked) {
				name, value, _ := strings.Cut(o, "=")
				options = append(options, option{name, value})
			}
			got := negotiate(options, 123456, 1468)
			if spelled(got.oack) != c.oack || got.block != c.block || got.window != c.window {
				t.Errorf("%q: %s with %d x %d", c.asked, spelled(got.oack), got.window, got.block)
			}
		})
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
