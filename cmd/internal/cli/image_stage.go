package cli

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/images"
)

// A draft is an image as flags name it.
type draft struct {
	*app
	kernels, initrds, efis, loaders, expects []string

	disk, args, manifest string
	local                bool
	sources              map[string]images.Source
}

func (a *app) imageStage() *cobra.Command {
	d := &draft{app: a}
	c := a.imageLeaf("stage NAME", "Copy an image into the folder, whole and checked, in place of one of that name",
		"ingot image stage rescue-1 --dir images --kernel vmlinuz --initrd initrd --args 'console=ttyS0' --loader efi-x64=snponly.efi --loader bios=undionly.kpxe",
		func(ctx context.Context, dir string, words []string) error { return d.stage(ctx, dir, words[0]) })
	c.Args = exactly(1)
	f := c.Flags()
	f.StringArrayVar(&d.kernels, "kernel", nil, "the kernel, a `[PLATFORM=]FILE`; without one, of all platforms")
	f.StringArrayVar(&d.initrds, "initrd", nil, "an initial RAM disk, a `[PLATFORM=]FILE` (repeat for more, in their order)")
	f.StringArrayVar(&d.efis, "efi", nil, "a program that UEFI starts by itself, a `[PLATFORM=]FILE`")
	f.StringArrayVar(&d.loaders, "loader", nil, "the first program, such as iPXE, a `PLATFORM=FILE` (repeat for more)")
	f.StringVar(&d.disk, "disk", "", "the `FILE` to install on a disk")
	f.BoolVar(&d.local, "local", false, "start what is on the machine's own disk, and nothing else")
	f.StringVar(&d.args, "args", "", "the kernel's arguments, a `TEXT`")
	f.StringArrayVar(&d.expects, "expect", nil, "what a file must be, a `FILE=sha256:HEX` (repeat for more)")
	f.StringVar(&d.manifest, "manifest", "", "a `FILE` with all this as YAML or JSON, the files beside it; only --expect and --args are given with it")
	return c
}

// stage stages what the flags name.
func (d *draft) stage(ctx context.Context, dir, name string) error {
	m, err := d.read(name)
	if err != nil {
		return err
	}
	if err := m.CheckDraft(); err != nil {
		return badDraft(err)
	}
	s, err := images.Create(dir)
	if err != nil {
		return err
	}
	defer s.Close()
	bar := d.bar("staging")
	i, err := s.Stage(ctx, m, d.sources, bar.show)
	bar.end()
	switch {
	case err != nil:
		return err
	case d.structured():
		return d.value(ctx, "image.stage", must(viewOf(i)))
	case d.given.output == "name":
		return d.print(i.Name + "\n")
	}
	return d.printf("staged %s: %s in %d files\ndigest: %s\n", i.Name, bytesOf(i.Size()), len(i.Files), i.Digest)
}

// read makes the manifest, without digests, and finds where the files are.
func (d *draft) read(name string) (m images.Manifest, err error) {
	d.sources = map[string]images.Source{}
	if d.manifest != "" {
		m, err = d.fromFile(name)
	} else {
		m, err = d.fromFlags(name)
	}
	if err != nil {
		return m, err
	}
	if err := d.expect(m.Files); err != nil {
		return m, err
	}
	return m, nil
}

// fromFile reads a manifest, whose files are beside it.
func (d *draft) fromFile(name string) (m images.Manifest, err error) {
	if len(d.kernels)+len(d.initrds)+len(d.efis)+len(d.loaders) > 0 || d.disk != "" || d.local {
		return m, usage("--manifest names the files, and so do other flags").then("give one of them")
	}
	raw, err := d.slurp(d.manifest, images.MaxManifest)
	if err != nil {
		return m, err
	}
	raw, err = yaml.YAMLToJSONStrict(raw) // JSON is YAML; repeated keys are told here
	if err != nil {
		return m, usage("%s: %v", d.manifest, err)
	}
	if m, err = images.ParseDraft(raw); err != nil {
		return m, badDraft(err)
	}
	if m.Name != "" && m.Name != name {
		return m, usage("%s is the manifest of %s, and the command names %s", d.manifest, clean(m.Name), name)
	}
	m.Name = name
	if d.args != "" {
		m.Boots = withArgs(m.Boots, d.args)
	}
	for _, f := range m.Files {
		d.sources[f.Name] = images.Source{Path: filepath.Join(filepath.Dir(d.path(d.manifest)), f.Name)}
	}
	return m, nil
}

