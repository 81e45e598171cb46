package vmlab

import (
	"context"

	"github.com/ingotmetal/ingot/bmc/bmcsim"
)

// A controller is what a simulated BMC moves: a machine of the lab. It implements
// bmcsim.Backend.
type controller struct{ m *Machine }

// On turns it on with the override and the medium of the BMC.
func (c controller) On(_ context.Context, s bmcsim.Start) error { return c.m.Start(startOf(s)) }

// Off takes its power away.
func (c controller) Off(context.Context) error {
	c.m.Off()
	return nil
}

// Press pushes the power button.
func (c controller) Press(ctx context.Context) error { return c.m.Press(ctx) }

// Reset restarts it. QEMU takes a boot order when it starts: with an override the machine
// starts anew, which takes its power away for a moment.
func (c controller) Reset(ctx context.Context, s bmcsim.Start) error {
	now := startOf(s)
	if now == (Start{}) {
		return c.m.Reset(ctx)
	}
	c.m.Off()
	return c.m.Start(now)
}

// NMI interrupts it.
func (c controller) NMI(ctx context.Context) error {
	return c.m.ask(ctx, func(q *monitor) error { return q.do("inject-nmi", nil, nil) })
}

// Running reports whether it has power.
func (c controller) Running(context.Context) (bool, error) { return c.m.Running(), nil }

// startOf reads what a BMC turns a machine on with. A target that QEMU has no place for
// leaves the order as it is, as firmware does with what it does not find.
func startOf(s bmcsim.Start) Start {
	now := Start{First: map[string]First{
		"Pxe": FromNetwork, "UefiHttp": FromNetwork, "Hdd": FromDisk, "Cd": FromMedium, "Usb": FromMedium, "UsbCd": FromMedium,
	}[s.Target]}
	for _, m := range s.Media {
		if m.File != "" {
			now.Medium = m.File
		}
	}
	if now.First == FromMedium && now.Medium == "" {
		now.First = ""
	}
	return now
}
