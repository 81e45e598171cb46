package booting

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"strings"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
	"github.com/ingotmetal/ingot/booter/httpboot"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/booter/tftp"
)

// asked is a request for a file that was granted.
type asked struct {
	path bootscript.Path
	mac  booter.MAC
	who  served
	boot booter.Boot
	net  netip.Prefix
	via  netip.Addr
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
		d.counts.add(stage, "stranger")
		return asked{}, "", errStranger
	}
	s := d.world.boots[mac]
	boot, why := d.policy.Boot(s.rec)
	a := asked{path: path, mac: mac, who: s, boot: boot}
	a.net, a.via = d.world.network(s)
	var err error
	if why == "" && (!ok || path.Leaf == bootscript.File && path.Image != boot.Image) {
		err = fs.ErrNotExist
	}
	now := d.now()
	m := Moment{Time: now, Stage: stage, What: leafText(path, ok), Silence: why, Image: boot.Image}
	if err != nil {
		m.Detail = "no such file for this machine"
	}
	d.history.of(mac).add(m)
	d.counts.add(stage, string(why))
	d.report(s, stage, boot.Image, why, now)
	return a, why, err
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
	return d.world.At(from.Unmap())
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
	case bootscript.File:
		b, err := d.store.OpenFile(a.path.Image, a.path.Name)
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
	return d.store.OpenFile(i.Name, b.Loader)
}

// disk is a file that some image installs on disks; no other is had by its content.
func (d *Desk) disk(sha256 string) (*images.Blob, error) {
	for _, i := range d.store.List() {
		if f, ok := i.File(i.Disk); ok && i.Flaw == nil && f.SHA256 == sha256 {
			return d.store.OpenDigest(sha256)
		}
	}
	return nil, fs.ErrNotExist
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
	if b.Kernel == "" {
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
	a, why, err := d.grant("http", r.Path, r.Source)
	if errors.Is(err, errStranger) {
		return httpboot.Content{}, &httpboot.Denied{Why: err.Error()}
	}
	if err != nil {
		return httpboot.Content{}, err
	}
	if why != "" {
		return httpboot.Content{}, &httpboot.Denied{Why: string(why)}
	}
	blob, text, err := d.opened(a)
	if err != nil {
		return httpboot.Content{}, err
	}
	if blob == nil {
		return httpboot.Text("text/plain; charset=utf-8", text), nil
	}
	return httpboot.Content{Body: blob, Size: blob.Size(), Digest: blob.SHA256(), Type: httpboot.TypeOf(a.path.String(), ""), Modified: blob.ModTime()}, nil
}

// Admit and Open are what TFTP serves; see [tftp.Server].
func (d *Desk) Admit(_ context.Context, r tftp.Request) bool {
	path, _ := bootscript.ParsePath(r.Name)
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.who(path.Token, r.Client.Addr())
	return ok
}

// Open opens a file for TFTP.
func (d *Desk) Open(_ context.Context, r tftp.Request) (tftp.File, error) {
	a, why, err := d.grant("tftp", r.Name, r.Client.Addr())
	if errors.Is(err, errStranger) || why != "" {
		return nil, &tftp.Silent{Reason: string(why)}
	}
	if err != nil {
		return nil, err
	}
	blob, text, err := d.opened(a)
	if err != nil {
		return nil, gone(err)
	}
	if blob == nil {
		return memory{io.NewSectionReader(strings.NewReader(string(text)), 0, int64(len(text)))}, nil
	}
	return blob, nil
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
