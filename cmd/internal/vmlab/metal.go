package vmlab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc/bmcsim"
	"github.com/ingotmetal/ingot/bmc/bmcsim/trees"
	"github.com/ingotmetal/ingot/bmc/wire"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// outOfBand is the scenario of a machine that is moved through its BMC: nobody but the
// BMC turns it on or off.
func outOfBand(l *Lab, ctx context.Context) ([]Result, error) {
	s := l.spec(PXE)
	s.Local = true
	disk := filepath.Join(l.Dir, s.Name+"-disk0")
	if err := startable(ctx, disk, l.local); err != nil {
		return nil, err
	}
	s.Drives = []Drive{{disk, strings.ToUpper(fmt.Sprintf("%s%s-0", NVMe, s.Name)), NVMe}}
	m, err := l.Add(ctx, s)
	if err != nil {
		return nil, err
	}
	r, err := l.one(ctx, "bmc", m, func(ctx context.Context, m *Machine) error {
		b, err := l.controls(m)
		if err != nil {
			return m.failed("making its BMC", err)
		}
		return errors.Join(l.steered(ctx, b), b.close())
	})
	return []Result{r}, err
}

// A steered is a machine with its BMC.
type steered struct {
	*Machine
	fleet *bmcsim.Fleet
	web   *http.Server // where the BMC fetches the medium
	ends  sync.WaitGroup

	url, pin, image string
	node            string // at the site
}

// announces is what noded says once the site took its announce.
const announces = "msg=announced"

// controllerTree is the recorded BMC that controls the machine.
const controllerTree = "dell-r750-idrac9-6.00"

// controls gives a machine a BMC, on the address of the site.
func (l *Lab) controls(m *Machine) (*steered, error) {
	raw, err := trees.Read(controllerTree)
	if err != nil {
		return nil, err
	}
	tree, err := bmcsim.ParseTree(controllerTree, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	media := filepath.Join(m.dir, "media")
	if err := os.Mkdir(media, 0o700); err != nil {
		return nil, err
	}
	b := &steered{Machine: m, fleet: bmcsim.NewFleet(l.Entropy, nil)}
	fetch := &http.Client{Transport: &http.Transport{DialContext: func(_ context.Context, network, address string) (net.Conn, error) { return l.Dial(network, address) }}}
	_, err = b.fleet.Add(bmcsim.Spec{Name: m.Name, Tree: tree, TLS: bmcsim.TLS{Kind: bmcsim.TLSSelfSigned}, Options: bmcsim.Options{
		Backend: func(string, bool) bmcsim.Backend { return controller{m} },
		Media:   bmcsim.Media{Client: fetch, Dir: media},
		// The machine is the lab's, not the one that was recorded.
		Rules: []bmcsim.Rule{{Method: http.MethodGet, Path: tree.Systems()[0], Effect: bmcsim.Effect{Set: map[string]any{"UUID": m.UUID}}}},
	}})
	if err != nil {
		return nil, errors.Join(err, b.fleet.Close())
	}
	b.pin = wire.PinOf(b.fleet.Certificate(m.Name))
	return b, b.serve(l)
}

// serve opens the sockets of the BMC and of the medium.
func (b *steered) serve(l *Lab) error {
	image := filepath.Join(b.dir, "medium.img")
	if err := startable(context.Background(), image, l.medium); err != nil {
		return errors.Join(err, b.fleet.Close())
	}
	door, err := l.Listen("tcp", booth+":0")
	if err != nil {
		return errors.Join(err, b.fleet.Close())
	}
	shelf, err := l.Listen("tcp", booth+":0")
	if err != nil {
		return errors.Join(err, door.Close(), b.fleet.Close())
	}
	b.url, b.image = "https://"+door.Addr().String(), "http://"+shelf.Addr().String()+"/medium.img"
	b.web = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, image) })}
	b.ends.Go(func() { _ = b.fleet.ServeOne(door, b.Name) })
	b.ends.Go(func() { _ = b.web.Serve(shelf) })
	b.lab.say(b.Name, "bmc", "Redfish at "+b.url)
	return nil
}

func (b *steered) close() error {
	err := errors.Join(b.web.Close(), b.fleet.Close())
	b.ends.Wait()
	return err
}

// steered moves a machine by what an operator asks of the site, and looks at it with the
// lab's own eyes.
func (l *Lab) steered(ctx context.Context, b *steered) error {
	return l.steps(ctx, b.Machine, []step{
		{"enrolling it by its BMC", time.Minute, func(ctx context.Context) error { return l.enrolled(ctx, b) }},
		{"on, from its disk", announceWait, func(ctx context.Context) error { return l.powered(ctx, b, "on", fromDisk) }},
		{"PXE once", announceWait, func(ctx context.Context) error { return l.once(ctx, b, "pxe", "cycle", announces) }},
		{"off", 5 * time.Minute, func(ctx context.Context) error { return l.powered(ctx, b, "off", "") }},
		{"inserting a medium", time.Minute, func(ctx context.Context) error { return l.inserts(ctx, b) }},
		{"the medium once", announceWait, func(ctx context.Context) error { return l.once(ctx, b, "cd", "on", fromMedium) }},
		{"cycle, from its disk", announceWait, func(ctx context.Context) error { return l.powered(ctx, b, "cycle", fromDisk) }},
		{"off again", 5 * time.Minute, func(ctx context.Context) error { return l.powered(ctx, b, "off", "") }},
	})
}

