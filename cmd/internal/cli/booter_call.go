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
func (a *app) booterLeaf(use, short, example string, run func(ctx context.Context, b *hostSocket, words []string) error) *cobra.Command {
	where := ""
	c := a.leaf(use, short, example, func(c *cobra.Command, words []string) error {
		b := &hostSocket{where: where, is: "booterd"}
		b.away = func(_ context.Context, err error) error { return b.unreachable(err) }
		return a.onSocket(c, b, where, func(ctx context.Context) error { return run(ctx, b, words) })
	})
	c.Flags().StringVar(&where, "booter", defaultBooter, "the `SOCKET` of the booter on this host")
	return c
}

// onSocket has run ask by a socket, within the time that the command may take.
func (a *app) onSocket(c *cobra.Command, b *hostSocket, socket string, run func(context.Context) error) error {
	if a.given.output == "name" {
		return usage("%s answers with nothing that has a name", c.CommandPath()).then("known: text, wide, json, yaml")
	}
	base, dial, err := a.address(socket)
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
	b.base, b.http = base.String(), &http.Client{Transport: tr}
	return run(ctx)
}

// hostSocket is a daemon as its own host reaches it: by a Unix socket.
type hostSocket struct {
	where, base string
	http        *http.Client
	is          string                             // whose socket it should be
	away        func(context.Context, error) error // what to say where it cannot be asked
}

// ask calls a daemon. body is sent as JSON where there is one, and the answer read into
// out.
func (b *hostSocket) ask(ctx context.Context, method, path string, body, out any) error {
	var sent io.Reader
	if body != nil {
		sent = bytes.NewReader(must(body))
	}
	req, err := http.NewRequestWithContext(ctx, method, b.base+path, sent)
	if err != nil {
		return usage("%v", err)
	}
	raw, err := b.bytes(req, maxSaid)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return &Refusal{b.where + " answers with what is not understood: " + err.Error(), "is it the socket of " + b.is + ", of this version?", "UNAVAILABLE"}
	}
	return nil
}

// bytes are what a daemon answers with, at most limit of them.
func (b *hostSocket) bytes(req *http.Request, limit int64) ([]byte, error) {
	res, err := b.http.Do(req)
	if err != nil {
		return nil, b.away(req.Context(), err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, limit))
	if err != nil {
		return nil, b.away(req.Context(), err)
	}
	if res.StatusCode == http.StatusOK {
		return raw, nil
	}
	p := new(api.Problem)
	if json.Unmarshal(raw, p) == nil && p.Name != "" {
		return nil, p
	}
	return nil, &Refusal{b.where + " answers " + res.Status, "is it the socket of " + b.is + "?", "UNAVAILABLE"}
}

func (b *hostSocket) unreachable(err error) error {
	what := err
	if dial, ok := errors.AsType[*net.OpError](err); ok {
		what = dial.Err
	}
	return &Refusal{"the booter at " + b.where + " cannot be asked: " + what.Error(), "run this on the booter's host, where booterd serves, as root or in the group of its socket; --booter names another socket", "UNAVAILABLE"}
}
