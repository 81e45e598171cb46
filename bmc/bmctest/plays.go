package bmctest

import (
	"net/http"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/bmc/bmcsim"
)

// A play is how a scene is shown by package bmcsim.
type play struct {
	scene   Scene
	away    string // the host elsewhere
	tree    string
	options bmcsim.Options
	machine habits
}

// goodTree is a machine with all features.
const goodTree = "dell-r750-idrac9-6.00"

const (
	systems = "/redfish/v1/Systems/*"
	resetOf = "*ComputerSystem.Reset"
)

// plays is how a scene is shown that may lead to the host away; false where it cannot
// be.
func plays(s Scene, away string) (play, bool) {
	p := play{scene: s, away: away, tree: goodTree, options: bmcsim.Options{Load: bmcsim.Load{Rebooting: 10 * time.Second}}}
	if name, shuffled, ok := s.Recording(); ok {
		p.tree = name
		if shuffled {
			turn := bmcsim.Effect{Shuffle: true}
			p.rule(bmcsim.Rule{Effect: turn}, bmcsim.Rule{Path: "/redfish/v1/Systems", Every: 2, Effect: turn}) // back again each second time
		}
		return p, true
	}
	ok := s == Plain || p.peer(s) || p.answer(s) || p.access(s) || p.power(s) || p.boot(s) || p.media(s)
	return p, ok
}

func (p *play) rule(r ...bmcsim.Rule) bool {
	p.options.Rules = append(p.options.Rules, r...)
	return true
}

func (p *play) peer(s Scene) bool {
	switch s {
	case MovedHere, LocationAway, Impostor, SelfSigned: // by the endpoint and the door
	case MovedAway:
		p.rule(bmcsim.Rule{Path: systems, Effect: bmcsim.Effect{Redirect: "https://" + p.away + "{path}"}})
	case LinksAway:
		p.links("https://" + p.away + "{path}")
	case LinksAt:
		p.links("@" + p.away + "{path}")
	case LinksSlashes:
		p.links("//" + p.away + "{path}")
	case LinksUp:
		p.links("/redfish/v1/../..{path}")
	default:
		return false
	}
	return true
}

// links bends those of the systems, which no driver can do without.
func (p *play) links(to string) {
	p.rule(bmcsim.Rule{Path: "/redfish/v1/Systems*", Effect: bmcsim.Effect{Links: to}})
}

func (p *play) answer(s Scene) bool {
	all := func(e bmcsim.Effect) bool {
		return p.rule(bmcsim.Rule{Method: http.MethodGet, Path: "/redfish/v1/Systems*", Effect: e}, bmcsim.Rule{Method: http.MethodGet, Path: "/redfish/v1/Chassis*", Effect: e})
	}
	switch s {
	case Endless:
		return all(bmcsim.Effect{Body: bmcsim.SpoilEndless})
	case Drip:
		return all(bmcsim.Effect{Body: bmcsim.SpoilDrip, Every: 100 * time.Millisecond})
	case Garbage:
		return all(bmcsim.Effect{Body: bmcsim.SpoilGarbage})
	case NextLoop:
		return p.rule(bmcsim.Rule{Effect: bmcsim.Effect{NextLink: "{path}"}})
	case BusySeconds:
		return all(bmcsim.Effect{Status: http.StatusServiceUnavailable, RetryAfter: 7 * time.Second})
	case BusyDate:
		return all(bmcsim.Effect{Status: http.StatusServiceUnavailable, RetryAfter: 8 * time.Second, RetryDate: true})
	case StartsUp:
		p.options.Load.Starting, p.options.Load.RetryAfter = 20*time.Second, 5*time.Second
	default:
		return false
	}
	return true
}

func (p *play) access(s Scene) bool {
	switch s {
	case NoToken:
		p.options.Auth.NoToken = true
	case SessionsFull:
		p.options.Auth.Sessions = 1
	case OldPassword:
		p.options.Auth.MustChange = true
	case Outcast:
		for _, path := range []string{"/redfish/v1/Systems*", "/redfish/v1/Managers*", "/redfish/v1/Chassis*"} {
			p.rule(bmcsim.Rule{Path: path, Effect: bmcsim.Effect{Status: http.StatusUnauthorized}})
		}
	default:
		return false
	}
	return true
}

