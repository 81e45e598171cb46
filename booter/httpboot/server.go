package httpboot

import (
	"log/slog"
	"net/http"
	"time"
)

// The bounds of a server of boot files.
const (
	HeaderTimeout = 10 * time.Second // to send a request
	IdleTimeout   = 30 * time.Second // between two requests on a connection
	MaxHeader     = 8 << 10          // bytes of a request's headers; net/http lets 4 KiB more pass
)

// NewServer returns a server that answers by h alone, with these bounds, in HTTP/1.
// Its own errors go to log, if that is not nil. The caller gives it listeners; to
// bound connections beside transfers, bound those that a listener accepts. It has no
// ReadTimeout, which would cancel the context of all requests on a connection on
// which one transfer took longer; nor a WriteTimeout, since Limits.Stall is one.
func NewServer(h *Handler, log *slog.Logger) *http.Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: HeaderTimeout, IdleTimeout: IdleTimeout,
		MaxHeaderBytes: MaxHeader, DisableGeneralOptionsHandler: true,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug), Protocols: new(http.Protocols),
	}
	s.Protocols.SetHTTP1(true)
	return s
}
