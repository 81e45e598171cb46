// Package unpack undoes the compressions that distributions use for packages and kernel
// modules.
package unpack

import (
	"compress/gzip"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// Reader undoes the compression that a file's end shows: ".xz", ".zst" or ".gz". known
// is false for another. memory bounds what zst takes, in bytes; xz takes what the data
// says, at most 4 GiB, and uses no more of it than there is content. done lets the
// reader go. Errors are those of the data's form, or r's.
func Reader(end string, r io.Reader, memory uint64) (plain io.Reader, done func(), known bool, err error) {
	done = func() {}
	switch end {
	case ".gz":
		plain, err = gzip.NewReader(r)
	case ".xz":
		plain, err = xz.NewReader(r)
	case ".zst":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(memory), zstd.WithDecoderMaxWindow(min(memory, zstd.MaxWindowSize))); err == nil {
			plain, done = z, z.Close
		}
	default:
		return nil, done, false, nil
	}
	return plain, done, true, err
}
