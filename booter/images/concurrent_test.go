package images

import (
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Readers in another process meet whole files alone while an image is staged again
// and again: each is what its digest says, or has gone.
func TestReadersWhileStaging(t *testing.T) {
	dir := t.TempDir()
	writer, reader := opened(t, dir), opened(t, dir)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					if err := readOne(reader); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for n := range 20 {
		stage(t, writer, "one", strings.Repeat(strconv.Itoa(n), 1<<16), "initrd")
	}
	close(stop)
	wg.Wait()
	if _, err := reader.Reload(); err != nil || reader.Staged()["one"] != writer.Staged()["one"] {
		t.Errorf("%v, %v", reader.Staged(), err)
	}
}

func readOne(s *Store) error {
	if _, err := s.Reload(); err != nil {
		return err
	}
	b, err := s.OpenFile("one", "vmlinuz")
	if errors.Is(err, fs.ErrNotExist) { // before the first, or staged again just now
		return nil
	}
	if err != nil {
		return err
	}
	defer b.Close()
	raw, err := io.ReadAll(b)
	if err == nil && (sum(string(raw)) != b.SHA256() || int64(len(raw)) != b.Size()) {
		return errors.New("a part was served")
	}
	return err
}
