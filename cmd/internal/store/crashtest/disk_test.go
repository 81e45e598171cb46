package crashtest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A change is a write or a growth of a file that need not be on the disk yet.
type change struct {
	at   int64
	data []byte // nil where the file grows to at
	done bool   // the call has returned: a sync that begins now covers it
}

// apply does a change.
func (c *change) apply(b []byte) []byte {
	end := c.at + int64(len(c.data))
	if end > int64(len(b)) {
		b = append(b, make([]byte, end-int64(len(b)))...)
	}
	copy(b[c.at:], c.data)
	return b
}

// An inode is a file's content: what is on the disk, and what may be.
type inode struct {
	durable []byte
	pending []*change
}

// cached is what the kernel shows.
func (i *inode) cached() []byte {
	b := slices.Clone(i.durable)
	for _, c := range i.pending {
		b = c.apply(b)
	}
	return b
}

// A naming gives a name of the folder a file, or takes the name away.
type naming struct {
	name string
	file *inode
}

// A disk is one folder: what is on the disk, and what the kernel has besides.
type disk struct {
	dir     string
	names   map[string]*inode // on the disk
	cache   map[string]*inode // as the kernel shows them
	pending []*naming
	syncing map[string]func() // by thread, what becomes durable when its sync ends
	doubt   []doubt           // calls in which a worker died
	notes   []string
	marks   map[uint64]string // every head that was written to the mark, by revision
	after   map[string][]byte // the files at the end of this life
	// lies, where it is not nil, says whether a sync of a name is only pretended.
	lies func(name string) bool
}

// A doubt is what a worker died in: done or not, the files say.
type doubt struct {
	step
	undo func()
}

func newDisk(dir string) *disk {
	return &disk{dir: dir, names: map[string]*inode{}, cache: map[string]*inode{}, syncing: map[string]func(){}, marks: map[uint64]string{}}
}

// take takes a step, and reports whether the disk may now hold what it could not
// before, or must hold more.
func (d *disk) take(s step) (news bool, err error) {
	name := base(s.path, d.dir)
	if strings.HasPrefix(name, ".probe-") {
		return false, nil // it holds nothing
	}
	if s.failed() {
		return false, d.fails(s)
	}
	switch s.name {
	case "pwrite64", "ftruncate":
		return d.write(name, s)
	case "write":
		if name != notesFile {
			return false, fmt.Errorf("a write to %s", name)
		}
		if s.begins {
			d.notes = append(d.notes, strings.TrimSuffix(string(s.data), "\n"))
		}
		return s.begins && !bytes.HasPrefix(s.data, []byte("ask")), nil
	case "fsync", "fdatasync":
		return d.sync(name, s)
	case "openat", "linkat", "rename", "renameat", "renameat2", "unlink", "unlinkat":
		return d.rename(name, s)
	}
	return false, fmt.Errorf("%s of %s, which is not expected here", s.name, name)
}

// fails takes a call that the kernel refused.
func (d *disk) fails(s step) error {
	if s.name == "openat" || s.name == "unlinkat" || s.name == "unlink" {
		return nil // a file that is not there
	}
	return fmt.Errorf("%s of %s failed: %s", s.name, s.path, s.result)
}

// write begins and ends a write or a growth.
func (d *disk) write(name string, s step) (news bool, err error) {
	f := d.cache[name]
	if f == nil {
		return false, fmt.Errorf("%s is written, which is not there", name)
	}
	if s.begins {
		c := &change{at: s.at, data: s.data}
		if s.name == "ftruncate" && s.at < int64(len(f.cached())) {
			return false, fmt.Errorf("%s shrinks", name)
		}
		if h, ok := headOf(s.data); ok && name != dbFile {
			d.marks[h.Revision] = h.String()
		}
		f.pending = append(f.pending, c)
	}
	if s.ends {
		c := f.latest(s)
		switch {
		case s.result == "?":
			d.doubt = append(d.doubt, doubt{s, func() { f.pending = slices.DeleteFunc(f.pending, func(o *change) bool { return o == c }) }})
		case s.name == "pwrite64" && s.result != strconv.Itoa(len(s.data)):
			return false, fmt.Errorf("a write of %d bytes to %s ended with %s", len(s.data), name, s.result)
		}
		c.done = s.result != "?"
	}
	return s.begins && s.result != "?", nil // what may never have happened has no truth
}

// latest is the change that a call made which ends.
func (i *inode) latest(s step) *change {
	for _, c := range slices.Backward(i.pending) {
		if c.at == s.at && !c.done && bytes.Equal(c.data, s.data) {
			return c
		}
	}
	panic("a write ends that did not begin")
}

// sync begins a sync, which covers what is done by then, and ends it.
func (d *disk) sync(name string, s step) (news bool, err error) {
	if s.begins {
		if d.syncing[s.tid], err = d.covered(name); err != nil {
			return false, err
		}
	}
	if !s.ends || s.result != "0" || d.lies != nil && d.lies(name) {
		return false, nil
	}
	d.syncing[s.tid]()
	return true, nil
}

