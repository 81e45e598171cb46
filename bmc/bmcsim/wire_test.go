package bmcsim

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestETags(t *testing.T) {
	for _, c := range []struct {
		mode  ETagMode
		looks string // what a tag begins with
		match func(string) string
	}{
		{"", `"`, nil}, {ETagStrong, `"`, nil}, {ETagNone, "", nil}, {ETagEmpty, "", nil}, {ETagGzip, `"`, nil},
		{ETagWeak, `W/"`, func(s string) string { return strings.TrimPrefix(s, "W/") }},
		{ETagTwice, `""`, func(s string) string { return strings.Trim(s, `"`) }},
	} {
		s := simulate(t, r750, Options{ETags: ETags{Mode: c.mode}})
		g := s.want(200, "GET", dell, nil)
		tag := g.Header().Get("ETag")
		if _, there := g.Header()["Etag"]; !strings.HasPrefix(tag, c.looks) || (tag == "") != (c.looks == "") || there != (c.mode != ETagNone) {
			t.Errorf("%q: %q", c.mode, tag)
		}
		if c.looks == "" {
			s.want(204, "PATCH", dell, oncePXE)
			continue
		}
		s.want(304, "GET", dell, nil, with{"If-None-Match", tag})
		if c.match != nil {
			if c.mode == ETagWeak {
				s.want(412, "PATCH", dell, oncePXE, with{"If-Match", tag})
			}
			tag = c.match(tag)
		}
		s.want(412, "PATCH", dell, oncePXE, with{"If-Match", `"other"`})
		s.want(204, "PATCH", dell, oncePXE, with{"If-Match", tag})
		s.want(412, "PATCH", dell, oncePXE, with{"If-Match", tag}) // it has changed
		s.want(204, "PATCH", dell, oncePXE, with{"If-Match", "*"})
		s.want(204, "PATCH", dell, oncePXE)
	}
	s := simulate(t, r750, Options{ETags: ETags{Required: true}})
	if g := s.want(428, "PATCH", dell, oncePXE); g.says() != "PreconditionRequired" {
		t.Errorf("%s", g.Body)
	}
	s.want(204, "PATCH", dell, oncePXE, with{"If-Match", s.want(200, "GET", dell, nil).Header().Get("ETag")})
}

// A resource is tagged in its body as in its header, as the tree has it while it is so.
func TestETagInTheBody(t *testing.T) {
	const ilo = "/redfish/v1/Systems/1"
	s := simulate(t, "hpe-dl380agen11-ilo6-1.66", Options{})
	for _, path := range []string{ilo, "/redfish/v1/Managers/1/VirtualMedia/2"} {
		g := s.want(200, "GET", path, nil)
		if g.Header().Get("ETag") == "" || g.at("@odata.etag") != g.Header().Get("ETag") {
			t.Errorf("%s: %q in the header, %v in the body", path, g.Header().Get("ETag"), g.at("@odata.etag"))
		}
	}
}

func TestMethods(t *testing.T) {
	s := simulate(t, r750, Options{})
	for line, allow := range map[string]string{
		"DELETE " + dell: "GET, HEAD, PATCH", "POST " + dell: "GET, HEAD, PATCH", "PUT /redfish/v1": "GET, HEAD", "PATCH /redfish/v1/Chassis": "GET, HEAD", "PATCH " + s.where.sessions: "GET, HEAD, POST",
	} {
		method, path, _ := strings.Cut(line, " ")
		if g := s.want(405, method, path, map[string]any{}); g.Header().Get("Allow") != allow {
			t.Errorf("%s: %s", line, g.Header().Get("Allow"))
		}
	}
	s.want(405, "PUT", dell+reset, nil)
	for _, method := range []string{"GET", "POST", "PATCH", "DELETE", "PUT"} {
		s.want(404, method, "/redfish/v1/Nowhere", map[string]any{})
	}
	if g := s.want(200, "HEAD", dell, nil); g.Body.Len() != 0 || g.Header().Get("Content-Length") == "0" {
		t.Errorf("%v", g.Header())
	}
	if g := s.want(200, "GET", "/redfish", nil); g.at("v1") != "/redfish/v1/" {
		t.Errorf("%s", g.Body)
	}
}

