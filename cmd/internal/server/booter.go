package server

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/server/httpop"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// servedBoot is a record as a booter needs it.
func (s *Server) servedBoot(r store.Reader, mac netboot.MAC) (api.ServedBoot, bool, error) {
	st, err := s.Door.Load(r, control.Target{MAC: mac})
	if err != nil {
		return api.ServedBoot{}, false, err
	}
	b := boot(&st, mac)
	if b.State == netboot.Absent {
		return api.ServedBoot{}, false, nil
	}
	v := api.ServedBoot{BootRecord: bootView(r, &st.Node, b)}
	v.LastSeen = time.Time{} // the booters' own word, which no change tells of
	if b.Networking != (netboot.Networking{}) {
		v.Networking = map[string]string{"network": b.Networking.Network.String(), "gateway": addrText(b.Networking.Gateway)}
	}
	v.RootSet = b.State == netboot.Enrolled && st.Node.Reg.Settings.RootHash != "" && b.Owner.Node == string(st.Node.ID)
	return v, true, nil
}

// snapshotPage is how many records are read in one view.
const snapshotPage = 256

// snapshot is all that a booter serves from. It is read in pages, each as of its own
// moment: what changed between them comes again with the changes after the first
// page's revision.
func (s *Server) snapshot(ctx context.Context, _ *api.Empty) (api.BootSnapshot, error) {
	out := api.BootSnapshot{Boots: []api.ServedBoot{}}
	for after := lifecycle.RowBoot; after != ""; {
		err := s.Door.Store().View(ctx, func(r store.Reader) error {
			if out.Incarnation == "" {
				st, err := s.Door.Load(r, control.Target{})
				if err != nil {
					return err
				}
				out.Incarnation, out.Revision, out.Policy = control.Incarnation(r), r.Head().Revision, policyView(st.Site.Policy)
			}
			var err error
			after, err = s.snapshotFrom(r, after, &out)
			return err
		})
		if err != nil {
			return api.BootSnapshot{}, err
		}
	}
	return out, nil
}

// snapshotFrom adds a page of records, and returns the key that the next begins
// with.
func (s *Server) snapshotFrom(r store.Reader, after string, out *api.BootSnapshot) (string, error) {
	var keys []string
	for key := range r.Range(after, control.Beyond(lifecycle.RowBoot)) {
		if keys = append(keys, key); len(keys) == snapshotPage {
			break
		}
	}
	for _, key := range keys {
		mac, err := netboot.ParseMAC(strings.TrimPrefix(key, lifecycle.RowBoot))
		if err != nil {
			return "", err
		}
		v, ok, err := s.servedBoot(r, mac)
		if err != nil {
			return "", err
		}
		if ok {
			out.Boots = append(out.Boots, v)
		}
	}
	if len(keys) < snapshotPage {
		return "", nil
	}
	return keys[len(keys)-1] + "\x00", nil
}

// One answer covers so many rows of the log, and with the last of them no more than
// about so many records.
const (
	maxDelta   = 2000
	maxTouched = 500
)

func (s *Server) bootChanges(ctx context.Context, in *api.BootChanges) (api.BootDelta, error) {
	var out api.BootDelta
	from := in.Revision // what is up to here was looked at already
	err := s.poll(ctx, in.Wait.Duration, func(r store.Reader) (bool, error) {
		out = api.BootDelta{Incarnation: control.Incarnation(r), Revision: r.Head().Revision}
		if in.Incarnation != out.Incarnation || in.Revision > out.Revision || from < r.Base().Revision {
			out.Reset = true
			return true, nil
		}
		touched, policy, rev, err := touchedBoots(r, from)
		if err != nil {
			return false, err
		}
		more := rev < out.Revision
		from, out.Revision = rev, rev
		if policy {
			st, err := s.Door.Load(r, control.Target{})
			if err != nil {
				return false, err
			}
			p := policyView(st.Site.Policy)
			out.Policy = &p
		}
		return policy || more || len(touched) > 0, s.delta(r, touched, &out)
	})
	return out, err
}

// touchedBoots are the MACs whose records, or whose machines' settings, rows of the
// log after a revision touched.
func touchedBoots(r store.Reader, after uint64) (macs []netboot.MAC, policy bool, rev uint64, err error) {
	seen := map[netboot.MAC]bool{}
	rev = after
	for row, err := range store.Rows(r, store.Rev(after)) {
		if err != nil {
			return nil, false, 0, err
		}
		for _, key := range row.Keys {
			policy = policy || key == lifecycle.RowSite+"policy"
			for _, mac := range control.BootsOf(r, key) {
				if !seen[mac] {
					seen[mac] = true
					macs = append(macs, mac)
				}
			}
		}
		if rev = row.Revision; rev-after == maxDelta || len(macs) >= maxTouched {
			break
		}
	}
	return macs, policy, rev, nil
}

