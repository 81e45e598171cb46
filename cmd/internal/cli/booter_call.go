package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/api"
)

// defaultBooter is the socket of the booter on this host.
const defaultBooter = "unix:/run/ingot/booterd.sock"

// maxSaid bounds what a booter answers with, in bytes.
const maxSaid = 1 << 20

// booterLeaf is a verb that asks the booter on this host, and no server.
func (a *app) booterLeaf(use, short, example string, run func(ctx context.Context, b *booterSocket, words []string) error) *cobra.Command {
	where := ""
	c := a.leaf(use, short, example, func(c *cobra.Command, words []string) error {
		if a.given.output == "name" {
			return usage("%s answers with nothing that has a name", c.CommandPath()).then("known: text, wide, json, yaml")
		}
		base, dial, err := a.address(where)
		if err != nil {
			return err
		}
		limit := a.given.timeout
		if limit <= 0 {
			limit = defaultTimeout
		}
		ctx, done := context.WithTimeout(c.Context(), limit)
		defer done()
		tr := &http.Transport{DialContext: dial}
		defer tr.CloseIdleConnections()
		return run(ctx, &booterSocket{where, base.String(), &http.Client{Transport: tr}}, words)
	})
	c.Flags().StringVar(&where, "booter", defaultBooter, "the `SOCKET` of the booter on this host")
	return c
}

// booterSocket is a booter as its own host reaches it.
type booterSocket struct {
	where, base string
	http        *http.Client
}

// ask calls a booter. body is sent as JSON where there is one, and the answer read into
// out.
func (b *booterSocket) ask(ctx context.Context, method, path string, body, out any) error {
	var sent io.Reader
	if body != nil {
		sent = bytes.NewReader(must(body))
	}
	req, err := http.NewRequestWithContext(ctx, method, b.base+path, sent)
	if err != nil {
		return usage("%v", err)
	}
	res, err := b.http.Do(req)
	if err != nil {
		return b.unreachable(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxSaid))
	if err != nil {
		return b.unreachable(err)
	}
	if res.StatusCode != http.StatusOK {
		p := new(api.Problem)
		if json.Unmarshal(raw, p) == nil && p.Name != "" {
			return p
		}
		return &Refusal{b.where + " answers " + res.Status, "is it the socket of booterd?", "UNAVAILABLE"}
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return &Refusal{b.where + " answers with what is not understood: " + err.Error(), "is it the socket of booterd, of this version?", "UNAVAILABLE"}
	}
	return nil
}

func (b *booterSocket) unreachable(err error) error {
	what := err
	if dial, ok := errors.AsType[*net.OpError](err); ok {
		what = dial.Err
	}
	return &Refusal{"the booter at " + b.where + " cannot be asked: " + what.Error(), "run this on the booter's host, where booterd serves, as root or in the group of its socket; --booter names another socket", "UNAVAILABLE"}
}