// Bodies that are none are refused, and change nothing.
func TestBadBodies(t *testing.T) {
	s := simulate(t, r750, Options{})
	before := s.want(200, "GET", dell, nil).Body.String()
	for _, c := range []struct {
		method, path string
		body         any
		says         string
	}{
		{"PATCH", dell, []int{1}, "MalformedJSON"}, {"PATCH", dell, "text", "MalformedJSON"}, {"PATCH", dell, map[string]any{"Nothing": 1}, "PropertyUnknown"},
		{"PATCH", dell, map[string]any{"PowerState": "Off"}, "PropertyNotWritable"}, {"PATCH", dell, map[string]any{"Boot": 1}, "PropertyValueTypeError"},
		{"PATCH", dell, map[string]any{"Boot": map[string]any{bootTarget: 1}}, "PropertyValueTypeError"}, {"PATCH", dell, boot("Nothing", "x"), "PropertyUnknown"},
		{"PATCH", dell, boot(bootTarget, "Pxe", bootMode, "Odd"), "PropertyValueNotInList"}, {"PATCH", dell, map[string]any{"Boot": map[string]any{"BootOrder": "x"}}, "PropertyValueTypeError"},
		{"POST", dell + reset, map[string]any{}, "ActionParameterMissing"}, {"POST", dell + reset, map[string]any{"ResetType": 1}, "PropertyValueTypeError"},
		{"POST", cd + insert, map[string]any{}, "ActionParameterMissing"}, {"POST", "/redfish/v1/Managers/iDRAC.Embedded.1/Actions/Manager.ResetToDefaults", map[string]any{}, "ActionNotSupported"},
	} {
		if g := s.want(400, c.method, c.path, c.body); g.says() != c.says {
			t.Errorf("%s %v: %s", c.path, c.body, g.Body)
		}
	}
	s.want(413, "PATCH", dell, map[string]any{"AssetTag": strings.Repeat("x", maxBody)})
	if after := s.want(200, "GET", dell, nil).Body.String(); after != before {
		t.Errorf("%.400s", after)
	}
}

// Attributes of the BIOS wait in their settings object until the next start.
func TestBiosWaitsForAStart(t *testing.T) {
	s := simulate(t, r750, Options{})
	read := func() any { return s.want(200, "GET", dell+"/Bios", nil).at("Attributes", "AcPwrRcvry") }
	was := read()
	s.want(204, "PATCH", dell+"/Bios/Settings", map[string]any{"Attributes": map[string]any{"AcPwrRcvry": "Off"}})
	if read() != was || was == "Off" {
		t.Errorf("%v", read())
	}
	s.reset(204, dell, "ForceRestart")
	if read() != "Off" {
		t.Errorf("%v", read())
	}
}

func TestTasks(t *testing.T) {
	for _, c := range []struct {
		ends   string
		done   bool
		states []string // at once, and after a minute
		status int      // of the monitor after a minute
	}{
		{"", true, []string{"Running", "Completed"}, 200}, {TaskFails, false, []string{"Running", "Exception"}, 500}, {TaskStaysNew, true, []string{"New", "New"}, 202}, {TaskVanishes, true, []string{"Running", ""}, 404},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := simulate(t, r750, Options{Tasks: Tasks{For: []string{"*" + reset}, Takes: time.Minute, Ends: c.ends}})
			if c.ends != TaskFails { // which fails whatever it is asked
				s.reset(400, dell, "Banana")
			}
			g := s.reset(202, dell, "ForceOff")
			at, task := g.Header().Get("Location"), text(g.body, "@odata.id")
			for i, state := range c.states {
				status := []int{202, c.status}[i]
				s.want(status, "GET", at, nil)
				if state == "" {
					s.want(404, "GET", task, nil)
				} else if g := s.want(200, "GET", task, nil); g.at("TaskState") != state {
					t.Errorf("%q: %s", c.ends, g.Body)
				}
				time.Sleep(time.Minute)
			}
			if off := s.power(dell) == "Off"; off != c.done {
				t.Errorf("%q: off is %t", c.ends, off)
			}
			s.want(204, "POST", cd+insert, iso) // no task
		})
	}
}