// delta fills in the touched records as they stand.
func (s *Server) delta(r store.Reader, touched []netboot.MAC, out *api.BootDelta) error {
	for _, mac := range touched {
		v, ok, err := s.servedBoot(r, mac)
		switch {
		case err != nil:
			return err
		case ok:
			out.Put = append(out.Put, v)
		default:
			out.Delete = append(out.Delete, mac.String())
		}
	}
	return nil
}

func (s *Server) sightings(ctx context.Context, in *api.ReportSightings) (api.SightingsTaken, error) {
	seen := make([]control.Seen, 0, len(in.Body.Sightings))
	for _, x := range in.Body.Sightings {
		mac, err := netboot.ParseMAC(x.MAC)
		if err != nil {
			return api.SightingsTaken{}, err
		}
		one := control.Seen{MAC: mac, Arch: x.Arch, First: x.FirstSeen.UTC(), Last: x.LastSeen.UTC(), Count: x.Count, Relay: x.Relay}
		if one.Product, err = product(x.Product); err != nil {
			return api.SightingsTaken{}, err
		}
		seen = append(seen, one)
	}
	rev, errs, err := s.Door.Sight(ctx, control.Call{Actor: caller(ctx).name()}, in.Body.Booter, seen)
	if err != nil {
		return api.SightingsTaken{}, err
	}
	out := api.SightingsTaken{Revision: uint64(rev)}
	err = s.Door.Store().View(ctx, func(r store.Reader) error {
		for i, x := range seen {
			st, err := s.Door.Load(r, control.Target{MAC: x.MAC})
			if err != nil {
				return err
			}
			a := api.Admission{MAC: x.MAC.String(), State: string(boot(&st, x.MAC).State)}
			if errs[i] != nil {
				p := httpop.Problem(errs[i], s.Door.Now())
				a.Code, a.Why = p.Code(), p.Detail
			}
			out.Admissions = append(out.Admissions, a)
		}
		return nil
	})
	return out, err
}

// product reads a product UUID as a machine sent it. A placeholder is what firmware
// sends that has none: it is no reason to refuse what all other machines sent.
func product(text string) (registration.ServerID, error) {
	if text == "" {
		return registration.ServerID{}, nil
	}
	id, err := serverID(text)
	if b, ok := errors.AsType[*registration.BadServerID](err); ok && placeholder(b.Text) {
		return registration.ServerID{}, nil
	}
	return id, err
}

// placeholder reports whether text is a UUID that names no machine.
func placeholder(text string) bool {
	var id registration.ServerID
	raw, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	return err == nil && copy(id[:], raw) == len(id) && id.Placeholder()
}

func (s *Server) boots(ctx context.Context, in *api.ReportBoots) (api.BootsTaken, error) {
	if slices.ContainsFunc(in.Body.Staged, func(ref string) bool { return netboot.CheckImage(ref) != nil }) {
		return api.BootsTaken{}, invalid("body.staged", "names of images (BOOT-2)")
	}
	if slices.ContainsFunc(in.Body.Disks, func(ref string) bool { return !isDiskImage(ref) }) {
		return api.BootsTaken{}, invalid("body.disks", "digests: sha256: and 64 lower-case hexadecimal digits (SET-4)")
	}
	err := s.Door.Booted(ctx, control.Booter{Name: in.Body.Booter, Staged: in.Body.Staged, Disks: in.Body.Disks}, bootsOf(in.Body.Boots))
	return api.BootsTaken{Taken: len(in.Body.Boots)}, err
}

// isDiskImage reports whether ref names a disk image by its content.
func isDiskImage(ref string) bool {
	digits, ok := strings.CutPrefix(ref, "sha256:")
	return ok && booter.IsDigest(digits)
}

func bootsOf(all []api.ServedOnce) []control.Booted {
	out := make([]control.Booted, 0, len(all))
	for _, b := range all {
		if mac, err := netboot.ParseMAC(b.MAC); err == nil {
			out = append(out, control.Booted{MAC: mac, At: b.Time, Stage: b.Stage, Image: b.Image, Silence: b.Silence, Count: b.Count})
		}
	}
	return out
}

func (s *Server) approvals(ctx context.Context, in *api.SetupApprovals) (api.Approvals, error) {
	var out api.Approvals
	err := s.poll(ctx, in.Wait.Duration, func(r store.Reader) (bool, error) {
		out = api.Approvals{Revision: r.Head().Revision, Approvals: []api.Approval{}}
		news := false // else a busy site would have every booter ask without a pause
		for _, server := range control.Setups(r) {
			st, err := s.Door.Load(r, control.Target{Server: server})
			if err != nil {
				return false, err
			}
			reg, id := &st.Node.Reg, st.Node.ID
			if reg.State == registration.SettingUp && !reg.Bundle.Consumed && s.Door.Now().Before(reg.Deadline) {
				news = news || control.Told(r, string(id), in.After)
				out.Approvals = append(out.Approvals, api.Approval{Server: reg.Server.String(), Node: string(id), Epoch: reg.Epoch, Deadline: reg.Deadline,
					AgentKey: digits(reg.AgentKey), Plan: *approvedPlan(r, reg)})
			}
		}
		return news, nil
	})
	return out, err
}
