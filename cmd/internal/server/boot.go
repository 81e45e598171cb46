package server

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// bootView is a boot record as people see it.
func bootView(r store.Reader, n *lifecycle.Node, b *netboot.Record) api.BootRecord {
	v := api.BootRecord{MAC: b.MAC.String(), State: string(b.State), Mode: string(cmp.Or(b.Mode, netboot.Normal)), Image: b.Image,
		Node: b.Owner.Node, CandidateFor: b.Candidate}
	if b.Address.IsValid() {
		v.Address = b.Address.String()
	}
	if b.Owner.Server != (netboot.ServerID{}) {
		v.Server = registration.ServerID(b.Owner.Server).String()
	}
	if b.Entry.Epoch != 0 {
		v.Entry = &api.BootNext{Epoch: b.Entry.Epoch, Image: b.Entry.Image, Args: b.Entry.Args}
	}
	v.Version = bootVersion(r, b)
	if seen, ok := control.SightingOf(r, b.MAC); ok {
		v.LastSeen = seen.Last
	}
	return v
}

// bootVersion is the revision of the newest row that changed a record, 0 where
// there is none (API-1).
func bootVersion(r store.Reader, b *netboot.Record) uint64 {
	if b.State == netboot.Absent {
		return 0
	}
	return max(1, control.ChangedAt(r, lifecycle.RowBoot+b.MAC.String()))
}

// bootCall is the caller of a verb on a record. The step compares versions in its
// own place among the checks (EDGE-15), and those are nodes': it gets one that
// differs from the node's where the record's does.
func bootCall(ctx context.Context, c api.Change, l *control.Look, b *netboot.Record) lifecycle.Call {
	call := by(ctx, c)
	if call.Version = 0; c.Version != 0 && c.Version != bootVersion(l, b) {
		call.Version = l.State.Node.Version + 1
	}
	return call
}

// boot is the record of a MAC in a state; an unknown MAC reads as absent, and is
// not written (BOOT-1).
func boot(st *lifecycle.State, mac netboot.MAC) *netboot.Record {
	for i := range st.Node.NICs {
		if st.Node.NICs[i].MAC == mac {
			return &st.Node.NICs[i]
		}
	}
	none := netboot.New(mac)
	return &none
}

func (s *Server) bootList(ctx context.Context, in *api.BootList) (api.BootRecords, error) {
	out := api.BootRecords{Boots: []api.BootRecord{}}
	valid := func(name string) bool { m, err := netboot.ParseMAC(name); return err == nil && m.String() == name }
	err := s.list(ctx, lister{prefix: lifecycle.RowBoot, page: in.Page, valid: valid}, &out.NextCursor, func(r store.Reader, name string) (bool, error) {
		mac, err := netboot.ParseMAC(name)
		if err != nil {
			return false, err
		}
		st, err := s.Door.Load(r, control.Target{MAC: mac})
		if err != nil {
			return false, err
		}
		v := bootView(r, &st.Node, boot(&st, mac))
		if in.State != "" && v.State != in.State || in.Mode != "" && v.Mode != in.Mode {
			return false, nil
		}
		out.Boots = append(out.Boots, v)
		return true, nil
	})
	return out, err
}

func (s *Server) bootShow(ctx context.Context, in *api.BootRef) (api.BootRecord, error) {
	mac, err := mac(in.MAC)
	if err != nil {
		return api.BootRecord{}, err
	}
	return s.bootNow(ctx, mac)
}

func (s *Server) bootNow(ctx context.Context, mac netboot.MAC) (api.BootRecord, error) {
	var out api.BootRecord
	err := s.Door.Store().View(ctx, func(r store.Reader) error {
		st, err := s.Door.Load(r, control.Target{MAC: mac})
		if err == nil {
			out = bootView(r, &st.Node, boot(&st, mac))
		}
		return err
	})
	return out, err
}

