package demo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// blob is where a file is on the booter's disk.
func (l *lab) blob(sha256 string) string {
	return filepath.Join(l.dir, "images", "blobs", "sha256", strings.TrimPrefix(sha256, "sha256:"))
}

// spoilDiskImage changes a byte of what is installed.
func spoilDiskImage(_ context.Context, l *lab) error {
	path := l.blob(l.image)
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	l.say("site", "fault", "a byte of the disk image changes on the booter's disk")
	_, err = f.WriteAt([]byte("x"), 1<<20)
	return err
}

// stageAnew stages the images anew, after a setup of m failed over one.
func stageAnew(ctx context.Context, l *lab, m *machine) error {
	if l.mended || !m.gaveUp() {
		return nil
	}
	l.mended = true
	l.say("ada", "mends", "the disk image is staged anew")
	return l.stage(ctx)
}

// loseKernel removes a file that machines enroll with.
func loseKernel(_ context.Context, l *lab) error {
	l.say("site", "fault", "the kernel of image enroll is gone from the booter's disk, and nobody said so")
	return os.Remove(l.blob(l.files["vmlinuz"]))
}

// findKernel is an operator who asks why machines are silent, and stages anew.
func findKernel(ctx context.Context, l *lab) error {
	if err := l.silent(ctx, l.machines[0], booter.ImageUnstaged); err != nil {
		return err
	}
	l.say("ada", "mends", "the images are staged anew")
	return l.stage(ctx)
}

// loseDiskImage removes what is installed, once a setup was approved.
func loseDiskImage(_ context.Context, l *lab, _ *machine) error {
	l.say("site", "fault", "the disk image is gone from the booter's disk")
	return os.Remove(l.blob(l.image))
}

// approveStaged approves as ada does, who waits for the image where the site says that
// no booter has it.
func approveStaged(ctx context.Context, l *lab, m *machine) error {
	said := false
	for {
		err := l.approve(ctx, m)
		p, ok := errors.AsType[*api.Problem](err)
		if !ok || !strings.Contains(p.Detail, "stage") {
			return err
		}
		if !said {
			said = true
			l.say("ada", "refused", p.Name+": "+p.Detail)
		}
		if !l.mended {
			l.mended = true
			l.say("ada", "mends", "the disk image is staged anew")
			if err := l.stage(ctx); err != nil {
				return err
			}
		}
		if !pause.For(ctx, 200*time.Millisecond) {
			return context.Cause(ctx)
		}
	}
}
