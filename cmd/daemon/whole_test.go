package daemon_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/pin"
	"github.com/ingotmetal/ingot/cmd/internal/simnet"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// A whole is a site with nothing left out: the world's control plane, a booter, and
// machines that boot by DHCP, TFTP and HTTP and run the agent on disks that are files.
type whole struct {
	*clients
	wrong  wrong
	dir    string
	image  string // digest of the disk image
	booter booterHost
	boxes  []*box
}

// The admin network, where the booter's DHCP and TFTP are; streams find it by the
// address that simnet gave it.
var wholeNet = netip.MustParsePrefix("172.16.0.0/24")

// A wrong is a fault in the machines or the control plane, which the oracles have to
// find; the zero value is none.
type wrong struct {
	plant
	sameKey bool // an agent draws the key of its life before again (SET-17)
}

// runWhole lives through a seed with everything.
func runWhole(t *testing.T, seed uint64, wr wrong, events int) (l life) {
	bubble(t, seed, wr.plant, simnet.Options{Log: events, Detail: simnet.Instants}, func(w *world) {
		h := &whole{clients: w.clients(), wrong: wr, dir: w.t.TempDir()}
		h.prepare()
		h.live(&l)
	})
	return l
}

// prepare makes what is there before anything runs: a certificate, images, machines.
func (h *whole) prepare() {
	var err error
	if h.tls, err = pin.SelfSigned(pin.Maker{Dir: h.dir, Names: []string{"ingotd"}, Now: time.Now, Entropy: h.source}, slog.New(slog.DiscardHandler)); err != nil {
		h.t.Fatal(err)
	}
	h.stage()
	h.booter = booterHost{whole: h, state: filepath.Join(h.dir, "booter-0")}
	h.policy = api.Policy{AutoEnroll: true, AnswerOnlyPXE: true, Network: wholeNet.String(), Gateway: "172.16.0.254", EnrollmentImage: "enroll"}
	serials := map[string]string{}
	for i, m := range h.machines {
		b, err := newBox(h, i, m)
		if err != nil {
			h.t.Fatal(err)
		}
		h.boxes = append(h.boxes, b)
		serials[m.uuid] = b.disk.Disk.Serial
	}
	h.wish = func(server string) api.SetupRequest {
		return api.SetupRequest{Hostname: "n" + server[len(server)-1:], Layout: disklayout.Request{Layout: disklayout.GPT, Image: h.image,
			Disks: []disklayout.Selector{{Serial: serials[server]}}, ESP: disklayout.MinESP, Root: 4 << 20}}
	}
}

// stage makes the images.
func (h *whole) stage() {
	s, err := images.Create(filepath.Join(h.dir, "images"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer s.Close()
	for _, m := range []images.Manifest{
		{Name: "ipxe", Files: []images.File{{Name: "snponly.efi"}}, Boots: map[booter.Platform]images.Boots{booter.X64: {Loader: "snponly.efi"}}},
		{Name: "enroll", Files: []images.File{{Name: "initrd"}, {Name: "vmlinuz"}}, Boots: map[booter.Platform]images.Boots{images.Any: {Kernel: "vmlinuz", Initrds: []string{"initrd"}}}},
		{Name: "server", Files: []images.File{{Name: "root.img"}}, Disk: "root.img"},
	} {
		sources := map[string]images.Source{}
		for i, f := range m.Files {
			sources[f.Name] = images.Source{Reader: io.LimitReader(&drawn{n: uint64(i)}, 6000)}
		}
		made, err := s.Stage(h.t.Context(), m, sources, nil)
		if err != nil {
			h.t.Fatal(err)
		}
		if f, ok := made.File(made.Disk); ok {
			h.image = "sha256:" + f.SHA256
		}
	}
}

// live starts everything, lets it live, stops it, and asks the oracles.
func (h *whole) live(l *life) {
	parts := []func(context.Context){h.plane, h.operate, h.follow, h.booter.live, h.misfortune}
	for _, b := range h.boxes {
		parts = append(parts, b.live)
	}
	h.through(l, parts...)
	st := h.disk.Open()
	defer st.Close()
	l.broken = slices.Concat(h.oracles(st, h.clients), h.approved(st), h.disksAsPlanned())
}

// approved says which machine is not, though nothing fails any more and the operator
// approves whatever waits.
func (h *whole) approved(st store.Store) (broken []string) {
	door := control.New(control.Config{Store: st, Now: time.Now})
	err := st.View(context.Background(), func(r store.Reader) error {
		for _, b := range h.boxes {
			server, err := registration.ParseServerID(b.uuid)
			if err != nil {
				return err
			}
			s, err := door.Load(r, control.Target{Server: server})
			if err != nil {
				return err
			}
			if got := s.Node.Reg.State; got != registration.Approved {
				broken = append(broken, fmt.Sprintf("approved: %s ends in %s; %q", b.name, got, b.told))
			}
		}
		return nil
	})
	if err != nil {
		broken = append(broken, err.Error())
	}
	return broken
}