// bootVerb carries out an operator's verb on one record.
func (s *Server) bootVerb(ctx context.Context, op api.Any, in api.BootChange, asked any, verb netboot.Kind, mode netboot.Mode) (api.BootChanged, error) {
	mac, err := mac(in.MAC)
	if err != nil {
		return api.BootChanged{}, err
	}
	c, err := s.call(ctx, op, in.Change, asked)
	if err != nil {
		return api.BootChanged{}, err
	}
	done, err := s.Door.Do(ctx, c, control.Target{MAC: mac}, func(l *control.Look) (lifecycle.Input, error) {
		b := boot(&l.State, mac)
		return lifecycle.BootVerb{Call: bootCall(ctx, in.Change, l, b), On: verb, MAC: mac, Mode: mode, Spoken: control.Spoken(l, b.Product)}, nil
	})
	if err != nil {
		return api.BootChanged{}, err
	}
	out := api.BootChanged{Outcome: outcome(in.Change, done)}
	if done.Replayed {
		out.Boot, err = s.bootNow(ctx, mac)
		return out, err
	}
	err = s.Door.Store().View(ctx, func(r store.Reader) error {
		out.Boot = bootView(r, &done.Next.Node, boot(&done.Next, mac))
		return nil
	})
	return out, err
}

func (s *Server) bootEnroll(ctx context.Context, in *api.BootChange) (api.BootChanged, error) {
	return s.bootVerb(ctx, api.BootEnroll, *in, in, netboot.Enroll, "")
}

func (s *Server) bootDecommission(ctx context.Context, in *api.BootChange) (api.BootChanged, error) {
	return s.bootVerb(ctx, api.BootDecommission, *in, in, netboot.Decommission, "")
}

func (s *Server) bootReactivate(ctx context.Context, in *api.BootChange) (api.BootChanged, error) {
	return s.bootVerb(ctx, api.BootReactivate, *in, in, netboot.Reactivate, "")
}

func (s *Server) bootPurge(ctx context.Context, in *api.BootChange) (api.Deleted, error) {
	done, err := s.bootVerb(ctx, api.BootPurge, *in, in, netboot.Purge, "")
	return api.Deleted{Outcome: done.Outcome, Deleted: len(done.Facts) > 0}, err
}

func (s *Server) bootMode(ctx context.Context, in *api.SetMode) (api.BootChanged, error) {
	return s.bootVerb(ctx, api.BootMode, in.BootChange, in, netboot.SetMode, netboot.Mode(in.Body.Mode))
}

// discovered lists what booters saw, newest first (BOOT-18). The cursor is the
// time and MAC of the last one.
func (s *Server) discovered(ctx context.Context, in *api.DiscoveredList) (api.Discovered, error) {
	out := api.Discovered{Sightings: []api.Sighting{}}
	limit := cmp.Or(in.Limit, defaultPage)
	from, err := sightingsFrom(in.Cursor)
	if err != nil {
		return out, err
	}
	err = s.Door.Store().View(ctx, func(r store.Reader) error {
		all := control.Sightings(r, s.Door.Now())
		var last control.Sighting
		for _, x := range all {
			if from != "" && sightingPlace(x) >= from {
				continue
			}
			if len(out.Sightings) == limit {
				out.NextCursor = opaque(sightingsPrefix + sightingPlace(last))
				break
			}
			last = x
			v, err := s.sightingView(r, x)
			if err != nil {
				return err
			}
			out.Sightings = append(out.Sightings, v)
		}
		return nil
	})
	return out, err
}

// sightingsPrefix tells the cursors of this list from all others.
const sightingsPrefix = "sighting/"

const sightingTime = "20060102T150405.000000000"

// sightingPlace orders sightings by time, then by MAC.
func sightingPlace(x control.Sighting) string {
	return x.Last.UTC().Format(sightingTime) + " " + x.MAC.String()
}

// sightingsFrom is the place that a cursor has; "" without one.
func sightingsFrom(cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	text, ok := plain(cursor)
	place, own := strings.CutPrefix(text, sightingsPrefix)
	at, mac, _ := strings.Cut(place, " ")
	_, bad1 := time.Parse(sightingTime, at)
	_, bad2 := netboot.ParseMAC(mac)
	if !ok || !own || bad1 != nil || bad2 != nil {
		return "", badCursor()
	}
	return place, nil
}

