package booting

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/booting/account"
	"github.com/ingotmetal/ingot/cmd/internal/server/httpop"
)

// Local serves who is on the booter's host, by its Unix socket: GET /v1/why/{mac} is
// an [account.Account], POST /v1/explain takes a packet in hexadecimal and answers with what
// it would come to, [account.Verdict], GET /v1/counts is [Desk.Counts], and GET /metrics
// [Desk.Metrics].
func (d *Desk) Local() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, map[string]string{"status": "alive"}) })
	mux.HandleFunc("GET /v1/counts", func(w http.ResponseWriter, _ *http.Request) { say(w, d.Counts()) })
	mux.HandleFunc("GET /v1/why/{mac}", func(w http.ResponseWriter, r *http.Request) {
		mac, ok := parseMAC(r.PathValue("mac"))
		if !ok {
			refuse(w, api.NewProblem("INVALID_INPUT", "want a MAC address: 6 octets in hexadecimal"))
			return
		}
		say(w, d.Why(mac))
	})
	mux.HandleFunc("POST /v1/explain", d.explain)
	mux.Handle("GET /metrics", d.Metrics())
	mux.Handle("/", httpop.NotFound())
	return mux
}

func (d *Desk) explain(w http.ResponseWriter, r *http.Request) {
	var in account.Packet
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, account.MaxPacket))
	dec.DisallowUnknownFields()
	err := dec.Decode(&in)
	_, end := dec.Token()
	raw, badHex := hex.DecodeString(in.Packet)
	if err != nil || badHex != nil || end != io.EOF {
		refuse(w, api.NewProblem("INVALID_INPUT", "want JSON with a packet in hexadecimal, at most 16 KiB"))
		return
	}
	say(w, d.Try(raw, booter.Request{Interface: in.Interface, Source: in.Source, BootPort: in.BootPort}))
}

func say(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the caller is gone, or has it
}

func refuse(w http.ResponseWriter, p *api.Problem) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}