// Power is told in the log that is a system's, whoever changed it, and the log can be
// cleared.
func TestEvents(t *testing.T) {
	s := simulate(t, "supermicro-x10sdv-redfish1.0.1", Options{})
	const sys = "/redfish/v1/Systems/1"
	old := s.want(200, "GET", s.EventLog(sys)+"/1", nil)
	s.reset(204, sys, "ForceOff")
	list, _ := s.want(200, "GET", s.EventLog(sys), nil).at("Members").([]any)
	last, _ := list[len(list)-1].(map[string]any)
	if !strings.HasSuffix(text(last, "MessageId"), "ResourcePoweredOff") || old.status != 200 {
		t.Errorf("%v", last)
	}
	s.want(200, "GET", text(last, "@odata.id"), nil)
	for range maxEvents { // an entry each, of which the oldest go
		s.reset(204, sys, "On")
		s.reset(204, sys, "ForceOff")
	}
	s.want(404, "GET", text(last, "@odata.id"), nil)
	if n := len(s.nodes); n > maxEvents+8 {
		t.Errorf("%d resources are kept", n)
	}
	s.want(204, "POST", "/redfish/v1/Systems/1/LogServices/Log1/Actions/LogService.ClearLog", map[string]any{})
	if g := s.want(200, "GET", s.EventLog(sys), nil); len(linksOf(g.at("Members"))) != 0 {
		t.Errorf("%.300s", g.Body)
	}
	if s.EventLog("/redfish/v1/Systems/none") != "" {
		t.Error("a system that is none has a log")
	}
}

// Requests are counted and remembered, both within bounds.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := simulate(t, r750, Options{LogSize: 3, Rules: []Rule{{Path: "/redfish/v1/Systems", Effect: Effect{Delay: time.Second}}}})
		for i := range 2 {
			go func() { s.want(200, "GET", "/redfish/v1/Systems", nil) }()
			time.Sleep(time.Duration(100*(i+1)) * time.Millisecond)
		}
		time.Sleep(time.Second)
		s.want(404, "GET", "/nowhere", nil)
		s.want(200, "GET", root, nil)
		st := s.Stats()
		if st.Total != 4 || st.MostConcurrent != 2 || st.ShortestSpacing != 0 || st.Requests["GET /redfish/v1/Systems"] != 2 {
			t.Errorf("%+v", st)
		}
		log := s.Log()
		if len(log) != 3 || log[0].Took != time.Second || log[0].Status != 200 || log[1].Path != "/nowhere" || log[1].Status != 404 || log[2].At.Before(log[1].At) {
			t.Errorf("%+v", log)
		}
		for i := range 2 * maxKinds {
			s.ask("GET", fmt.Sprintf("/nowhere/%d", i), nil)
		}
		if st := s.Stats(); len(st.Requests) > maxKinds+1 || st.Requests["GET other"] < maxKinds {
			t.Errorf("%d kinds", len(st.Requests))
		}
	})
}

// Tasks that have ended make room, the oldest first; where none has, nothing is done.
func TestTasksMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := simulate(t, r750, Options{Tasks: Tasks{For: []string{"*" + reset}, Takes: time.Minute}})
		first := s.reset(202, dell, "Nmi").Header().Get("Location")
		time.Sleep(time.Second)
		for range maxTasks - 1 {
			s.reset(202, dell, "Nmi")
		}
		s.reset(503, dell, "Nmi")
		if n := s.Stats().NMIs; n != maxTasks {
			t.Errorf("%d are carried out", n)
		}
		time.Sleep(time.Minute - time.Second)
		s.want(200, "GET", first, nil)
		s.reset(202, dell, "Nmi")
		s.want(404, "GET", first, nil)
		if len(s.tasks) != maxTasks || len(s.monitors) != maxTasks {
			t.Errorf("%d tasks, %d monitors", len(s.tasks), len(s.monitors))
		}
	})
}
