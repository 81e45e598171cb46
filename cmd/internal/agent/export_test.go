package agent

import (
	"context"
	"io"
)

// Fetch is fetch.
func Fetch(ctx context.Context, a *Agent, where string) (io.Reader, uint64, func(), error) {
	i, err := a.fetch(ctx, where)
	return i, i.sizeOf(), i.Close, err
}

func (i *image) sizeOf() uint64 {
	if i == nil {
		return 0
	}
	return i.size
}
