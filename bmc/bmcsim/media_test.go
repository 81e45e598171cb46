package bmcsim

import (
	"context"
	"crypto/sha256"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// imageServer serves /a.iso to whoever, and /secret.iso to u with p.
func imageServer(t *testing.T, image []byte) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case r.URL.Path == "/a.iso", r.URL.Path == "/secret.iso" && user == "u" && password == "p":
			_, _ = w.Write(image)
		case r.URL.Path == "/secret.iso":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/slow.iso":
			<-r.Context().Done()
		case r.URL.Path == "/cut.iso":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write(image[:10])
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// heard is a machine that takes media while it is on.
type heard struct {
	*Memory
	in  []Medium
	out []string
}

func (h *heard) Insert(_ context.Context, m Medium) error { h.in = append(h.in, m); return nil }
func (h *heard) Eject(_ context.Context, s string) error  { h.out = append(h.out, s); return nil }

// An image is really fetched, kept while it is in the slot, and given to the machine.
func TestImageIsFetched(t *testing.T) {
	image := []byte(strings.Repeat("image", 1000))
	from, dir := imageServer(t, image), t.TempDir()
	var h *heard
	s := simulate(t, r750, Options{Media: Media{Client: from.Client(), Dir: dir}, Backend: func(_ string, on bool) Backend {
		h = &heard{Memory: NewMemory(on, Power{})}
		return h
	}})
	s.want(204, "POST", cd+insert, map[string]any{"Image": from.URL + "/secret.iso", "UserName": "u", "Password": "p", "WriteProtected": false, "TransferMethod": "Stream"})
	if g := s.want(200, "GET", cd, nil); g.at("ImageName") != "secret.iso" || g.at("WriteProtected") != false || g.at("TransferMethod") != "Stream" {
		t.Errorf("%s", g.Body)
	}
	s.reset(204, dell, "ForceRestart")
	starts := h.Starts()
	if len(starts) != 1 || len(starts[0].Media) != 1 || len(h.in) != 1 {
		t.Fatalf("%+v %+v", starts, h.in)
	}
	m := starts[0].Media[0]
	if m.File != h.in[0].File || !m.Fetched || m.Size != int64(len(image)) || m.SHA256 != sha256.Sum256(image) || m.Slot != cd || m.WriteProtected {
		t.Errorf("%+v", m)
	}
	r, err := m.Open()
	must(t, err)
	raw, err := io.ReadAll(r)
	must(t, err)
	must(t, r.Close())
	if string(raw) != string(image) {
		t.Errorf("%d bytes are kept", len(raw))
	}
	s.want(204, "POST", cd+eject, map[string]any{})
	if _, err := os.Stat(m.File); !os.IsNotExist(err) || len(h.out) != 1 || h.out[0] != cd {
		t.Errorf("%v %q", err, h.out)
	}
	if st := s.Stats(); st.Fetched != 1 || st.FetchedBytes != int64(len(image)) || st.EjectsWhileOn != 1 {
		t.Errorf("%+v", st)
	}
	s.want(204, "POST", cd+insert, map[string]any{"Image": from.URL + "/a.iso"})
	must(t, s.Close())
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
}

// An image that cannot be had is not inserted, and nothing of it stays.
func TestFetchFails(t *testing.T) {
	from, dir := imageServer(t, []byte(strings.Repeat("x", 1000))), t.TempDir()
	s := simulate(t, r750, Options{Media: Media{Client: from.Client(), Dir: dir, MaxBytes: 999, Timeout: 300 * time.Millisecond}})
	for image, says := range map[string]string{
		from.URL + "/none.iso": "ResourceMissingAtURI", from.URL + "/secret.iso": "ResourceAtUriUnauthorized", from.URL + "/a.iso": "CouldNotEstablishConnection",
		from.URL + "/slow.iso": "CouldNotEstablishConnection", from.URL + "/cut.iso": "CouldNotEstablishConnection", "ftp://images.test/a.iso": "CouldNotEstablishConnection",
		"http://127.0.0.1:1/a.iso": "CouldNotEstablishConnection", "http://u:hunter2@127.0.0.1:1/a.iso": "CouldNotEstablishConnection", "http://[": "ActionParameterValueFormatError",
	} {
		g := s.want(400, "POST", cd+insert, map[string]any{"Image": image})
		if g.says() != says || strings.Contains(g.Body.String(), "hunter2") {
			t.Errorf("%s: %s", image, g.Body)
		}
		if g := s.want(200, "GET", cd, nil); g.at("Inserted") != false {
			t.Errorf("%s is inserted", image)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
}

// A BMC may want to be told more than the image, member by member.
func TestInsertDemands(t *testing.T) {
	s := simulate(t, r750, Options{Media: Media{Demands: []string{"TransferProtocolType", "TransferMethod", "UserName"}}})
	params := map[string]any{"Image": "http://images.test/a.iso"}
	for _, add := range []string{"TransferProtocolType", "TransferMethod", "UserName"} {
		if g := s.want(400, "POST", cd+insert, params); !strings.Contains(g.Body.String(), add) {
			t.Errorf("%s", g.Body)
		}
		params[add] = "x"
	}
	s.want(204, "POST", cd+insert, params)
}

func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := simulate(t, r750, Options{Media: Media{Stale: 5 * time.Second}})
		s.want(204, "POST", cd+eject, map[string]any{}) // it is empty
		s.want(204, "POST", cd+insert, map[string]any{"Image": "http://images.test/a.iso", "Inserted": false})
		s.want(204, "POST", cd+insert, iso)
		s.want(204, "POST", cd+eject, map[string]any{})
		for _, want := range []bool{true, false} {
			if g := s.want(200, "GET", cd, nil); g.at("Inserted") != want {
				t.Errorf("%s", g.Body)
			}
			time.Sleep(5 * time.Second)
		}
		s = simulate(t, r750, Options{Media: Media{RefusesEmpty: true}})
		s.want(400, "POST", cd+eject, map[string]any{})
	})
}

