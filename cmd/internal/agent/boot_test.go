package agent_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/disklayout"
)

// uefi is a program for firmware that is hardly more than its headers.
func uefi() []byte {
	b := bytes.Repeat([]byte("boot program "), 1000)
	copy(b, "MZ")
	copy(b[0x3c:], "\x40\x00\x00\x00PE\x00\x00\x64\x86\x00\x00")
	clear(b[0x48:0x58])
	return b
}

// The program that a plan names is fetched and put onto the disk.
func TestBoot(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.site.boot = uefi()
		w.approved(t)
		esp := make([]byte, 40*mib)
		if _, err := (handle{w.disk, w.lives}).ReadAt(esp, 0); err != nil || !bytes.Contains(esp, uefi()) {
			t.Errorf("the disk does not hold it: %v", err)
		}
	})
}

// One that cannot be had, or is another, costs no byte of the disk, and a right one is
// written after that.
func TestBootRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*sessions.Order)
		why   string
	}{
		"no address": {func(o *sessions.Order) { o.BootURL = "" }, "its address is none of HTTP"},
		"elsewhere":  {func(o *sessions.Order) { o.BootURL = "https://booter:443/nowhere/" + imageToken }, "404"},
		"the image":  {func(o *sessions.Order) { o.BootURL = o.ImageURL }, "boot_mismatch"},
		"too old":    {change(func(p *disklayout.Plan) { p.Boot = "" }), "not the one that was approved"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				w.site.boot = uefi()
				w.approves, w.order = 2, func(o *sessions.Order) {
					if w.epoch == 1 {
						c.spoil(o)
					}
				}
				writes := -1
				w.site.step = func() {
					if writes < 0 && w.count("failed") == 1 {
						writes = w.disk.writes
					}
				}
				w.approved(t)
				if len(w.failures) != 1 || !strings.Contains(w.failures[0], c.why) || writes != 0 {
					t.Errorf("failures %q, %d writes before, %s", w.failures, writes, w.happened())
				}
			})
		})
	}
}