func (s *Server) sightingView(r store.Reader, x control.Sighting) (api.Sighting, error) {
	v := api.Sighting{MAC: x.MAC.String(), Arch: x.Arch, FirstSeen: x.First, LastSeen: x.Last, Count: x.Count, Relays: x.Relays, Booters: x.Booters}
	if x.Product != (registration.ServerID{}) {
		v.Product, v.ProductSwapped = x.Product.String(), x.Product.Swapped().String()
	}
	st, err := s.Door.Load(r, control.Target{MAC: x.MAC})
	if err != nil {
		return v, err
	}
	b := boot(&st, x.MAC)
	v.Node, v.CandidateFor = b.Owner.Node, b.Candidate
	return v, nil
}

// windowView is a window as it stands.
func windowView(kind string, w lifecycle.Window, now time.Time) api.Window {
	v := api.Window{Kind: kind, Ends: w.End, Open: now.Before(w.End) && (!w.Budget || w.Slots > 0)}
	if w.Budget {
		v.Slots = &w.Slots
	}
	return v
}

func (s *Server) windows(ctx context.Context, _ *api.Empty) (api.Windows, error) {
	st, _, err := s.Door.Read(ctx, control.Target{})
	if err != nil {
		return api.Windows{}, err
	}
	now := s.Door.Now()
	return api.Windows{Windows: []api.Window{windowView(lifecycle.AutoApproveWindow, st.Site.AutoApprove, now), windowView(lifecycle.EnrollWindow, st.Site.Enroll, now)}}, nil
}

// window opens or closes one.
func (s *Server) window(ctx context.Context, op api.Any, kind string, c api.Change, asked any, ends time.Time, slots int) (api.WindowChanged, error) {
	call, err := s.call(ctx, op, c, asked)
	if err != nil {
		return api.WindowChanged{}, err
	}
	done, err := s.Door.Do(ctx, call, control.Target{}, func(l *control.Look) (lifecycle.Input, error) {
		in := lifecycle.SetWindow{Call: by(ctx, c), Kind: kind}
		var err error
		if !ends.IsZero() {
			in.Window, err = lifecycle.NewWindow(l.Now, ends, slots)
		}
		return in, err
	})
	if err != nil {
		return api.WindowChanged{}, err
	}
	site := done.Next.Site
	if done.Replayed {
		st, _, err := s.Door.Read(ctx, control.Target{})
		if err != nil {
			return api.WindowChanged{}, err
		}
		site = st.Site
	}
	w := site.Enroll
	if kind == lifecycle.AutoApproveWindow {
		w = site.AutoApprove
	}
	return api.WindowChanged{Outcome: outcome(c, done), Window: windowView(kind, w, s.Door.Now())}, nil
}

func (s *Server) autoApproveOpen(ctx context.Context, in *api.OpenWindow) (api.WindowChanged, error) {
	return s.window(ctx, api.AutoApproveOpen, lifecycle.AutoApproveWindow, in.Change, in, in.Body.Ends, in.Body.Slots)
}

func (s *Server) autoApproveClose(ctx context.Context, in *api.CloseWindow) (api.WindowChanged, error) {
	return s.window(ctx, api.AutoApproveClose, lifecycle.AutoApproveWindow, in.Change, in, time.Time{}, 0)
}

func (s *Server) enrollOpen(ctx context.Context, in *api.OpenWindow) (api.WindowChanged, error) {
	return s.window(ctx, api.EnrollWindowOpen, lifecycle.EnrollWindow, in.Change, in, in.Body.Ends, in.Body.Slots)
}

func (s *Server) enrollClose(ctx context.Context, in *api.CloseWindow) (api.WindowChanged, error) {
	return s.window(ctx, api.EnrollWindowClose, lifecycle.EnrollWindow, in.Change, in, time.Time{}, 0)
}
