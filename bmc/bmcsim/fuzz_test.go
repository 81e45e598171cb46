package bmcsim

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// A tree that is taken can be served, and the same text makes the same tree.
func FuzzParseTree(f *testing.F) {
	f.Add([]byte(`{"_meta":{"machine":"m"},"/redfish/v1":{"Systems":{"@odata.id":"/redfish/v1/Systems"}},"/redfish/v1/Systems/1":{"@odata.type":"#ComputerSystem.v1.ComputerSystem","PowerState":"On","Actions":{"#ComputerSystem.Reset":{"target":"/redfish/v1/Systems/1/Actions/ComputerSystem.Reset","ResetType@Redfish.AllowableValues":["On","ForceOff"]}},"Boot":{"BootSourceOverrideTarget":"None"}},"/redfish/v1/M/V/1":{"@odata.type":"#VirtualMedia.v1.VirtualMedia","Inserted":1}}`))
	f.Add([]byte(`{"/redfish/v1":{"AccountService":7,"Links":[],"SessionService":{"@odata.id":"/"}},"/redfish/v1/Chassis/1":{"@odata.type":"#Chassis.1.Chassis","PowerState":"On","Links":{"ComputerSystems":[1]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		tree, err := ParseTree("f", bytes.NewReader(text))
		if err != nil {
			return
		}
		s := &simulated{t: t}
		s.BMC, err = New(tree, Options{Boot: Boot{SettingsOnly: true, RefusesMode: true}, Power: Power{ActionInfo: true}, Media: Media{KeepsImage: true}})
		must(t, err)
		defer s.Close()
		for _, n := range tree.nodes {
			if status := s.askRaw("GET", root, nil); status != 200 {
				t.Fatalf("the root is %d", status)
			}
			s.askRaw("GET", n.path, nil)
			s.askRaw("PATCH", n.path, []byte(`{"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideTarget":"Pxe"},"Image":"http://x/y"}`))
		}
		for k := range tree.actions {
			s.askRaw("POST", k, []byte(`{"ResetType":"ForceOff","Image":"http://x/y"}`))
		}
	})
}

// askRaw sends what need not be a request that a client of net/http would send.
func (s *simulated) askRaw(method, path string, body []byte) int {
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodGet, "/", bytes.NewReader(body))
	r.Method, r.URL.Path = method, path
	r.SetBasicAuth(s.o.Auth.User, string(s.o.Auth.Password))
	w := httptest.NewRecorder()
	func() {
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				panic(p)
			}
		}()
		s.ServeHTTP(w, r)
	}()
	return w.Code
}

// Whatever is asked, the BMC answers with JSON or nothing, and lives on.
func FuzzRequest(f *testing.F) {
	f.Add("PATCH", dell, []byte(`{"Boot":{"BootSourceOverrideTarget":"Pxe","BootOrder":[]},"@odata.x":1,"Oem":{"Dell":{"a":{}}}}`))
	f.Add("POST", cd+insert, []byte(`{"Image":"http://x/%zz","Inserted":"no","WriteProtected":3}`))
	f.Add("PATCH", dell+"/Bios/Settings", []byte(`{"Attributes":7}`))
	f.Add("PATCH", cd, []byte(`{"Image":{}}`))
	f.Add("POST", dell+reset, []byte(`{"ResetType":"ForceRestart"}`))
	f.Add("DELETE", "/redfish/v1/SessionService/Sessions/", []byte(nil))
	var once sync.Once
	var tree *Tree
	f.Fuzz(func(t *testing.T, method, path string, body []byte) {
		once.Do(func() { tree = load(t, r750) })
		s := &simulated{t: t}
		var err error
		s.BMC, err = New(tree, Options{})
		must(t, err)
		defer s.Close()
		s.askRaw(method, path, body)
		s.reset(204, dell, "ForceOff")
		s.want(200, "GET", dell, nil)
		s.want(200, "GET", dell+"/Bios", nil)
		s.want(200, "GET", cd, nil)
	})
}

// Many at once ask and order, and nothing races.
func TestManyAtOnce(t *testing.T) {
	s := simulate(t, r750, Options{LogSize: 8})
	var wait sync.WaitGroup
	for _, path := range []string{dell, cd, "/redfish/v1/Chassis/System.Embedded.1", s.EventLog(dell), s.where.sessions, dell + "/Bios"} {
		wait.Go(func() {
			for range 10 {
				s.askRaw("GET", path, nil)
			}
		})
	}
	for i, kind := range []string{"ForceOff", "On", "ForceRestart", "PowerCycle", "GracefulRestart"} {
		wait.Go(func() {
			s.askRaw("POST", dell+reset, []byte(`{"ResetType":"`+kind+`"}`))
			s.askRaw("PATCH", dell, []byte(`{"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideTarget":"Pxe"}}`))
			s.askRaw("POST", cd+[]string{insert, eject}[i%2], []byte(`{"Image":"http://images.test/a.iso"}`))
			s.askRaw("POST", s.where.sessions, []byte(`{"UserName":"root","Password":"ingot-bmcsim"}`))
			_, _ = s.Stats(), s.Log()
		})
	}
	wait.Go(func() { s.Reboot() })
	wait.Wait()
}