// fromFlags makes the manifest of the other flags.
func (d *draft) fromFlags(name string) (images.Manifest, error) {
	boots := map[booter.Platform]images.Boots{}
	for _, g := range []struct {
		flag  string
		texts []string
		set   func(b *images.Boots, file string) (had bool)
	}{
		{"kernel", d.kernels, func(b *images.Boots, f string) bool { had := b.Kernel != ""; b.Kernel = f; return had }},
		{"initrd", d.initrds, func(b *images.Boots, f string) bool { b.Initrds = append(b.Initrds, f); return false }},
		{"efi", d.efis, func(b *images.Boots, f string) bool { had := b.EFI != ""; b.EFI = f; return had }},
		{"loader", d.loaders, func(b *images.Boots, f string) bool { had := b.Loader != ""; b.Loader = f; return had }},
	} {
		for _, text := range g.texts {
			platform, path := platformOf(text)
			file, err := d.add(path)
			if err != nil {
				return images.Manifest{}, err
			}
			b := boots[platform]
			if g.set(&b, file) {
				return images.Manifest{}, usage("--%s is given twice for %s", g.flag, platform)
			}
			boots[platform] = b
		}
	}
	m := images.Manifest{Name: name, Boots: boots}
	if d.args != "" {
		m.Boots = withArgs(boots, d.args)
	}
	if d.disk != "" {
		file, err := d.add(d.disk)
		if err != nil {
			return m, err
		}
		m.Disk = file
	}
	for _, file := range slices.Sorted(maps.Keys(d.sources)) {
		m.Files = append(m.Files, images.File{Name: file})
	}
	if d.local {
		b := boots[images.Any]
		b.Local = true
		boots[images.Any] = b
	}
	if len(m.Files) == 0 && !d.local {
		return m, usage("the image has no files").then("give --kernel, --efi, --loader, --disk or --local, or a --manifest")
	}
	return m, nil
}

// platformOf splits PLATFORM=FILE. What is before a slash is no platform: ./a=b is
// a file.
func platformOf(text string) (booter.Platform, string) {
	before, after, ok := strings.Cut(text, "=")
	if !ok || strings.Contains(before, "/") {
		return images.Any, text
	}
	return booter.Platform(before), after
}

// add takes a file in, under the last part of its path.
func (d *draft) add(path string) (string, error) {
	path = d.path(path)
	name := filepath.Base(path)
	if booter.Gate(name) != nil {
		return "", usage("%s cannot be the name of a file of an image", quote(name)).
			then("rename it: 1 to 64 letters, digits or . _ -, first alphanumeric, without \"..\"")
	}
	if was := d.sources[name].Path; was != "" && was != path {
		return "", usage("%s and %s have the same name", was, path).then("rename one")
	}
	d.sources[name] = images.Source{Path: path}
	return name, nil
}

// expect states the digests that --expect gives.
func (d *draft) expect(files []images.File) error {
	for _, text := range d.expects {
		name, sum, ok := strings.Cut(text, "=sha256:")
		if !ok || !booter.IsDigest(strings.ToLower(sum)) {
			return usage("--expect %s is not FILE=sha256: and 64 hexadecimal digits", quote(text))
		}
		name, sum = filepath.Base(name), strings.ToLower(sum)
		at := slices.IndexFunc(files, func(f images.File) bool { return f.Name == name })
		if at < 0 {
			return usage("--expect names %s, which is no file of the image", quote(name))
		}
		if cmp.Or(files[at].SHA256, sum) != sum {
			return usage("--expect says %s of %s, and %s was said before", sum, name, files[at].SHA256)
		}
		files[at].SHA256 = sum
	}
	return nil
}

// withArgs is boots with the arguments of all platforms.
func withArgs(boots map[booter.Platform]images.Boots, args string) map[booter.Platform]images.Boots {
	out := map[booter.Platform]images.Boots{}
	maps.Copy(out, boots)
	b := out[images.Any]
	b.Args = args
	out[images.Any] = b
	return out
}
