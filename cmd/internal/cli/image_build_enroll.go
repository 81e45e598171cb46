package cli

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/internal/imagebuild"
	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/kmod"
)

// An enrolBuild is an image that machines enroll with, as flags name it.
type enrolBuild struct {
	build
	kernel, modulesDir, noded, settings, args string

	modules []string
	uki     ukiFlags
}

// Bounds of what is read.
const (
	maxPackage  = 1 << 30
	maxProgram  = 256 << 20
	maxSettings = 64 << 10
)

func (a *app) imageBuildEnroll() *cobra.Command {
	b := &enrolBuild{build: build{app: a}}
	c := a.buildLeaf("enroll", "Make the image that machines enroll with, of a kernel and noded",
		"ingot image build enroll --kernel linux-image-6.1.0-57-amd64.deb --noded noded --args 'console=ttyS0 panic=30' --out enrol",
		b.run)
	f := c.Flags()
	f.StringVar(&b.kernel, "kernel", "", "the kernel, a `FILE`: a Debian package (.deb) with its modules, or a kernel alone")
	f.StringVar(&b.modulesDir, "modules", "", "the `DIR` with the modules of a kernel that is no package, such as /lib/modules/6.1.0-57-amd64")
	f.StringVar(&b.noded, "noded", "", "the agent, a static program, as a `FILE`")
	f.StringArrayVar(&b.modules, "module", nil, "load the module `NAME` and what it needs, in place of the usual ones (repeat for more)")
	f.StringVar(&b.settings, "settings", "", "a `FILE` that noded finds as /etc/ingot/noded.yaml")
	f.StringVar(&b.args, "args", "", "the kernel's arguments, a `TEXT`")
	b.uki.declare(c)
	b.places(c)
	return c
}

// run builds it.
func (b *enrolBuild) run(ctx context.Context) error {
	if b.kernel == "" || b.noded == "" {
		return usage("an image has a kernel and the agent").then("give --kernel FILE and --noded FILE")
	}
	if err := b.checkPlaces(); err != nil {
		return err
	}
	if err := images.CheckArgs(b.args); err != nil {
		return badDraft(err)
	}
	if err := b.uki.check(); err != nil {
		return err
	}
	began := b.Now()
	e, err := b.read()
	if err != nil {
		return err
	}
	initrd, modules, err := e.Initrd()
	if err != nil {
		return err
	}
	files := []built{digested("initrd.img", initrd), digested("vmlinuz", e.Kernel.Image)}
	boots := images.Manifest{Boots: map[booter.Platform]images.Boots{images.Any: {Kernel: "vmlinuz", Initrds: []string{"initrd.img"}, Args: b.args}}}
	if b.uki.want {
		image, err := b.unified(e.Kernel, initrd)
		if err != nil {
			return err
		}
		files = append(files, digested(ukiName, image))
		boots.Boots = withUKI(e.Kernel.Arch, boots.Boots[images.Any])
	}
	if ctx.Err() != nil {
		return gaveUp(ctx)
	}
	v, err := b.deliver(ctx, files, boots)
	if err != nil {
		return err
	}
	return b.tell(ctx, e, modules, files, v, b.Now().Sub(began))
}

// read reads what the flags name.
func (b *enrolBuild) read() (e imagebuild.Enroll, err error) {
	if e.Kernel, err = b.readKernel(); err != nil {
		return e, err
	}
	if e.Noded, err = b.file(b.noded, maxProgram); err != nil {
		return e, err
	}
	if b.settings != "" {
		raw, err := b.file(b.settings, maxSettings)
		if err != nil {
			return e, err
		}
		e.Files = map[string][]byte{"etc/ingot/noded.yaml": raw}
	}
	e.Modules = b.modules
	return e, nil
}

// readKernel reads the kernel with its modules.
func (b *enrolBuild) readKernel() (k imagebuild.Kernel, err error) {
	if strings.HasSuffix(b.kernel, ".deb") {
		if b.modulesDir != "" {
			return k, usage("--kernel is a package, which brings its modules, and --modules names others").then("give one of them")
		}
		err = b.source(b.kernel, maxPackage, func(r io.Reader) error {
			k, err = imagebuild.FromPackage(r)
			return unreadable(b.kernel, err)
		})
		return k, err
	}
	image, err := b.file(b.kernel, imagebuild.MaxKernel)
	if err != nil {
		return k, err
	}
	if b.modulesDir == "" {
		return imagebuild.FromFiles(image, nil)
	}
	k, err = imagebuild.FromFiles(image, os.DirFS(b.path(b.modulesDir)))
	return k, unreadable(b.modulesDir, err)
}

// tell says what was built.
func (b *enrolBuild) tell(ctx context.Context, e imagebuild.Enroll, modules []kmod.Module, files []built, v *imageView, took time.Duration) error {
	names := []string{}
	for _, m := range modules {
		names = append(names, m.Name)
	}
	view := builtView{Kernel: e.Kernel.Release, Modules: &names, Files: files, Image: v}
	if err := b.tellFiles(ctx, "image.build.enroll", view, took); err != nil || b.structured() || b.given.output == "name" {
		return err
	}
	return b.printf("kernel %s, %d modules\n", clean(e.Kernel.Release), len(modules))
}
