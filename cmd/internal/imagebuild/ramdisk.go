package imagebuild

import (
	"cmp"
	"compress/gzip"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/cmd/internal/agent/host"
	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/cpio"
	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/kmod"
)

// ModulesFile lists the modules that the first process loads, as noded reads it.
const ModulesFile = host.ModulesFile

// A Ramdisk is what the kernel unpacks as its first root.
type Ramdisk struct {
	Init    []byte            // the first process, a static program
	Release string            // of the kernel; names the folder of modules
	Modules []kmod.Module     // in the order in which they are loaded
	Files   map[string][]byte // others by their names, such as etc/ingot/noded.yaml; mode 0644
}

// WriteTo writes it as a gzipped archive, and returns how many bytes that has. The error
// is a *cpio.Invalid or w's.
func (d Ramdisk) WriteTo(w io.Writer) (int64, error) {
	counted := &counter{w: w}
	z, err := gzip.NewWriterLevel(counted, gzip.BestCompression) // a header without name and time
	if err != nil {
		return 0, err
	}
	archive := cpio.NewWriter(z)
	for _, e := range d.entries() {
		if err := archive.Add(e); err != nil {
			return counted.n, err
		}
	}
	err = cmp.Or(archive.Close(), z.Close())
	return counted.n, err
}

// entries are its files with their folders, by name.
func (d Ramdisk) entries() []cpio.Entry {
	all := map[string]cpio.Entry{}
	put := func(name string, mode uint32, body []byte) {
		all[name] = cpio.Entry{Name: name, Mode: mode, Body: body}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, ok := all[dir]; !ok {
				all[dir] = cpio.Entry{Name: dir, Mode: cpio.Directory | 0o755}
			}
		}
	}
	for name, body := range d.Files {
		put(name, cpio.Regular|0o644, body)
	}
	var order strings.Builder
	for _, m := range d.Modules {
		name := path.Join("lib/modules", cmp.Or(d.Release, m.Release, "kernel"), m.Path)
		put(name, cpio.Regular|0o644, m.Body)
		order.WriteString(name + "\n")
	}
	put(ModulesFile, cpio.Regular|0o644, []byte(order.String()))
	for _, dir := range []string{"proc", "sys", "dev"} {
		all[dir] = cpio.Entry{Name: dir, Mode: cpio.Directory | 0o755}
	}
	all["dev/console"] = cpio.Entry{Name: "dev/console", Mode: cpio.Character | 0o600, Major: 5, Minor: 1}
	put("init", cpio.Regular|0o755, d.Init)
	return slices.SortedFunc(maps.Values(all), func(a, b cpio.Entry) int { return cmp.Compare(a.Name, b.Name) })
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
