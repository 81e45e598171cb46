package rootfs

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/diskfs/go-diskfs/backend/file"
	"github.com/diskfs/go-diskfs/filesystem/ext4"
	"github.com/google/uuid"
)

// Write makes an image of size bytes, a whole number of MiB, in the empty file f, with
// files by their names. id is the filesystem's UUID. The error is an *Invalid, or f's.
func Write(f *os.File, size int64, id [16]byte, label string, files map[string][]byte) error {
	if size < MinSize || size > MaxSize || size%unit != 0 {
		return &Invalid{"size", fmt.Sprintf("is %d bytes, want %d to %d in whole MiB", size, MinSize, int64(MaxSize))}
	}
	if len(label) > 16 {
		return &Invalid{"label", "is over 16 bytes"}
	}
	if err := f.Truncate(size); err != nil {
		return err
	}
	uid := uuid.UUID(id)
	fs, err := ext4.Create(file.New(f, false), size, 0, 512, &ext4.Params{UUID: &uid, VolumeName: label, Features: []ext4.FeatureOpt{
		ext4.WithFeatureMetadataChecksums(false), ext4.WithFeatureMetadataChecksumSeedInSuperblock(false), ext4.WithFeatureGDTChecksum(false), ext4.WithFeatureHasJournal(false), ext4.WithFeatureReservedGDTBlocksForExpansion(false),
	}})
	if err != nil {
		return &Invalid{"filesystem", "cannot be made: " + err.Error()}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := put(fs, name, files[name]); err != nil {
			return &Invalid{"file " + name, "cannot be written: " + err.Error()}
		}
	}
	return still(f, id)
}

// put writes a file, and makes its folders.
func put(fs *ext4.FileSystem, name string, body []byte) error {
	if dir := path.Dir(name); dir != "." {
		if err := fs.Mkdir(dir); err != nil {
			return err
		}
	}
	f, err := fs.OpenFile(name, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return err
	}
	n, err := f.Write(body)
	if err == nil && n < len(body) {
		err = io.ErrShortWrite
	}
	return errors.Join(err, f.Close())
}
