package redfish

import (
	"context"
	"errors"
	"fmt"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/wire"
)

var _ bmc.Inventory = (*Session)(nil)

// inventoryBudget bounds the requests of an Inventory, healthBudget those of a
// Health and of a Firmware.
const (
	inventoryBudget = 600
	healthBudget    = 300
)

// decode reads an answer into one of gofish's types. Its error is of kind
// [bmc.Protocol]: a resource that the schema does not know.
func decode[T any](a *wire.Response) (T, error) {
	var v T
	return v, a.JSON(&v)
}

// A survey is an inspection in the making.
type survey struct {
	*call
	in bmc.Inspection
	// known are the addresses of the cards so far, odd what all of them say, in
	// small letters.
	known map[bmc.MAC]bool
	odd   map[string]bool
}

// lacks notes a part that cannot be read, and says whether to go on: what ends
// the whole operation is returned.
func (v *survey) lacks(path string, err error) error {
	e, ok := errors.AsType[*bmc.Error](err)
	if !ok {
		return err
	}
	switch e.Kind {
	case bmc.NotFound, bmc.Forbidden, bmc.Licence, bmc.Protocol, bmc.Unsupports, bmc.Untrusted, bmc.Conflict:
		why := string(e.Kind)
		if errors.Is(err, errBudget) {
			why = "the budget of requests is spent"
		}
		v.in.Missing = append(v.in.Missing, bare(path)+": "+why)
		return nil
	}
	return err
}

// each reads the members of a collection, and notes those that cannot be.
func (v *survey) each(ctx context.Context, path string, use func(path string, d doc, a *wire.Response) error) error {
	if path == "" {
		return nil
	}
	paths, err := v.members(ctx, path)
	if err != nil {
		return v.lacks(path, err)
	}
	return v.all(ctx, paths, use)
}

func (v *survey) all(ctx context.Context, paths []string, use func(path string, d doc, a *wire.Response) error) error {
	for i, p := range paths {
		d, a, err := v.get(ctx, p)
		if err == nil {
			err = use(p, d, a)
		}
		if err == nil {
			continue
		}
		if err := v.lacks(p, err); err != nil {
			return err
		}
		if errors.Is(err, errBudget) {
			v.in.Missing = append(v.in.Missing, fmt.Sprintf("and %d more of its collection", len(paths)-i-1))
			return nil
		}
	}
	return nil
}

// Inventory reads the system, its network interfaces, the adapters of its
// chassis, and its drives.
func (s *Session) Inventory(ctx context.Context) (bmc.Inspection, error) {
	v := &survey{call: s.call("read inventory", inventoryBudget)}
	d, _, err := v.get(ctx, s.host.path)
	if err != nil {
		return v.in, err
	}
	v.in.UUID, v.in.Serials = bmc.ClaimUUID(d.str("UUID")), s.serials(d)
	v.in.Vendor, v.in.Model = s.vendor(), d.str("Model")
	v.in.CPUs = int(min(max(d.sub("ProcessorSummary").num("Count"), 0), 1<<16))
	v.in.Memory = int64(min(max(d.sub("MemorySummary").num("TotalSystemMemoryGiB"), 0), 1<<30) * 1024)
	for _, part := range []func(context.Context, doc) error{v.interfaces, v.adapters, v.drives} {
		if err := part(ctx, d); err != nil {
			return v.in, err
		}
	}
	v.in.NICs = bmc.JudgeNICs(v.in.NICs)
	return v.in, nil
}

// drives reads the drives of the system's storage, each once.
func (v *survey) drives(ctx context.Context, system doc) error {
	seen := map[string]bool{}
	return v.each(ctx, system.link("Storage"), func(_ string, d doc, _ *wire.Response) error {
		var paths []string
		for _, p := range d.links("Drives") {
			if !seen[bare(p)] && len(seen) < maxParts {
				seen[bare(p)] = true
				paths = append(paths, p)
			}
		}
		return v.all(ctx, paths, func(_ string, d doc, a *wire.Response) error {
			drive, err := decode[schemas.Drive](a)
			if err != nil {
				return err
			}
			v.in.Drives = append(v.in.Drives, bmc.Drive{
				ID: short(drive.ID), Model: short(drive.Model), Serial: short(drive.SerialNumber), Media: short(string(drive.MediaType)),
				Bytes: int64(min(max(d.num("CapacityBytes"), 0), 1<<60)),
			})
			return nil
		})
	})
}
