package control_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/identity/keys"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// ones is entropy that counts.
type ones struct{ n byte }

func (o *ones) Read(b []byte) (int, error) {
	for i := range b {
		o.n += 37
		b[i] = o.n + byte(i)
	}
	return len(b), nil
}

// lived takes machine i along a way of inputs of the property test, by name.
func (s *site) lived(m *model, i int, way string) {
	s.t.Helper()
	for name := range strings.SplitSeq(way, ", ") {
		ask := m.inputs(i, noon)[name]
		t, was := m.target(i, ask.how)
		done, err := s.Do(s.t.Context(), control.Call{Actor: "ada"}, t, control.Just(ask.in))
		if err != nil || len(done.Facts) == 0 {
			s.t.Fatalf("machine %d, %s: %v, %v", i, name, done.Facts, err)
		}
		m.put(i, ask.how, was, done.Next)
	}
}

// ways lead a machine to every state of its row.
func ways() []string {
	return []string{
		"register", "register, approve", "register, approve, acknowledge", "register, approve, acknowledge, disable", "announce",
		"sight, announce, approve setup", "sight, announce, approve setup, drain", "sight, announce, approve setup, drain, complete",
		"sight, announce, approve setup, drain, complete, session, cordon", "sight, announce, approve setup, fail", "announce, delete row", "sight",
	}
}

// desk makes a session and an API key.
func (s *site) desk() {
	s.t.Helper()
	draw := control.Draw{Entropy: &ones{}}
	secret, err1 := draw.Secret(keys.APIKey)
	token, err2 := draw.Secret(keys.SessionToken)
	if err1 != nil || err2 != nil {
		s.t.Fatal(err1, err2)
	}
	k, err := operators.MintKey(secret, operators.KeyRequest{Scope: keys.Full, Tenant: "default"}, "ada", noon)
	if err != nil {
		s.t.Fatal(err)
	}
	row := operators.Session{Schema: 1, ID: token.ID(), Hash: token.Hash(), Operator: "ada", Tenant: "default", Generation: 1, Account: noon, Created: noon, Ends: noon.Add(time.Hour), Seen: noon}
	_, err = s.Record(s.t.Context(), control.Call{Actor: "test"}, func(tx store.Tx, _ time.Time) ([]journal.Fact, error) {
		for key, v := range map[string]any{"apikey/" + k.Key.ID: k, "session/" + row.ID: row} {
			raw, err := json.Marshal(v)
			if err != nil {
				return nil, err
			}
			tx.Put(key, raw)
		}
		return []journal.Fact{{Type: "test.wrote", Subject: "site"}}, nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) all() map[string]string {
	s.t.Helper()
	all := map[string]string{}
	err := s.Store().View(s.t.Context(), func(r store.Reader) error {
		for k, v := range r.Range(" ", "~") {
			all[k] = string(v)
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

func below(rows map[string]string, prefix string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(rows)), func(k string) bool { return !strings.HasPrefix(k, prefix) })
}

// A restored copy is another life of the site: whatever may have been revoked since it
// was made is dead, with machines in every state; also where the restore is run twice.
func TestReincarnate(t *testing.T) {
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprint("keep keys ", keep), func(t *testing.T) {
			s := newSite(t)
			if err := s.Found(t.Context(), control.Draw{Entropy: &ones{}}); err != nil {
				t.Fatal(err)
			}
			m := newModel()
			for i := machines; i < len(ways()); i++ {
				m.nodes, m.boots = append(m.nodes, lifecycle.Fresh()), append(m.boots, m.boots[0])
			}
			for i, way := range ways() {
				m.boots[i].MAC = mac(i)
				s.lived(m, i, way)
			}
			join := lifecycle.Join{NewID: m.id(), Claims: lifecycle.Claims{EK: "ek"}, Certificate: "c1"}
			joined := s.do(control.Target{}, join).Next.Node
			s.do(control.Target{}, lifecycle.SetWindow{Call: ada, Kind: lifecycle.AutoApproveWindow, Window: lifecycle.Window{End: noon.Add(time.Hour)}})
			s.desk()
			before := s.all()
			epoch := s.site(t).Epoch
			n, voided, err := s.Reincarnate(t.Context(), control.Draw{Entropy: &ones{n: 9}}, keep)
			if err != nil || n < 11 || voided == 0 {
				t.Fatalf("%d machines, %d credentials, %v", n, voided, err)
			}
			s.verify()
			s.dead(m, keep)
			after := s.all()
			if before["incarnation"] == after["incarnation"] || s.site(t).Epoch < epoch+1<<30 || s.site(t).AutoApprove != (lifecycle.Window{}) {
				t.Errorf("incarnation %s, then %s; epoch %d, then %d; %+v", before["incarnation"], after["incarnation"], epoch, s.site(t).Epoch, s.site(t).AutoApprove)
			}
			got, _, err := s.Read(t.Context(), control.Target{Node: joined.ID})
			if err != nil || len(got.Node.Identity.Live) != 0 || got.Node.Identity.Generation <= joined.Identity.Generation {
				t.Errorf("its certificates: %+v, %v", got.Node.Identity, err)
			}
			if _, again, err := s.Reincarnate(t.Context(), control.Draw{Entropy: &ones{n: 70}}, keep); err != nil || again != 0 {
				t.Errorf("a second time it voids %d, %v", again, err)
			}
			s.verify()
		})
	}
}

func (s *site) site(t *testing.T) lifecycle.Site {
	got, _, err := s.Read(t.Context(), control.Target{})
	if err != nil {
		t.Fatal(err)
	}
	return got.Site
}

// dead wants every secret of the copy to open nothing.
func (s *site) dead(m *model, keep bool) {
	s.t.Helper()
	rows := s.all()
	kept := 0
	if keep {
		kept = 3 // of the approved machines whose agents have them: two installed, one acknowledged
	}
	if got := below(rows, "by/poll/"); len(got) != 0 {
		s.t.Errorf("poll tokens: %v", got)
	}
	live := 0
	for i := range m.nodes {
		got, _, err := s.Read(s.t.Context(), control.Target{Server: uuidOf(i)})
		if err != nil {
			s.t.Fatal(err)
		}
		reg := &got.Node.Reg
		if reg.Bound != (registration.Key{}) {
			live++
		}
		if reg.State == registration.Pending || reg.State == registration.SettingUp || reg.Code.Hash != (registration.Hash{}) || reg.Bundle.Sealed != "" || reg.Waiting != "" || reg.State == registration.Approved && !keep {
			s.t.Errorf("%q is in %s: %+v", ways()[i], reg.State, reg)
		}
	}
	if live != kept {
		s.t.Errorf("%d bound keys are alive, want %d", live, kept)
	}
	for _, prefix := range []string{"session/", "apikey/"} {
		for _, key := range below(rows, prefix) {
			if dead := strings.Contains(rows[key], `"Revoked":"20`); dead == (keep && prefix == "apikey/") {
				s.t.Errorf("%s: %s", key, rows[key])
			}
		}
	}
}
