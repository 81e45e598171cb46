package booting

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
	"github.com/ingotmetal/ingot/booter/httpboot"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/booter/tftp"
	"github.com/ingotmetal/ingot/cmd/internal/booting/account"
)

// asked is a request for a file that was granted.
type asked struct {
	path  bootscript.Path
	named bool // path is one
	mac   booter.MAC
	who   served
	boot  booter.Boot
	net   netip.Prefix
	via   netip.Addr
}

// errStranger is a client that is nobody here.
var errStranger = errors.New("booting: no machine has this address or token")

// grant decides whether a client may have what it asks for, by the same decision as
// DHCP (BOOT-9, BOOT-25).
func (d *Desk) grant(stage, name string, from netip.Addr) (asked, booter.Silence, error) {
	path, ok := bootscript.ParsePath(name)
	d.mu.Lock()
	defer d.mu.Unlock()
	mac, known := d.who(path.Token, from)
	if !known {
		d.counts.add(stage, Stranger)
		return asked{}, "", errStranger
	}
	if stage == stageHTTP && path.Token != "" {
		d.leases.Take(mac, from)
	}
	s := d.world.boots[mac]
	boot, why := d.policy.Boot(s.rec)
	a := asked{path: path, named: ok, mac: mac, who: s, boot: boot}
	a.net, a.via = d.world.network(s)
	if why == "" && (!ok || path.Leaf == bootscript.File && path.Image != boot.Image) {
		return a, why, fs.ErrNotExist
	}
	return a, why, nil
}

// found is what a client that asks for a name is served: a file, or a script, or
// nothing for a reason.
type found struct {
	asked
	blob *images.Blob
	text []byte
	why  booter.Silence
}

// fetch decides what a client is served.
func (d *Desk) fetch(stage, name string, from netip.Addr) (f found, err error) {
	f.asked, f.why, err = d.grant(stage, name, from)
	if errors.Is(err, errStranger) {
		return f, err
	}
	if err == nil && f.why == "" {
		f.blob, f.text, err = d.opened(f.asked)
	}
	d.remember(stage, f.asked, f.why, err)
	return f, err
}

// remember notes what came of a request. What was not served for want of a file is no
// boot, and firmware asks for many names: it is not told to the control plane.
func (d *Desk) remember(stage string, a asked, why booter.Silence, err error) {
	now := d.now()
	m := account.Moment{Time: now, Stage: stage, What: leafText(a.path, a.named), Silence: why, Image: a.boot.Image}
	outcome := string(why)
	switch {
	case err != nil && errors.Is(gone(err), fs.ErrNotExist):
		outcome, m.Detail = Absent, "no such file for this machine"
	case err != nil:
		outcome, m.Detail = Broken, "it could not be read"
		if bad, ok := errors.AsType[*bootscript.Invalid](err); ok {
			m.Detail = "no script can be made of it: " + bad.What + " " + bad.Why
		}
	}
	d.counts.add(stage, outcome)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.history.of(a.mac).add(m)
	if err == nil {
		d.report(a.who, stage, a.boot.Image, why, now)
	}
}

// leafText is a path without its token, which is a secret of the machine.
func leafText(p bootscript.Path, ok bool) string {
	if !ok {
		return "a name of nothing here"
	}
	p.Token = ""
	return p.String()
}

// who is the machine that asks: by the token in the path, else by its address.
func (d *Desk) who(token string, from netip.Addr) (booter.MAC, bool) {
	if token != "" {
		mac, ok := d.key.Open(token)
		_, known := d.world.boots[mac]
		return mac, ok && known
	}
	return d.at(from)
}

// opened is what a granted request leads to: a file, or a script.
func (d *Desk) opened(a asked) (*images.Blob, []byte, error) {
	switch a.path.Leaf {
	case bootscript.Script:
		text, err := d.script(a)
		return nil, text, err
	case bootscript.Loader:
		b, err := d.loader(a)
		return b, nil, err
	case bootscript.Beside:
		b, err := d.file(d.place.Loader, a.path.Name)
		return b, nil, err
	case bootscript.File:
		b, err := d.file(a.path.Image, a.path.Name)
		return b, nil, err
	}
	b, err := d.disk(a.path.Name)
	return b, nil, err
}

// loader is the first boot program of a platform.
func (d *Desk) loader(a asked) (*images.Blob, error) {
	i, err := d.store.Image(d.place.Loader)
	if err != nil {
		return nil, err
	}
	b, ok := i.Boot(a.path.Platform)
	if !ok || b.Loader == "" {
		return nil, fs.ErrNotExist
	}
	return d.file(i.Name, b.Loader)
}

