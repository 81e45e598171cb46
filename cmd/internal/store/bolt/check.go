package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/bits"
	"os"

	"github.com/ingotmetal/ingot/statemachine/journal"
)

// The layout of bbolt's files, version 2, in the host's order of bytes: a page has
// a header (id 64 bits, kind 16, count 16, further pages 32) and count elements.
// Keys and values lie behind the elements, at an offset from their own element.
const (
	headerSize  = 16
	elementSize = 16 // of a branch: offset 32, key's length 32, page 64; of a leaf: flags, offset, lengths of key and value, 32 each
	metaSize    = 64 // magic 32, version 32, page size 32, flags 32, root 64, sequence 64, free list 64, end 64, transaction 64, checksum 64
	bucketSize  = 16 // a bucket's value: root page 64, sequence 64; the page itself follows where the root is 0

	magic      = 0xED0CDAED
	version    = 2
	noFreelist = 1<<64 - 1

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
	bucketFlag   = 0x01

	minPage, maxPage = 1 << 10, 1 << 24 // bytes
	maxDepth         = 64               // of a tree; a real one of 2^32 rows has 8
)

// checkFile follows every page that can be reached, and wants each to be where it
// says, inside the file, whole, and its keys in order. bbolt trusts that, or looks
// at it on goroutines of its own, whose panics end the process.
func checkFile(f *os.File, size int64) error {
	if err := follow(f, size); err != nil {
		return damaged("the file is damaged", journal.Head{}, advised(err, f.Name()))
	}
	return nil
}

func follow(f io.ReaderAt, size int64) error {
	m, err := readMeta(f, size)
	if err != nil {
		return err
	}
	if need := m.end * uint64(m.pageSize); m.end > uint64(size) || need > uint64(size) {
		return fmt.Errorf("it has %d bytes, and %d are in use", size, need)
	}
	c := &checker{f: f, pageSize: m.pageSize, end: m.end, seen: make([]uint64, m.end/64+1)}
	if err := c.tree(m.root, 0, span{}); err != nil || m.freelist == noFreelist {
		return err
	}
	return c.freelist(m.freelist)
}

// meta is what a meta page says.
type meta struct {
	pageSize                  int
	root, freelist, end, txid uint64
}

// readMeta reads the meta page that bbolt would go by.
func readMeta(f io.ReaderAt, size int64) (meta, error) {
	pageSize, ok := findPageSize(f, size)
	if !ok {
		return meta{}, fmt.Errorf("neither of its meta pages is one; it is no store, or its beginning is lost")
	}
	first, ok0 := metaAt(f, 0)
	second, ok1 := metaAt(f, int64(pageSize))
	switch {
	case ok0 && (!ok1 || second.txid <= first.txid):
		second = first
	case !ok1:
		return meta{}, fmt.Errorf("its second meta page is not where the first ends")
	}
	if second.pageSize != pageSize || bits.OnesCount(uint(pageSize)) != 1 || pageSize < minPage || pageSize > maxPage {
		return meta{}, fmt.Errorf("its pages have %d bytes by one meta page and %d by the other", pageSize, second.pageSize)
	}
	return second, nil
}

// findPageSize looks for a meta page where bbolt does.
func findPageSize(f io.ReaderAt, size int64) (int, bool) {
	if m, ok := metaAt(f, 0); ok {
		return m.pageSize, true
	}
	for at := int64(minPage); at <= maxPage && at < size-minPage; at *= 2 {
		if m, ok := metaAt(f, at); ok {
			return m.pageSize, true
		}
	}
	return 0, false
}

func metaAt(f io.ReaderAt, at int64) (m meta, ok bool) {
	var b [headerSize + metaSize]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		return m, false
	}
	in := b[headerSize:]
	sum := fnv.New64a()
	sum.Write(in[:metaSize-8])
	ne := binary.NativeEndian
	if ne.Uint32(in) != magic || ne.Uint32(in[4:]) != version || ne.Uint64(in[metaSize-8:]) != sum.Sum64() {
		return m, false
	}
	return meta{pageSize: int(ne.Uint32(in[8:])), root: ne.Uint64(in[16:]),
		freelist: ne.Uint64(in[32:]), end: ne.Uint64(in[40:]), txid: ne.Uint64(in[48:])}, true
}

// harm is what is wrong with a page.
type harm struct {
	page uint64
	err  error
}

func (h *harm) Error() string { return fmt.Sprintf("page %d: %v", h.page, h.err) }

func (h *harm) Unwrap() error { return h.err }

// checker follows the pages of a file.
type checker struct {
	f        io.ReaderAt
	pageSize int
	end      uint64   // the first page that is not in use
	seen     []uint64 // a bit for each page
	bufs     [maxDepth + 1][]byte
}

// page reads a page with what overflows it, into the room of its depth.
func (c *checker) page(id uint64, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, &harm{id, errors.New("lies too deep")}
	}
	if id < 2 || id >= c.end {
		return nil, &harm{id, fmt.Errorf("is pointed to, and there are %d", c.end)}
	}
	b, err := c.read(id, depth, 1)
	if err != nil {
		return nil, err
	}
	more := uint64(binary.NativeEndian.Uint32(b[12:]))
	if is := binary.NativeEndian.Uint64(b); is != id || id+more >= c.end {
		return nil, &harm{id, fmt.Errorf("calls itself %d, with %d more, and there are %d", is, more, c.end)}
	}
	for p := id; p <= id+more; p++ {
		if c.seen[p/64]&(1<<(p%64)) != 0 {
			return nil, &harm{p, errors.New("is in two places")}
		}
		c.seen[p/64] |= 1 << (p % 64)
	}
	if more == 0 {
		return b, nil
	}
	return c.read(id, depth, int(more)+1)
}

