package carry

import (
	"context"
	"net/http"

	"github.com/coder/websocket"
)

// Accept makes a request a booter's line and serves it, as [Desk.Serve] does. Who may
// come is for its caller to have decided. The error is of an upgrade that failed, whose
// answer is given, or of the line's end.
func (d *Desk) Accept(ctx context.Context, w http.ResponseWriter, r *http.Request, booter string) error {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Subprotocol}})
	if err != nil {
		return err
	}
	return d.Serve(ctx, booter, websocket.NetConn(ctx, ws, websocket.MessageBinary))
}
