package machine

import (
	"context"

	"github.com/ingotmetal/ingot/bmc"
)

// ask calls f on the part I of the session. A session without it cannot.
func ask[I, T any](ctx context.Context, m *Machine, o op, f func(context.Context, I) (T, error)) (T, error) {
	var out T
	err := m.call(ctx, o, func(ctx context.Context, s *seat) error {
		part, ok := bmc.As[I](s.session)
		if !ok {
			return &bmc.Error{Kind: bmc.Unsupports, Op: o.name, Sent: bmc.SentNo, Why: "the driver " + m.c.Driver.Info().Name + " does not"}
		}
		var err error
		out, err = f(ctx, part)
		return err
	})
	return out, err
}

func (m *Machine) reads(name string) op {
	return op{name: name, read: true, attempts: m.c.Retry.attempts()}
}

func (m *Machine) writes(name string) op {
	return op{name: name, attempts: m.c.Retry.attempts()}
}

// Probe says which machine this is and what it can do. It is read once for each
// session.
func (m *Machine) Probe(ctx context.Context) (bmc.Probed, error) {
	var out bmc.Probed
	err := m.call(ctx, m.reads("probe"), func(ctx context.Context, s *seat) error {
		p, err := m.probe(ctx, s)
		if err == nil {
			out = *p
		}
		return err
	})
	return out, err
}

// ReadPower reads the power, by [Retry].
func (m *Machine) ReadPower(ctx context.Context) (bmc.PowerObservation, error) {
	return m.readPower(ctx, m.c.Retry.attempts())
}

// Poll reads the power once: what a [Poller] wants, which comes again anyway.
func (m *Machine) Poll(ctx context.Context) (bmc.PowerObservation, error) {
	return m.readPower(ctx, 1)
}

func (m *Machine) readPower(ctx context.Context, attempts int) (bmc.PowerObservation, error) {
	o := op{name: "read power", read: true, attempts: attempts, timeout: m.c.Retry.read()}
	seen, err := ask(ctx, m, o, func(ctx context.Context, p bmc.Power) (bmc.PowerObservation, error) { return p.ReadPower(ctx) })
	if err == nil && seen.Runs() {
		m.gate.stirs.came(m.c.Endpoint.System, seen.Began)
	}
	return seen, err
}

// BootTargets lists what the machine can be told to boot.
func (m *Machine) BootTargets(ctx context.Context) ([]bmc.BootTarget, error) {
	return ask(ctx, m, m.reads("boot targets"), func(ctx context.Context, b bmc.Boot) ([]bmc.BootTarget, error) { return b.BootTargets(ctx) })
}

// ReadBoot reads the boot override.
func (m *Machine) ReadBoot(ctx context.Context) (bmc.BootState, error) {
	return ask(ctx, m, m.reads("read boot"), func(ctx context.Context, b bmc.Boot) (bmc.BootState, error) { return b.ReadBoot(ctx) })
}

// SetBoot sets a boot override and returns what stands. What stands and is not
// what was asked for is an error, also where a driver lets it pass.
func (m *Machine) SetBoot(ctx context.Context, spec bmc.BootSpec) (bmc.BootState, error) {
	const name = "set boot"
	return ask(ctx, m, m.writes(name), func(ctx context.Context, b bmc.Boot) (bmc.BootState, error) {
		stands, err := b.SetBoot(ctx, spec)
		if err == nil && !spec.Stands(stands) {
			err = &bmc.Error{Kind: bmc.NotReached, Op: name, Sent: bmc.SentYes, Why: "the BMC took it, and something else stands: " + stands.Raw, Do: "read it, and set what the machine can"}
		}
		return stands, err
	})
}

// ClearBoot removes the boot override.
func (m *Machine) ClearBoot(ctx context.Context) (bmc.BootState, error) {
	return ask(ctx, m, m.writes("clear boot"), func(ctx context.Context, b bmc.Boot) (bmc.BootState, error) { return b.ClearBoot(ctx) })
}

// MediaSlots lists the virtual drives.
func (m *Machine) MediaSlots(ctx context.Context) ([]bmc.MediaSlot, error) {
	return ask(ctx, m, m.reads("media slots"), func(ctx context.Context, d bmc.Media) ([]bmc.MediaSlot, error) { return d.MediaSlots(ctx) })
}

// InsertMedia puts an image into a virtual drive.
func (m *Machine) InsertMedia(ctx context.Context, spec bmc.MediaSpec) (bmc.MediaSlot, error) {
	return ask(ctx, m, m.writes("insert media"), func(ctx context.Context, d bmc.Media) (bmc.MediaSlot, error) { return d.InsertMedia(ctx, spec) })
}

// EjectMedia empties a virtual drive; running is that of [bmc.MediaSpec].
func (m *Machine) EjectMedia(ctx context.Context, slot string, running bool) error {
	_, err := ask(ctx, m, m.writes("eject media"), func(ctx context.Context, d bmc.Media) (struct{}, error) {
		return struct{}{}, d.EjectMedia(ctx, slot, running)
	})
	return err
}

// Inspect reads what the BMC knows of the machine.
func (m *Machine) Inspect(ctx context.Context) (bmc.Inspection, error) {
	return ask(ctx, m, m.reads("inspect"), func(ctx context.Context, i bmc.Inventory) (bmc.Inspection, error) { return i.Inventory(ctx) })
}

// Health reads the BMC's own judgement.
func (m *Machine) Health(ctx context.Context) (bmc.HealthReport, error) {
	return ask(ctx, m, m.reads("health"), func(ctx context.Context, h bmc.Health) (bmc.HealthReport, error) { return h.Health(ctx) })
}

// Firmware lists the machine's firmware.
func (m *Machine) Firmware(ctx context.Context) ([]bmc.Component, error) {
	return ask(ctx, m, m.reads("firmware"), func(ctx context.Context, f bmc.Firmware) ([]bmc.Component, error) { return f.Firmware(ctx) })
}

// Events reads the BMC's log from a place on; see [bmc.Events].
func (m *Machine) Events(ctx context.Context, after string) (list []bmc.Event, next string, err error) {
	_, err = ask(ctx, m, m.reads("events"), func(ctx context.Context, e bmc.Events) (struct{}, error) {
		var err error
		list, next, err = e.Events(ctx, after)
		return struct{}{}, err
	})
	return list, next, err
}
