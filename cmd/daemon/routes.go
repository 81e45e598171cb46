package daemon

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/carry"
	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/ingotmetal/ingot/cmd/internal/server"
	"github.com/ingotmetal/ingot/cmd/internal/server/httpop"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
)

// routes adds what is no operation: whether the process lives, whether the site can
// be served, and the metrics.
func (r *run) routes(mux *http.ServeMux, srv *server.Server) http.Handler {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "alive", "") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, req *http.Request) {
		if err := r.ready(req.Context()); err != nil {
			answer(w, http.StatusServiceUnavailable, "not ready", "the store does not answer; the log of ingotd says why")
			return
		}
		answer(w, http.StatusOK, "ready", "")
	})
	scrape := r.metrics.Handler()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, req *http.Request) {
		_, local := serve.PeerFrom(req.Context())
		if !local && !(r.Config.Metrics.TCP && srv.MayRead(req)) {
			httpop.NotFound().ServeHTTP(w, req)
			return
		}
		scrape.ServeHTTP(w, req)
	})
	mux.Handle(sessions.Path, r.live)
	if r.agent != nil {
		mux.Handle(carry.Path, srv.Carry(&r.carriers))
	}
	mux.Handle("/", httpop.NotFound())
	return httpop.Plain(mux)
}

func answer(w http.ResponseWriter, status int, word, next string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct {
		Status string `json:"status"`
		Next   string `json:"next,omitempty"`
	}{word, next})
}

// operation is the operation that a request was routed to, "" for none.
func operation(req *http.Request) string {
	method, path, _ := strings.Cut(req.Pattern, " ")
	for _, op := range api.All() {
		if d := op.Info(); d.Path == path && d.Method == method {
			return d.Name
		}
	}
	return ""
}
