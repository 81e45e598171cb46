package bmcsim

import (
	"crypto/rand"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func off(system string) (string, string, any) {
	return "POST", system + reset, map[string]any{"ResetType": "ForceOff"}
}

func boot(members ...string) map[string]any {
	out := map[string]any{}
	for i := 0; i < len(members); i += 2 {
		out[members[i]] = members[i+1]
	}
	return map[string]any{"Boot": out}
}

var (
	oncePXE = boot(bootEnabled, "Once", bootTarget, "Pxe")
	iso     = map[string]any{"Image": "http://images.test/a.iso"}
)

const cd = "/redfish/v1/Managers/iDRAC.Embedded.1/VirtualMedia/CD"

// quirked are what clients see of each quirk, on an R750 where it names no tree.
var quirked = map[string]func(s *simulated){
	"chassis-reads-off": func(s *simulated) { s.chassis("Off") },
	"chassis-reads-on": func(s *simulated) {
		s.reset(204, dell, "ForceOff")
		s.chassis("On")
	},
	"graceful-restart-is-hard": func(s *simulated) {
		s.reset(204, dell, "GracefulRestart")
		if n := len(s.Backend(dell).(*Memory).Starts()); n != 1 { // at once, not after a shutdown
			s.t.Errorf("%d starts", n)
		}
	},
	"no-graceful-restart":  func(s *simulated) { s.unlisted("GracefulRestart", 6) },
	"no-graceful-shutdown": func(s *simulated) { s.unlisted("GracefulShutdown", 3) },
	"off-is-late": func(s *simulated) {
		s.reset(204, dell, "ForceOff")
		s.reads("On", 7*time.Second, "Off")
	},
	"on-is-slow": func(s *simulated) {
		s.reset(204, dell, "ForceOff")
		s.reset(204, dell, "On")
		s.reads("Off", 45*time.Second, "On")
	},
	"on-refused-after-off": func(s *simulated) {
		s.reset(204, dell, "ForceOff")
		s.reset(409, dell, "On")
		time.Sleep(11 * time.Second)
		s.reset(204, dell, "On")
	},
	"reset-refused-when-off": func(s *simulated) {
		s.reset(204, dell, "ForceOff")
		if g := s.reset(400, dell, "ForceRestart"); g.says() != "InvalidOperationForSystemState" {
			s.t.Errorf("%s", g.Body)
		}
	},
	"reset-types-by-action-info": func(s *simulated) {
		a := dig(s.want(200, "GET", dell, nil).body, "Actions", "#ComputerSystem.Reset")
		if a["ResetType"+allowable] != nil {
			s.t.Errorf("%v", a)
		}
		if raw := s.want(200, "GET", text(a, "@Redfish.ActionInfo"), nil).Body.String(); !strings.Contains(raw, `"PowerCycle"`) {
			s.t.Error(raw)
		}
	},
	"shutdown-is-slow": func(s *simulated) {
		s.reset(204, dell, "GracefulShutdown")
		s.reads("On", 359*time.Second, "Off")
	},

	"boot-by-sd": func(s *simulated) { s.bySettings(dell + "/SD") },
	"boot-by-settings": func(s *simulated) {
		s.bySettings(dell + "/Settings")
	},
	"continuous-refused": func(s *simulated) {
		s.want(400, "PATCH", dell, boot(bootEnabled, "Continuous", bootTarget, "Pxe"))
		s.want(204, "PATCH", dell, oncePXE)
	},
	"mode-dropped": func(s *simulated) {
		s.want(204, "PATCH", dell, oncePXE)
		if m := s.want(200, "GET", dell, nil).at("Boot", bootMode); m != "Legacy" {
			s.t.Errorf("%v", m)
		}
	},
	"mode-refused": func(s *simulated) {
		if _, there := dig(s.want(200, "GET", dell, nil).body, "Boot")[bootMode]; there {
			s.t.Error("the mode is shown")
		}
		s.want(400, "PATCH", dell, boot(bootEnabled, "Once", bootTarget, "Pxe", bootMode, "UEFI"))
		s.want(204, "PATCH", dell, oncePXE)
	},
	"none-refused": func(s *simulated) {
		s.want(400, "PATCH", dell, boot(bootEnabled, "Disabled", bootTarget, "None"))
		s.want(204, "PATCH", dell, boot(bootEnabled, "Disabled"))
	},
	"once-ignored": func(s *simulated) {
		s.want(204, "PATCH", dell, oncePXE)
		s.reset(204, dell, "ForceRestart")
		if st := s.Backend(dell).(*Memory).Starts(); len(st) != 1 || st[0].Target != "" {
			s.t.Errorf("%+v", st)
		}
	},

	"media-by-patch": func(s *simulated) {
		s.want(404, "POST", cd+insert, iso)
		s.want(204, "PATCH", cd, iso)
		if g := s.want(200, "GET", cd, nil); g.at("Inserted") != true || len(dig(g.body, "Actions")) != 0 {
			s.t.Errorf("%s", g.Body)
		}
		s.want(204, "PATCH", cd, map[string]any{"Image": nil})
	},
	"media-busy-after-eject": func(s *simulated) {
		s.want(204, "POST", cd+insert, iso)
		s.want(204, "POST", cd+eject, map[string]any{})
		s.want(500, "POST", cd+insert, iso)
		time.Sleep(6 * time.Second)
		s.want(204, "POST", cd+insert, iso)
	},
	"media-keeps-image": func(s *simulated) {
		if g := s.want(200, "GET", cd, nil); g.at("Inserted") != false || g.at("Image") == nil {
			s.t.Errorf("%s", g.Body)
		}
		s.want(409, "POST", cd+insert, iso)
		s.want(204, "POST", cd+eject, map[string]any{})
		s.want(204, "POST", cd+insert, iso)
	},
	"media-needs-licence": func(s *simulated) { s.want(403, "POST", cd+insert, iso) },
	"media-read-only": func(s *simulated) {
		s.want(204, "POST", cd+insert, overlaid(iso, map[string]any{"WriteProtected": false}))
		if g := s.want(200, "GET", cd, nil); g.at("Inserted") != false {
			s.t.Errorf("%s", g.Body)
		}
	},
	"media-without-url": func(s *simulated) {
		s.want(400, "PATCH", "/redfish/v1/Systems/1/VirtualMedia/RDOC1", iso)
		s.want(400, "PATCH", "/redfish/v1/Systems/1/VirtualMedia/Remote1", iso)
		s.want(204, "PATCH", "/redfish/v1/Systems/1/VirtualMedia/EXT1", iso)
	},

	"bios-shows-pending": func(s *simulated) {
		s.want(204, "PATCH", dell+"/Bios/Settings", map[string]any{"Attributes": map[string]any{"AcPwrRcvry": "Off"}})
		if v := s.want(200, "GET", dell+"/Bios", nil).at("Attributes", "AcPwrRcvry"); v != "Off" {
			s.t.Errorf("%v", v)
		}
	},
	"busy-at-two": func(s *simulated) {
		s.o.Rules, s.rules = []Rule{{Path: dell, Effect: Effect{Delay: time.Second}}}, make([]ruleState, 1)
		done := make(chan struct{})
		go func() { defer close(done); s.want(200, "GET", dell, nil) }()
		synctest.Wait()
		s.want(429, "GET", "/redfish/v1/Chassis", nil)
		<-done
		s.want(200, "GET", "/redfish/v1/Chassis", nil)
	},
	"etag-gzip": func(s *simulated) {
		g := s.want(200, "GET", dell, nil, with{"Accept-Encoding", "gzip"})
		tag := g.Header().Get("ETag")
		if !strings.HasSuffix(tag, `-gzip"`) || g.Header().Get("Content-Encoding") != "gzip" {
			s.t.Error(g.Header())
		}
		s.want(412, "PATCH", dell, oncePXE, with{"If-Match", tag})
		s.want(204, "PATCH", dell, oncePXE, with{"If-Match", strings.Replace(tag, "-gzip", "", 1)})
	},
	"etag-quoted-twice": func(s *simulated) {
		tag := s.want(200, "GET", dell, nil).Header().Get("ETag")
		if !strings.HasPrefix(tag, `""`) {
			s.t.Error(tag)
		}
		s.want(412, "PATCH", dell, oncePXE, with{"If-Match", tag})
		s.want(204, "PATCH", dell, oncePXE, with{"If-Match", tag[1 : len(tag)-1]})
	},
	"freezes-after-bursts": func(s *simulated) {
		for range 10 {
			s.want(200, "GET", root, nil)
		}
		s.want(0, "GET", root, nil)
		time.Sleep(59 * time.Second)
		s.want(0, "GET", root, nil)
		time.Sleep(time.Second)
		s.want(200, "GET", root, nil)
	},
	"locks-out": func(s *simulated) {
		right := s.o.Auth.Password
		s.o.Auth.Password = "wrong"
		for range 3 {
			s.want(401, "GET", dell, nil)
		}
		s.o.Auth.Password = right
		s.want(401, "GET", dell, nil)
		time.Sleep(10 * time.Minute)
		s.want(200, "GET", dell, nil)
	},
	"login-redirects": func(s *simulated) {
		g := s.want(308, "POST", s.where.sessions, s.who())
		if to := g.Header().Get("Location"); to != s.where.sessions+"/" {
			s.t.Error(to)
		}
		s.want(201, "POST", s.where.sessions+"/", s.who())
	},
	"login-refuses-basic": func(s *simulated) {
		s.want(415, "POST", s.where.sessions, s.who())
		s.want(201, "POST", s.where.sessions, s.who(), with{"Authorization", ""})
	},
	"logout-is-401": func(s *simulated) {
		g := s.want(201, "POST", s.where.sessions, s.who())
		s.want(401, "DELETE", g.Header().Get("Location"), nil)
		if n := s.Stats().Sessions; n != 0 {
			s.t.Errorf("%d sessions", n)
		}
	},
	"password-of-20-bytes": func(s *simulated) {
		for n, status := range map[int]int{21: 400, 20: 204} {
			s.want(status, "PATCH", s.where.account, map[string]any{"Password": strings.Repeat("x", n)})
			s.o.Auth.Password = s.auth.password
		}
	},
	"restart-takes-minutes": func(s *simulated) {
		s.want(204, "POST", "/redfish/v1/Managers/iDRAC.Embedded.1/Actions/Manager.Reset", map[string]any{"ResetType": "GracefulRestart"})
		time.Sleep(149 * time.Second)
		s.want(0, "GET", root, nil)
		time.Sleep(time.Second)
		s.want(200, "GET", root, nil)
	},
	"sessions-run-out": func(s *simulated) {
		s.want(201, "POST", s.where.sessions, s.who())
		s.want(201, "POST", s.where.sessions, s.who())
		s.want(503, "POST", s.where.sessions, s.who())
	},
	"starts-busy": func(s *simulated) {
		if g := s.want(503, "GET", root, nil); g.Header().Get("Retry-After") != "30" {
			s.t.Error(g.Header())
		}
		time.Sleep(30 * time.Second)
		s.want(200, "GET", root, nil)
	},
	"task-vanishes": func(s *simulated) {
		m, p, body := off(dell)
		at := s.want(202, m, p, body).Header().Get("Location")
		s.want(202, "GET", at, nil)
		time.Sleep(2 * time.Second)
		s.want(404, "GET", at, nil)
		if p := s.power(dell); p != "Off" {
			s.t.Error(p)
		}
	},
	"two-documents": func(s *simulated) {
		g := s.want(200, "GET", dell, nil)
		if g.body != nil || strings.Count(g.Body.String(), `"PowerState"`) != 2 {
			s.t.Errorf("%.200s", g.Body)
		}
	},

	"baseboard-first": func(s *simulated) {
		list := linksOf(s.want(200, "GET", "/redfish/v1/Systems", nil).at("Members"))
		if len(list) != 2 || !strings.Contains(list[0], "HGX") {
			s.t.Error(list)
		}
	},
	"mac-of-20-octets": func(s *simulated) {
		list := linksOf(s.want(200, "GET", dell+"/EthernetInterfaces", nil).at("Members"))
		if mac, _ := s.want(200, "GET", list[0], nil).at("MACAddress").(string); strings.Count(mac, ":") != 19 {
			s.t.Error(mac)
		}
	},
	"uuid-changes-order": func(s *simulated) {
		for _, want := range []string{"4c4c4544-0035-3410-8050-c6c04f314733", "44454c4c-3500-1034-8050-c6c04f314733"} {
			if got := s.want(200, "GET", dell, nil).at("UUID"); got != want {
				s.t.Error(got)
			}
		}
	},
	"uuid-zero": func(s *simulated) {
		if got := s.want(200, "GET", dell, nil).at("UUID"); got != "00000000-0000-0000-0000-000000000000" {
			s.t.Error(got)
		}
	},
}

// who is a right login.
func (s *simulated) who() map[string]any {
	return map[string]any{"UserName": s.o.Auth.User, "Password": string(s.o.Auth.Password)}
}

func (s *simulated) chassis(want string) {
	s.t.Helper()
	if p := s.want(200, "GET", "/redfish/v1/Chassis/System.Embedded.1", nil).at("PowerState"); p != want {
		s.t.Errorf("the chassis reads %v, want %s", p, want)
	}
}

// reads demands one state now and for so long, and then another one.
func (s *simulated) reads(now string, long time.Duration, then string) {
	s.t.Helper()
	for _, want := range []string{now, now, then} {
		if p := s.power(dell); p != want {
			s.t.Errorf("%s, want %s", p, want)
		}
		if want == now {
			time.Sleep(long)
			long = 2 * time.Second
		}
	}
}

func (s *simulated) unlisted(kind string, listed int) {
	s.t.Helper()
	list := texts(s.want(200, "GET", dell, nil).at("Actions", "#ComputerSystem.Reset", "ResetType"+allowable))
	if len(list) != listed {
		s.t.Error(list)
	}
	s.reset(400, dell, kind)
}

// bySettings has an override that only a settings object takes.
func (s *simulated) bySettings(path string) {
	s.t.Helper()
	g := s.want(200, "GET", dell, nil)
	if to := linkOf(g.at("@Redfish.Settings", "SettingsObject")); to != path {
		s.t.Error(to)
	}
	s.want(400, "PATCH", dell, oncePXE)
	s.want(204, "PATCH", path, oncePXE)
	if g := s.want(200, "GET", path, nil); g.at("Boot", bootEnabled) != "Once" {
		s.t.Errorf("%s", g.Body)
	}
	s.reset(204, dell, "ForceRestart")
	if st := s.Backend(dell).(*Memory).Starts(); len(st) != 1 || st[0].Target != "Pxe" || !st[0].Once {
		s.t.Errorf("%+v", st)
	}
	if g := s.want(200, "GET", path, nil); g.at("Boot", bootEnabled) != "Disabled" {
		s.t.Errorf("it is not spent: %s", g.Body)
	}
}

// deaf is a test that notes a failure and passes.
type deaf struct {
	testing.TB
	failed bool
}

func (d *deaf) Errorf(string, ...any) { d.failed = true }
func (d *deaf) Error(...any)          { d.failed = true }

// hear runs a check, whose panic is a failure too.
func (d *deaf) hear(check func()) {
	defer func() { d.failed = recover() != nil || d.failed }()
	check()
}

// Every quirk shows on the wire what it says, and a BMC without it does not.
func TestEveryQuirkShows(t *testing.T) {
	seen := map[string]bool{}
	for _, q := range Quirks() {
		if seen[q.Name] || q.Source == "" || q.Does == "" {
			t.Errorf("%+v", q)
		}
		seen[q.Name] = true
		if q.TLS.Kind != "" {
			continue // see TestQuirkOfTLS
		}
		check := quirked[q.Name]
		if check == nil {
			t.Errorf("%s is not checked", q.Name)
			continue
		}
		tree := q.Tree
		if tree == "" {
			tree = r750
		}
		t.Run(q.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { check(simulate(t, tree, Options{}.With(q))) })
		})
		t.Run(q.Name+"/without", func(t *testing.T) {
			if q.Name == "media-without-url" {
				t.Skip("its tree is so by itself")
			}
			synctest.Test(t, func(t *testing.T) {
				s, heard := simulate(t, tree, Options{}), &deaf{TB: t}
				s.t = heard
				heard.hear(func() { check(s) })
				if !heard.failed {
					t.Error("a BMC without the quirk passes for one that has it")
				}
			})
		})
	}
	if want := len(quirked) + 1; len(seen) != want {
		t.Errorf("%d quirks, %d are checked", len(seen), want)
	}
}

// A BMC with nothing but RSA key exchange refuses who does not offer it.
func TestQuirkOfTLS(t *testing.T) {
	q, err := FindQuirk("rsa-key-exchange")
	must(t, err)
	f := NewFleet(rand.Reader, nil)
	_, err = f.Add(q.On(Spec{Name: "old", Tree: load(t, r750)}))
	must(t, err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- f.ServeOne(ln, "old") }()
	try := func(suites ...uint16) error {
		c, err := tls.Dial("tcp", ln.Addr().String(), &tls.Config{InsecureSkipVerify: true, CipherSuites: suites})
		if err == nil {
			err = c.Close()
		}
		return err
	}
	if err := try(); err == nil {
		t.Error("a client of today gets in")
	}
	must(t, try(tls.TLS_RSA_WITH_AES_128_GCM_SHA256))
	must(t, f.Close())
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

func TestUnknownQuirk(t *testing.T) {
	_, err := FindQuirk("nothing")
	e, ok := errors.AsType[*UnknownQuirk](err)
	if !ok || e.Code() != "NOT_FOUND" || !strings.Contains(err.Error(), "on-is-slow") {
		t.Error(err)
	}
}