func (p *play) power(s Scene) bool {
	o, m := &p.options, &p.machine
	task := func(end string) {
		o.Tasks = bmcsim.Tasks{For: []string{resetOf}, Takes: 2 * time.Second, Ends: end}
	}
	switch s {
	case LateOff:
		m.offTakes, o.Power.HideTransitions = 10*time.Second, true
	case Flicker:
		m.lies, m.truth, o.Power.HideTransitions = time.Second, 10*time.Second, true
	case ChassisOn:
		m.lies, m.truth, o.Power.ChassisLag = 10*time.Second, 10*time.Second, 10*time.Second
	case SlowPower:
		m.offTakes, m.onTakes = 5*time.Second, 5*time.Second
	case DeafGuest:
		m.deaf = true
	case FewActions:
		few := []any{"On", "ForceOff"}
		o.Power.ResetTypes = []string{"On", "ForceOff"}
		p.rule(bmcsim.Rule{Method: http.MethodGet, Path: systems, Effect: bmcsim.Effect{Set: map[string]any{
			"Actions": map[string]any{"#ComputerSystem.Reset": map[string]any{"ResetType@Redfish.AllowableValues": few}}}}})
	case HiddenTypes:
		p.tree = "supermicro-821ge-11.01"
	case LostReply:
		p.rule(bmcsim.Rule{Method: http.MethodPost, Path: resetOf, Effect: bmcsim.Effect{Drop: bmcsim.DropAfter}})
	case OffRefuses:
		o.Power.WrongState = http.StatusBadRequest
	case Strange:
		p.rule(bmcsim.Rule{Method: http.MethodGet, Path: "/redfish/v1/Systems/System.Embedded.1", Effect: bmcsim.Effect{Set: map[string]any{"PowerState": "Hibernating"}}})
	case TaskVanishes:
		task(bmcsim.TaskVanishes)
	case TaskFails:
		task(bmcsim.TaskFails)
	case TaskStaysNew:
		task(bmcsim.TaskStaysNew)
	default:
		return false
	}
	return true
}

func (p *play) boot(s Scene) bool {
	o := &p.options
	switch s {
	case NoContinuous:
		o.Boot.RefusesContinuous = true
		p.rule(bmcsim.Rule{Method: http.MethodGet, Path: systems, Effect: bmcsim.Effect{Set: map[string]any{"Boot": map[string]any{"BootSourceOverrideEnabled@Redfish.AllowableValues": []any{"Once", "Disabled"}}}}})
	case SettingsBoot:
		p.tree, o.Boot.SettingsOnly = "dell-r750-idrac9-7.10-dpu", true
	case OnceIgnored:
		o.Boot.DropsOnce = true
	case ETagStrong:
		o.ETags = bmcsim.ETags{Mode: bmcsim.ETagStrong, Required: true}
	case ETagWeak:
		o.ETags = bmcsim.ETags{Mode: bmcsim.ETagWeak}
	case ETagGzip:
		o.ETags = bmcsim.ETags{Mode: bmcsim.ETagGzip}
	case ETagQuoted:
		o.ETags = bmcsim.ETags{Mode: bmcsim.ETagTwice}
	case ETagEmpty:
		o.ETags = bmcsim.ETags{Mode: bmcsim.ETagEmpty}
	case ETagRequired:
		o.ETags = bmcsim.ETags{Required: true}
	default:
		return false
	}
	return true
}

func (p *play) media(s Scene) bool {
	o := &p.options.Media
	switch s {
	case MediaTransfer:
		o.Demands = []string{"TransferProtocolType"}
	case MediaMethod:
		o.Demands = []string{"TransferProtocolType", "TransferMethod"}
	case MediaUser:
		o.Demands = []string{"TransferProtocolType", "TransferMethod", "UserName"}
	case MediaPatch:
		o.PatchOnly = true
	case DeafSlots:
		p.tree = "lenovo-sr670v2-xcc-2.83"
	case StaleMedia:
		o.KeepsImage, o.Stale = true, 5*time.Second
	default:
		return false
	}
	return true
}

// begin makes what was there before the scene.
func (p *play) begin(st *simulated) error {
	st.strays = st.net.wires.strays()
	if p.scene != SessionsFull {
		return nil
	}
	c := st.Credentials()
	return st.ask(http.MethodPost, "/redfish/v1/SessionService/Sessions", map[string]string{"UserName": c.Username, "Password": c.Password.Show()})
}

// door is what stands before the BMC.
func (st *simulated) door(next http.Handler) http.Handler {
	const moved = "/moved"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch st.play.scene {
		case MovedHere:
			path, ok := strings.CutPrefix(r.URL.Path, moved)
			if !ok {
				http.Redirect(w, r, moved+r.URL.RequestURI(), http.StatusPermanentRedirect)
				return
			}
			r.URL.Path = path
		case LocationAway:
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/Sessions") {
				w = &relocated{w, st.play.away}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// relocated names another host in the Location of an answer.
type relocated struct {
	http.ResponseWriter
	away string
}

// WriteHeader changes the Location.
func (w *relocated) WriteHeader(status int) {
	if at := w.Header().Get("Location"); at != "" {
		w.Header().Set("Location", "https://"+w.away+at)
	}
	w.ResponseWriter.WriteHeader(status)
}