// covered returns what makes durable what is done in a file, or in the folder.
func (d *disk) covered(name string) (func(), error) {
	if name == "." {
		n := len(d.pending)
		return func() {
			for _, c := range d.pending[:min(n, len(d.pending))] {
				c.on(d.names)
			}
			d.pending = d.pending[min(n, len(d.pending)):]
		}, nil
	}
	f := d.cache[name]
	if f == nil {
		return nil, fmt.Errorf("%s is synced, which is not there", name)
	}
	covered := map[*change]bool{}
	for _, c := range f.pending {
		covered[c] = c.done
	}
	return func() {
		f.pending = slices.DeleteFunc(f.pending, func(c *change) bool {
			if covered[c] {
				f.durable = c.apply(f.durable)
			}
			return covered[c]
		})
	}, nil
}

func (n *naming) on(names map[string]*inode) {
	if n.file == nil {
		delete(names, n.name)
		return
	}
	names[n.name] = n.file
}

// rename makes a file, gives it another name or takes its name away.
func (d *disk) rename(name string, s step) (news bool, err error) {
	if !s.ends || s.name == "openat" && (!strings.Contains(s.flags, "O_CREAT") || d.cache[name] != nil) || name == notesFile {
		return false, nil
	}
	if strings.Contains(s.flags, "O_TRUNC") {
		return false, fmt.Errorf("%s is opened to be overwritten", name)
	}
	var todo []*naming
	switch s.name {
	case "openat":
		todo = []*naming{{name: name, file: &inode{}}}
	case "linkat":
		todo = []*naming{{name: base(s.path2, d.dir), file: d.cache[name]}}
	case "unlink", "unlinkat":
		todo = []*naming{{name: name}}
	default:
		todo = []*naming{{name: base(s.path2, d.dir), file: d.cache[name]}, {name: name}}
	}
	if s.result == "?" && !d.happened(name, s) {
		return false, nil
	}
	for _, n := range todo {
		n.on(d.cache)
	}
	d.pending = append(d.pending, todo...)
	return true, nil
}

// happened looks whether a call on names did what the worker died in.
func (d *disk) happened(name string, s step) bool {
	if s.name == "linkat" {
		name = base(s.path2, d.dir)
	}
	_, is := d.after[name]
	return is == (s.name == "openat" || s.name == "linkat")
}

// settle ends a life: it finds out what the worker died in, and wants the files to
// be what the trace says. The first is how a death within a call is told apart, the
// second is the proof that nothing was overlooked.
func (d *disk) settle() error {
	d.syncing = map[string]func(){}
	for _, x := range d.doubt {
		if d.agrees() != nil {
			x.undo()
		}
	}
	d.doubt = nil
	for _, f := range d.cache {
		for _, c := range f.pending {
			c.done = true
		}
	}
	return d.agrees()
}

func (d *disk) agrees() error {
	var errs []error
	for name, f := range d.cache {
		if real, ok := d.after[name]; !ok || !bytes.Equal(real, f.cached()) {
			errs = append(errs, fmt.Errorf("%s is not what the trace says (there: %t)", name, ok))
		}
	}
	return errors.Join(errs...)
}

// A tear is how writes break: into units of so many bytes; 0 is not at all.
type tear int64

// image is a folder as a power loss may leave it. Of what is not synced, each part
// is there with a chance, and in any order. With tidy the mark has all that was
// written to it.
func (d *disk) image(draw *rand.Rand, tidy bool) map[string][]byte {
	names := maps.Clone(d.names)
	for _, n := range d.pending {
		if draw.IntN(2) == 0 {
			n.on(names)
		}
	}
	t := []tear{0, 512, 512, 64}[draw.IntN(4)]
	chance := []float64{0, 0.1, 0.5, 0.5, 0.9, 1}[draw.IntN(6)]
	files := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if files[name] = names[name].left(draw, t, chance); tidy && name != dbFile {
			files[name] = names[name].cached()
		}
	}
	return files
}

// writing reports whether a commit may be under way.
func (d *disk) writing() bool { return d.cache[dbFile] != nil && len(d.cache[dbFile].pending) > 0 }

// marked is the newest revision that the mark on the disk names.
func (d *disk) marked() (rev uint64) {
	f := d.names[markFile]
	for at := 0; f != nil && at+markSize <= len(f.durable); at += markStep {
		if h, ok := headOf(f.durable[at : at+markSize]); ok {
			rev = max(rev, h.Revision)
		}
	}
	return rev
}

// unsure reports whether more than one image is possible.
func (d *disk) unsure() bool {
	return len(d.pending) > 0 || slices.ContainsFunc(slices.Collect(maps.Values(d.names)), func(f *inode) bool { return len(f.pending) > 0 })
}

// left is what may be left of a file.
func (i *inode) left(draw *rand.Rand, t tear, chance float64) []byte {
	b := slices.Clone(i.durable)
	for _, k := range draw.Perm(len(i.pending)) {
		for _, part := range i.pending[k].torn(t) {
			if draw.Float64() < chance {
				b = part.apply(b)
			}
		}
	}
	return b
}

// torn are the parts of a change that a disk writes whole.
func (c *change) torn(t tear) (parts []*change) {
	if t == 0 || len(c.data) == 0 {
		return []*change{c}
	}
	for from := int64(0); from < int64(len(c.data)); {
		to := min(int64(len(c.data)), from+int64(t)-(c.at+from)%int64(t))
		parts = append(parts, &change{at: c.at + from, data: c.data[from:to]})
		from = to
	}
	return parts
}
