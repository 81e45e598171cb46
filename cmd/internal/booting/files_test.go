package booting

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
	"github.com/ingotmetal/ingot/booter/httpboot"
	"github.com/ingotmetal/ingot/booter/tftp"
	"github.com/ingotmetal/ingot/cmd/api"
)

const (
	owned   = "02:00:00:00:00:02"
	rescued = "02:00:00:00:00:03"
	shut    = "02:00:00:00:00:04"
)

// entry is 02:..:05, whose holder boots it by an entry.
const held = "02:00:00:00:00:05"

func fleet() []api.ServedBoot {
	return []api.ServedBoot{
		enrolling(),
		with(boot(owned, "enrolled", "10.78.0.10"), func(b *api.ServedBoot) { b.Image, b.RootSet = "own", true }),
		with(boot(rescued, "enrolled", "10.78.0.11"), func(b *api.ServedBoot) {
			b.Image, b.RootSet, b.Mode = "own", true, "rescue"
			b.Entry = &api.BootNext{Image: "own", Args: "entry=1"}
		}),
		boot(shut, "decommissioned", "10.78.0.12"),
		with(boot(held, "discovered", "10.78.0.13"), func(b *api.ServedBoot) { b.Entry = &api.BootNext{Image: "own", Args: "entry=1"} }),
	}
}

// nobody is an address that no record has.
var nobody = netip.MustParseAddr("10.78.0.99")

func path(d *Desk, m string, p bootscript.Path) string {
	if m != "" {
		p.Token = d.key.Token(mac(m))
	}
	return p.String()
}

