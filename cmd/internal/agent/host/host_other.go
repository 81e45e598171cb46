//go:build !linux

package host

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"time"
)

func setClock(time.Time) error { return errors.ErrUnsupported }

func restart() error { return errors.ErrUnsupported }

// Mount is for Linux.
func Mount() error { return errors.ErrUnsupported }

// Reap is for Linux.
func Reap(ctx context.Context, _ *slog.Logger) { <-ctx.Done() }

// Insert is for Linux.
func Insert(fs.File) error { return errors.ErrUnsupported }

// Set is for Linux.
func Set(Step) error { return errors.ErrUnsupported }

func lock(context.Context, string) (func(), error) { return nil, errors.ErrUnsupported }

func like(*os.File, string) error { return errors.ErrUnsupported }
