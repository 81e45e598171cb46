//go:build !linux

package vmlab

import "context"

type edge struct{}

func (*Lab) newEdge(context.Context) (*edge, error) {
	return nil, &Missing{"a network namespace", "run the lab on Linux"}
}

func (*edge) cable(context.Context, string, string, string, string) error { return nil }
func (*edge) do(context.Context, ...string) error                         { return nil }
func (*edge) serve(string, string, ...string) error                       { return nil }
func (*edge) said() string                                                { return "" }
func (*edge) close()                                                      {}