// Who may have what: by the token in the path, else by the address.
func TestGrant(t *testing.T) {
	d := newDesk(t, place(), still, fleet()...)
	file := func(image string) bootscript.Path {
		return bootscript.Path{Leaf: bootscript.File, Image: image, Name: "vmlinuz"}
	}
	script := bootscript.Path{Leaf: bootscript.Script}
	other := bootscript.NewKey([32]byte{8})
	forged := bootscript.Path{Token: other.Token(mac(known)), Leaf: bootscript.Script}.String()
	gone := bootscript.Path{Token: d.key.Token(numbered(77)), Leaf: bootscript.Script}.String()
	for name, c := range map[string]struct {
		path string
		from string
		want string // outcome that is counted
		body string // that it begins with
	}{
		"own file by token":                     {path(d, known, file("enroll")), "10.78.0.99", Answered, "this is enroll vmlinuz"},
		"own file by address":                   {path(d, "", file("enroll")), "10.78.0.9", Answered, "this is enroll vmlinuz"},
		"mapped address":                        {path(d, "", file("enroll")), "::ffff:10.78.0.9", Answered, "this is enroll vmlinuz"},
		"the token goes before the address":     {path(d, owned, file("own")), "10.78.0.9", Answered, "this is own vmlinuz"},
		"token of another, image of own":        {path(d, owned, file("enroll")), "10.78.0.9", Absent, ""},
		"image of another name":                 {path(d, known, file("own")), "10.78.0.9", Absent, ""},
		"file that is not in the image":         {path(d, known, bootscript.Path{Leaf: bootscript.File, Image: "enroll", Name: "x"}), "10.78.0.9", Absent, ""},
		"stranger":                              {path(d, "", file("enroll")), "10.78.0.99", Stranger, ""},
		"token of another booter's key":         {forged, "10.78.0.9", Stranger, ""},
		"token of who has no record":            {gone, "10.78.0.9", Stranger, ""},
		"shut out":                              {path(d, shut, script), "10.78.0.12", string(booter.StateDecommissioned), ""},
		"no name of ours":                       {"pxelinux.cfg/default", "10.78.0.9", Absent, ""},
		"nothing":                               {"", "10.78.0.9", Absent, ""},
		"script":                                {path(d, known, script), "10.78.0.99", Answered, "#!ipxe"},
		"loader":                                {path(d, known, bootscript.Path{Leaf: bootscript.Loader, Platform: booter.X64}), "10.78.0.99", Answered, "this is ipxe snponly.efi"},
		"loader that is not there":              {path(d, known, bootscript.Path{Leaf: bootscript.Loader, Platform: booter.ARM64}), "10.78.0.99", Absent, ""},
		"second stage of a shim, in its folder": {path(d, known, bootscript.Path{Leaf: bootscript.Beside, Name: "snponly.efi"}), "10.78.0.99", Answered, "this is ipxe snponly.efi"},
		"second stage of a shim, at the root":   {`\snponly.efi`, "10.78.0.9", Answered, "this is ipxe snponly.efi"},
		"second stage that is not there":        {path(d, known, bootscript.Path{Leaf: bootscript.Beside, Name: "grubx64.efi"}), "10.78.0.99", Absent, ""},
		"autoexec.ipxe":                         {"autoexec.ipxe", "10.78.0.9", Answered, "#!ipxe"},
		"disk image":                            {path(d, known, bootscript.Path{Leaf: bootscript.Disk, Name: sum("this is own disk.img")}), "10.78.0.99", Answered, "this is own disk.img"},
		"file that is no disk image":            {path(d, known, bootscript.Path{Leaf: bootscript.Disk, Name: sum("this is own vmlinuz")}), "10.78.0.99", Absent, ""},
	} {
		t.Run(name, func(t *testing.T) {
			from := netip.MustParseAddr(c.from)
			for _, stage := range []string{stageHTTP, stageTFTP} {
				was := d.Counts()[stage+"/"+c.want]
				body, err := fetched(d, stage, c.path, from)
				if !strings.HasPrefix(body, c.body) || (c.want == Answered) != (err == nil) {
					t.Errorf("%s: %q %v", stage, body, err)
				}
				if got := d.Counts()[stage+"/"+c.want]; got != was+1 {
					t.Errorf("%s: %s is counted %d times, not once", stage, c.want, got-was)
				}
				if err != nil && c.path != "" && strings.Contains(err.Error(), c.path) {
					t.Errorf("the path, which may hold a token, is in %q", err)
				}
			}
		})
	}
	all := text(d.history.all(mac(known))) + text(d.history.all(mac(owned))) + text(d.served.Take())
	for _, m := range []string{known, owned} {
		if strings.Contains(all, d.key.Token(mac(m))) {
			t.Errorf("a token is remembered: %s", all)
		}
	}
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// fetched asks as a client of a protocol.
func fetched(d *Desk, stage, name string, from netip.Addr) (string, error) {
	if stage == stageHTTP {
		c, err := d.Resolve(context.Background(), httpboot.Request{Source: from, Path: name})
		if err != nil {
			return "", err
		}
		raw, err := io.ReadAll(io.NewSectionReader(c.Body, 0, c.Size))
		if closer, ok := c.Body.(io.Closer); ok {
			err = errors.Join(err, closer.Close())
		}
		return string(raw), err
	}
	r := tftp.Request{Name: name, Client: netip.AddrPortFrom(from, 1024)}
	if !d.Admit(context.Background(), r) {
		return "", &tftp.Silent{Reason: Stranger}
	}
	f, err := d.Open(context.Background(), r)
	if err != nil {
		return "", err
	}
	raw, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
	return string(raw), errors.Join(err, f.Close())
}

// What is asked for in vain is no boot: the control plane does not hear of it.
func TestOnlyWhatIsServedIsTold(t *testing.T) {
	d := newDesk(t, place(), still, fleet()...)
	for _, name := range []string{"pxelinux.cfg/default", path(d, known, bootscript.Path{Leaf: bootscript.File, Image: "own", Name: "x"})} {
		if _, err := fetched(d, stageTFTP, name, netip.MustParseAddr("10.78.0.9")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
	}
	if got := d.served.Take(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if got := d.history.all(mac(known)); len(got) != 2 || got[0].Detail == "" || got[0].What != "a name of nothing here" {
		t.Errorf("people are not told: %+v", got)
	}
}

// The script of each mode has what BOOT-3, BOOT-5 and BOOT-14 say, and never a root
// hash.
func TestScripts(t *testing.T) {
	d := newDesk(t, place(), still, fleet()...)
	site := []string{"ingot.booter=10.78.0.1:8444", "ingot.booter_pin=sha256/booter", "ingot.server=plane:8443", "ingot.pin=sha256/plane", "console=ttyS0"}
	for _, c := range []struct {
		mac, image string
		has, not   []string
	}{
		{known, "enroll", []string{"ingot.address=10.78.0.9/24", "ingot.gateway=10.78.0.254", "ingot.mac=" + known}, []string{"entry=1"}},
		{owned, "own", []string{"ingot.address=10.78.0.10/24", "ingot.mac=" + owned}, nil},
		{rescued, "rescue", []string{"ingot.mac=" + rescued}, []string{"ingot.address", "ingot.gateway", "entry=1", "/own/"}},
		{held, "own", []string{"ingot.address=10.78.0.13/24", "entry=1"}, nil},
	} {
		body, err := fetched(d, stageHTTP, path(d, c.mac, bootscript.Path{Leaf: bootscript.Script}), nobody)
		if err != nil || !strings.HasPrefix(body, "#!ipxe") || !strings.Contains(body, "/"+c.image+"/") {
			t.Fatalf("%s: %v\n%s", c.mac, err, body)
		}
		for _, want := range append(c.has, site...) {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %q in\n%s", c.mac, want, body)
			}
		}
		for _, not := range append(c.not, "canary", "shadow", secretHash) {
			if strings.Contains(body, not) {
				t.Errorf("%s: %q is in\n%s", c.mac, not, body)
			}
		}
	}
}

// In no account of a desk is a secret.
func TestAccountsHoldNoSecret(t *testing.T) {
	d := newDesk(t, place(), still, fleet()...)
	for _, b := range fleet() {
		d.Answer(came(message(mac(b.MAC), 1, ipxed...)))
		_, _ = fetched(d, stageHTTP, path(d, b.MAC, bootscript.Path{Leaf: bootscript.Script}), nobody)
		said := text(d.Why(mac(b.MAC))) + text(d.Try(message(mac(b.MAC), 1, ipxed...), booter.Request{}))
		for _, secret := range []string{"canary", d.key.Token(mac(b.MAC))} {
			if strings.Contains(said, secret) {
				t.Errorf("%s: %s", b.MAC, said)
			}
		}
	}
}