// read reads n pages.
func (c *checker) read(id uint64, depth, n int) ([]byte, error) {
	if n *= c.pageSize; cap(c.bufs[depth]) < n {
		c.bufs[depth] = make([]byte, n)
	}
	b := c.bufs[depth][:n]
	if _, err := c.f.ReadAt(b, int64(id)*int64(c.pageSize)); err != nil {
		return nil, &harm{id, err}
	}
	return b, nil
}

// span is where the keys of a page must lie: from lo on, below hi. nil is no bound.
type span struct{ lo, hi []byte }

// next wants a page's next key to be in the span, and leaves what may follow it.
func (s *span) next(key []byte, first bool) error {
	order := bytes.Compare(s.lo, key)
	if order > 0 || order == 0 && !first || s.hi != nil && bytes.Compare(key, s.hi) >= 0 {
		return errors.New("has a key out of order")
	}
	s.lo = key
	return nil
}

// tree follows a bucket from its root, or the part of it whose keys are in the span.
func (c *checker) tree(id uint64, depth int, keys span) error {
	b, err := c.page(id, depth)
	if err != nil {
		return err
	}
	switch kind := binary.NativeEndian.Uint16(b[8:]); kind {
	case branchPage:
		err = c.branch(b, depth, keys)
	case leafPage:
		err = c.leaf(b, depth, keys)
	default:
		err = fmt.Errorf("is of kind %#x", kind)
	}
	var at *harm
	if err != nil && !errors.As(err, &at) {
		err = &harm{id, err}
	}
	return err
}

// elements is how many elements a page has, or an error where they reach beyond it.
func elements(b []byte) (n int, err error) {
	n = int(binary.NativeEndian.Uint16(b[10:]))
	if headerSize+n*elementSize > len(b) {
		return 0, fmt.Errorf("has %d elements in %d bytes", n, len(b))
	}
	return n, nil
}

// element returns the key and the value that lie at an offset from an element, behind
// all n elements and inside the page.
func element(b []byte, n, at int, offset, key, val uint32) (k, v []byte, err error) {
	from := uint64(at) + uint64(offset)
	end := from + uint64(key)
	if key == 0 || from < uint64(headerSize+n*elementSize) || end+uint64(val) > uint64(len(b)) {
		return nil, nil, errors.New("has an element that reaches out of it")
	}
	return b[from:end], b[end : end+uint64(val)], nil
}

func (c *checker) branch(b []byte, depth int, keys span) error {
	n, err := elements(b)
	if err == nil && n == 0 {
		err = errors.New("is a branch without twigs")
	}
	twig := func(i int) (key []byte, to uint64, err error) {
		at, ne := headerSize+i*elementSize, binary.NativeEndian
		key, _, err = element(b, n, at, ne.Uint32(b[at:]), ne.Uint32(b[at+4:]), 0)
		return key, ne.Uint64(b[at+8:]), err
	}
	for i := 0; i < n && err == nil; i++ {
		var key []byte
		var to uint64
		if key, to, err = twig(i); err == nil {
			err = keys.next(key, i == 0)
		}
		below := span{key, keys.hi}
		if err == nil && i+1 < n {
			below.hi, _, err = twig(i + 1)
		}
		if err == nil {
			err = c.tree(to, depth+1, below)
		}
	}
	return err
}

func (c *checker) leaf(b []byte, depth int, keys span) error {
	n, err := elements(b)
	for i := 0; i < n && err == nil; i++ {
		at, ne := headerSize+i*elementSize, binary.NativeEndian
		var key, val []byte
		key, val, err = element(b, n, at, ne.Uint32(b[at+4:]), ne.Uint32(b[at+8:]), ne.Uint32(b[at+12:]))
		if err == nil {
			err = keys.next(key, i == 0)
		}
		if err == nil && ne.Uint32(b[at:])&bucketFlag != 0 {
			err = c.bucket(val, depth)
		}
	}
	return err
}

// bucket follows the bucket that is an element's value.
func (c *checker) bucket(val []byte, depth int) error {
	if len(val) < bucketSize {
		return fmt.Errorf("has a bucket of %d bytes", len(val))
	}
	if root := binary.NativeEndian.Uint64(val); root != 0 {
		return c.tree(root, depth+1, span{})
	}
	inline := val[bucketSize:]
	if len(inline) < headerSize || binary.NativeEndian.Uint16(inline[8:]) != leafPage || depth == maxDepth {
		return errors.New("has a bucket whose own page is none")
	}
	return c.leaf(inline, depth+1, span{})
}

// freelist looks at the list of free pages, which bbolt's tools leave in a file.
func (c *checker) freelist(id uint64) error {
	b, err := c.page(id, 0)
	if err != nil {
		return err
	}
	n, at := uint64(binary.NativeEndian.Uint16(b[10:])), headerSize
	if n == 0xFFFF {
		n, at = binary.NativeEndian.Uint64(b[at:]), at+8
	}
	if binary.NativeEndian.Uint16(b[8:]) != freelistPage || n > uint64(len(b)-at)/8 {
		return &harm{id, errors.New("is no list of free pages")}
	}
	for ; n > 0; n, at = n-1, at+8 {
		if p := binary.NativeEndian.Uint64(b[at:]); p < 2 || p >= c.end {
			return &harm{p, fmt.Errorf("is free, and there are %d", c.end)}
		}
	}
	return nil
}