// file is a file of an image.
func (d *Desk) file(image, name string) (*images.Blob, error) {
	i, err := d.store.Image(image)
	if err != nil {
		return nil, err
	}
	if _, ok := i.File(name); !ok {
		return nil, fs.ErrNotExist
	}
	b, err := d.store.OpenFile(image, name)
	return b, d.missed(err)
}

// disk is a file that some image installs on disks; no other is had by its content.
func (d *Desk) disk(sha256 string) (*images.Blob, error) {
	if !slices.Contains(d.disks(), "sha256:"+sha256) {
		return nil, fs.ErrNotExist
	}
	b, err := d.store.OpenDigest(sha256)
	return b, d.missed(err)
}

// disks are the disk images and the boot programs that are staged, as a layout names
// them.
func (d *Desk) disks() []string {
	var out []string
	for _, i := range d.store.List() {
		for _, name := range []string{i.Disk, i.ESP} {
			if f, ok := i.File(name); ok && i.Flaw == nil {
				out = append(out, "sha256:"+f.SHA256)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// script is the iPXE script of a machine.
func (d *Desk) script(a asked) ([]byte, error) {
	i, err := d.store.Image(a.boot.Image)
	if err != nil {
		return nil, err
	}
	b, ok := i.Boot(d.platform(a))
	if !ok {
		return nil, fs.ErrNotExist
	}
	own, err := d.place.words(a.mac, a.boot, a.who, a.net, a.via)
	if err != nil {
		return nil, err
	}
	args, err := bootscript.Args(strings.Join([]string{b.Args, a.boot.Args}, " "))
	if err != nil {
		return nil, err
	}
	program := bootscript.Program{Kernel: b.Kernel, Initrds: b.Initrds}
	switch {
	case b.Local:
		program = bootscript.Program{Local: true}
	case b.Kernel == "":
		program = bootscript.Program{EFI: b.EFI}
	}
	base := d.pointer.URL(bootscript.Path{Token: d.key.Token(a.mac), Leaf: bootscript.Script})
	return bootscript.IPXE(strings.TrimSuffix(base, bootscript.ScriptName), a.boot.Image, program, append(args, own...))
}

// platform is that of the script's path, else the one the machine came with last.
func (d *Desk) platform(a asked) booter.Platform {
	if a.path.Platform != "" {
		return a.path.Platform
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.history.of(a.mac).client.Platform
}

// Resolve is what HTTP serves; see [httpboot.Handler].
func (d *Desk) Resolve(_ context.Context, r httpboot.Request) (httpboot.Content, error) {
	f, err := d.fetch(stageHTTP, r.Path, r.Source)
	switch {
	case errors.Is(err, errStranger):
		return httpboot.Content{}, &httpboot.Denied{Why: err.Error()}
	case err != nil:
		return httpboot.Content{}, err
	case f.why != "":
		return httpboot.Content{}, &httpboot.Denied{Why: string(f.why)}
	case f.blob == nil:
		return httpboot.Text("text/plain; charset=utf-8", f.text), nil
	}
	return httpboot.Content{Body: f.blob, Size: f.blob.Size(), Digest: f.blob.SHA256(), Type: httpboot.TypeOf(f.path.String(), ""), Modified: f.blob.ModTime()}, nil
}

// Admit and Open are what TFTP serves; see [tftp.Server].
func (d *Desk) Admit(_ context.Context, r tftp.Request) bool {
	path, _ := bootscript.ParsePath(r.Name)
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.who(path.Token, r.Client.Addr())
	if !ok {
		d.counts.add(stageTFTP, Stranger)
	}
	return ok
}

// Open opens a file for TFTP.
func (d *Desk) Open(_ context.Context, r tftp.Request) (tftp.File, error) {
	f, err := d.fetch(stageTFTP, r.Name, r.Client.Addr())
	switch {
	case errors.Is(err, errStranger):
		return nil, &tftp.Silent{Reason: Stranger}
	case f.why != "":
		return nil, &tftp.Silent{Reason: string(f.why)}
	case err != nil:
		return nil, gone(err)
	case f.blob == nil:
		return memory{io.NewSectionReader(strings.NewReader(string(f.text)), 0, int64(len(f.text)))}, nil
	}
	return f.blob, nil
}

// gone makes what is not here a file that does not exist.
func gone(err error) error {
	if coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err); ok && coded.Code() == "NOT_FOUND" {
		return fs.ErrNotExist
	}
	return err
}

// memory is a file that was made for a request.
type memory struct{ *io.SectionReader }

func (memory) Close() error { return nil }
