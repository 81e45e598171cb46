package booteradmin

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/daemon"
)

func (t *tool) serveCommand() *cobra.Command {
	return &cobra.Command{Use: "serve", Aliases: []string{"run"}, Short: "Serve machines until a signal ends it", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		c, err := t.load()
		if err != nil {
			return err
		}
		return t.serve(cmd.Context(), c)
	}}
}

// serve opens what c names and runs the boot service on it.
func (t *tool) serve(ctx context.Context, c daemon.BooterConfig) (err error) {
	out := t.Outside
	out.Log = t.logger(c)
	links, err := t.Links(c.Interfaces)
	if err != nil {
		return advise(err)
	}
	h, err := daemon.OpenBooter(ctx, c, links, out)
	if err != nil {
		return advise(err)
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	if c.Metrics != "" {
		if h.Metrics, err = out.Listen("tcp", c.Metrics); err != nil {
			return advise(err)
		}
		defer h.Metrics.Close() // Run has closed it, or never began
	}
	t.tell(c, h, out.Log)
	h.System = t.System()
	return h.Run(ctx)
}

// tell says where machines are served, and what may keep them from it.
func (t *tool) tell(c daemon.BooterConfig, h *daemon.Boothouse, log *slog.Logger) {
	if len(c.Interfaces) == 0 {
		log.Info("no interface is named: only machines behind a DHCP relay are answered", "next", "name the interfaces of the admin network in interfaces")
	}
	if !t.has(c.Address) {
		log.Warn("this host does not have the address that machines are told to fetch from", "address", c.Address.String(), "next", "put it on an interface, or correct address; ip -brief address lists what is there")
	}
	log.Info("machines are served", "booter", c.Name, "dhcp", h.Address().String(), "tftp", h.TFTP.LocalAddr().String(), "http", h.HTTP.Addr().String(), "session", h.Session.Addr().String(), "pin", h.Pin)
}

// has reports whether this host has an address. Where that cannot be told, it does.
func (t *tool) has(a netip.Addr) bool {
	all, err := t.Addresses()
	if err != nil || a.IsLoopback() {
		return true
	}
	for _, one := range all {
		if n, ok := one.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok && ip.Unmap() == a {
				return true
			}
		}
	}
	return false
}

// logger writes as the configuration says.
func (t *tool) logger(c daemon.BooterConfig) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Log.Level)) // checked when it was read
	opts := &slog.HandlerOptions{Level: level}
	if c.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(t.Err, opts))
	}
	return slog.New(slog.NewTextHandler(t.Err, opts))
}

func (t *tool) pinCommand() *cobra.Command {
	return &cobra.Command{Use: "pin", Short: "Show the pin by which agents know this booter", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		c, err := t.load()
		if err != nil {
			return err
		}
		out := t.Outside
		out.Log = t.logger(c)
		p, err := daemon.BooterPin(c, out)
		if err != nil {
			return err
		}
		return t.say(map[string]string{"pin": p}, "%s", p)
	}}
}