// enrolled admits its MAC to network boot by hand and makes it a node by its BMC. The
// node's attempt to enroll is ended: the site has no workflow engine, and power is the
// attempt's as long as it lasts.
func (l *Lab) enrolled(ctx context.Context, b *steered) error {
	admit := api.BootChange{}
	admit.MAC = b.MAC
	if _, err := api.BootEnroll.Call(ctx, l.operator, &admit); err != nil {
		return err
	}
	in := api.EnrollMetal{}
	in.Body.BMC, in.Body.Pin, in.Body.Product, in.Body.RequestID = b.url, b.pin, b.UUID, "lab-"+b.Name
	in.Body.Username, in.Body.Password = bmcsim.DefaultUser, api.Secret(bmcsim.DefaultPassword)
	out, err := api.MetalEnroll.Call(ctx, l.operator, &in)
	if err != nil {
		return err
	}
	b.node = out.Node.ID
	abort := api.NodeChange{}
	abort.Node = b.node
	if _, err := api.MetalAbort.Call(ctx, l.operator, &abort); err != nil {
		return err
	}
	l.say(b.Name, "enrolled", "as "+b.node)
	return nil
}

// powered asks for a verb, follows the command to its end, and compares the machine.
func (l *Lab) powered(ctx context.Context, b *steered, verb, shows string) error {
	boots := b.cycles()
	in := api.PowerNode{}
	in.Node, in.Body.Action = b.node, verb
	out, err := api.NodePower.Call(ctx, l.operator, &in)
	if err != nil {
		return err
	}
	result, err := l.ended(ctx, b.node, out.Command.ID)
	if err != nil {
		return err
	}
	l.say(b.Name, "command", verb+": "+result)
	if !strings.HasPrefix(result, "done") {
		return fmt.Errorf("the command %s ended so: %s", verb, result)
	}
	if verb == "off" {
		if b.Running() {
			return errors.New("off is confirmed, and the machine has power")
		}
		return nil
	}
	if b.cycles() != boots+1 {
		return fmt.Errorf("after %s it has started %d times, want once", verb, b.cycles()-boots)
	}
	line, err := b.Await(ctx, shows)
	if shows == announces {
		b.announced = line.At
	}
	if err == nil {
		l.say(b.Name, "runs", fmt.Sprintf("%s, %.1f s after its power came", shows, line.At.Seconds()))
	}
	return err
}

// ended waits until a command is done.
func (l *Lab) ended(ctx context.Context, node, id string) (string, error) {
	ref := api.NodeRef{}
	ref.Node = node
	for {
		out, err := api.NodeCommands.Call(ctx, l.operator, &ref)
		if err != nil {
			return "", err
		}
		for _, c := range out.Commands {
			if c.ID == id && c.Done {
				return c.Result, nil
			}
		}
		if !pause.For(ctx, time.Second) {
			return "", context.Cause(ctx)
		}
	}
}

// once sets an override, powers the machine, and wants the override to be spent.
func (l *Lab) once(ctx context.Context, b *steered, target, verb, shows string) error {
	in := api.SetBoot{}
	in.Node, in.Body.Target, in.Body.Life, in.Body.Mode = b.node, target, "once", "uefi"
	set, err := api.NodeOverrideSet.Call(ctx, l.operator, &in)
	if err != nil {
		return err
	}
	l.say(b.Name, "override", fmt.Sprintf("%s, %s", set.Boot.Target, set.Boot.Life))
	if err := l.powered(ctx, b, verb, shows); err != nil {
		return err
	}
	ref := api.NodeRef{}
	ref.Node = b.node
	is, err := api.NodeOverride.Call(ctx, l.operator, &ref)
	if err == nil && is.Target != "none" {
		raw, _ := json.Marshal(is)
		err = fmt.Errorf("the override is not spent: %s", raw)
	}
	return err
}

// inserts puts the medium into a virtual drive.
func (l *Lab) inserts(ctx context.Context, b *steered) error {
	in := api.InsertMedia{}
	in.Node, in.Body.Image = b.node, b.image
	out, err := api.NodeMediaInsert.Call(ctx, l.operator, &in)
	if err == nil {
		l.say(b.Name, "medium", "in "+out.Slot.ID)
	}
	return err
}

// cycles is how often a machine has been given power.
func (m *Machine) cycles() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.boots
}
