package booteradmin

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/guidetest"
)

// The page whose commands are run, and that of the control plane beside it.
const (
	guide = "../../../docs/booterd.md"
	plane = "../../../docs/ingotd.md"
)

// before is what the page takes for granted: a control plane, and an operator.
const before = `printf 'correct horse battery\n' >password; chmod 600 password
ingotd serve -c ingotd.yaml 2>ingotd.log &
for i in $(seq 200); do ingotd operator list -c ingotd.yaml >/dev/null 2>&1 && break; sleep 0.1; done
ingotd operator add ada -c ingotd.yaml --password-file password
ingot context set rack-7 --server https://127.0.0.1:8443 --pin "$(ingotd pin -c ingotd.yaml)"
ingot login ada --password-file password
`

// ready waits for what a page leaves in the background, as a person would.
const ready = "for i in $(seq 200); do curl -sf --unix-socket booterd.sock http://booter/healthz >/dev/null 2>&1 && break; sleep 0.1; done"

// TestTheGuideRuns runs every command of the page, in its order, with the real programs
// in a folder of its own, on loopback.
func TestTheGuideRuns(t *testing.T) {
	dir := t.TempDir()
	build(t, dir)
	stubs(t, dir)
	replace := onLoopback(dir, guidetest.FreePort(t))
	guidetest.Read(t, plane, replace, ready).Write(t, dir) // its files
	page := guidetest.Read(t, guide, replace, ready)
	page.Write(t, dir)
	out := guidetest.Run(t, dir, dir, guidetest.Start+replace.Replace(before)+page.Commands)
	for _, want := range []string{"good", "sha256/", "it ended with 5", "no-record (BOOT-1)", "it would be answered", "offer 127.77.9.3 enrol-1", "\noffer\n", `ingot_booter_packets_total{outcome="answered"} 0`} {
		if !strings.Contains(out, want) {
			t.Errorf("the commands never say %q:\n%s", want, out)
		}
	}
}

// build makes the three programs.
func build(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "bin")+"/", "../../ingotd", "../../ingot", "../../booterd")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// stubs are what the page finds on a host: boot programs, an image, a capture.
func stubs(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"ipxe/undionly.kpxe", "ipxe/snponly.efi", "vmlinuz", "initrd.img"} {
		write(t, filepath.Join(dir, name), "this is "+name)
	}
	write(t, filepath.Join(dir, "boot.pcap"), string(capture(discover(t))))
}

// discover is the first packet of a machine with UEFI, as it was captured.
func discover(t *testing.T) []byte {
	t.Helper()
	raw, err := os.ReadFile("../../../booter/dhcp4/testdata/packets.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "## edk2-pxe4-discover")
	packet, err := hex.DecodeString(strings.Split(rest, "\n")[1])
	if err != nil {
		t.Fatal(err)
	}
	return packet
}

// capture is a capture of a packet that a machine sends, twice.
func capture(packet []byte) []byte {
	be, le := binary.BigEndian, binary.LittleEndian
	u := be.AppendUint16(be.AppendUint16(be.AppendUint16(nil, 68), 67), uint16(8+len(packet)))
	u = append(append(u, 0, 0), packet...)
	frame := append(make([]byte, 12), 8, 0, 0x45, 0)
	frame = be.AppendUint16(frame, uint16(20+len(u)))
	frame = append(append(frame, 0, 0, 0, 0, 64, 17, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255), u...)
	b := le.AppendUint32(nil, 0xa1b2c3d4)
	b = append(b, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0)
	for i := range uint32(2) {
		b = le.AppendUint32(le.AppendUint32(b, 1_777_636_800+i), 0)
		b = le.AppendUint32(le.AppendUint32(b, uint32(len(frame))), uint32(len(frame)))
		b = append(b, frame...)
	}
	return b
}

// onLoopback puts a page's network onto loopback, and its ports to where no root is
// needed.
func onLoopback(dir, port string) *strings.Replacer {
	return strings.NewReplacer("8443", port, "/srv/ingot", dir, "/usr/lib/ipxe", filepath.Join(dir, "ipxe"), "192.0.2.", "127.77.9.", "eth1", "lo",
		"listen: {unix:", `listen: {dhcp: "127.77.9.2:0", pxe: "127.77.9.2:0", tftp: "127.77.9.2:0", http: "127.77.9.2:0", session: "127.77.9.2:0", unix:`)
}
