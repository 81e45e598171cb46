package agent

import (
	"context"
	"io"

	"github.com/ingotmetal/ingot/disklayout"
)

// ParseBlock is parseBlock.
func ParseBlock(raw []byte, machine disklayout.UUID) (text []byte, again []byte, ok bool) {
	b, ok := parseBlock(raw, machine)
	if !ok {
		return nil, nil, false
	}
	return b.text, b.bytes(machine), true
}

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