// A slot that XCC shows twice is one, and Supermicro shows an ejection while there is
// something to eject.
func TestSlotsOfVendors(t *testing.T) {
	s := simulate(t, "lenovo-sr670v2-xcc-2.83", Options{})
	s.want(204, "PATCH", "/redfish/v1/Systems/1/VirtualMedia/EXT1", iso)
	if g := s.want(200, "GET", "/redfish/v1/Managers/1/VirtualMedia/EXT1", nil); g.at("Inserted") != true {
		t.Errorf("%s", g.Body)
	}
	s = simulate(t, "supermicro-821ge-11.01", Options{})
	const slot = "/redfish/v1/Managers/1/VirtualMedia/VirtualMedia1"
	s.want(204, "POST", slot+insert, iso)
	if g := s.want(200, "GET", slot, nil); g.at("Actions", "#VirtualMedia.EjectMedia") == nil || g.at("Actions", "#VirtualMedia.InsertMedia") == nil {
		t.Errorf("%s", g.Body)
	}
}

// An image that was left behind reads as inserted for a while after its eject, and
// nothing is taken until then.
func TestImageLeftBehindIsStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := simulate(t, r750, Options{Media: Media{KeepsImage: true, Stale: 5 * time.Second}})
		const slot = dell + "/VirtualMedia/1"
		const insert, eject = slot + "/Actions/VirtualMedia.InsertMedia", slot + "/Actions/VirtualMedia.EjectMedia"
		image := map[string]any{"Image": "http://images.test/x.iso"}
		s.want(409, "POST", insert, image)
		s.want(204, "POST", eject, map[string]any{})
		if g := s.want(200, "GET", slot, nil); g.at("Inserted") != true {
			t.Errorf("%v", g.at("Inserted"))
		}
		s.want(409, "POST", insert, image)
		time.Sleep(5 * time.Second)
		s.want(204, "POST", insert, image)
	})
}
