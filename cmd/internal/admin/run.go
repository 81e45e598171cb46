package admin

import (
	"errors"
	"log/slog"
	"net"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/daemon"
)

func (t *tool) runCommand() *cobra.Command {
	return &cobra.Command{Use: "serve", Aliases: []string{"run"}, Short: "Serve the site until a signal ends it", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) (err error) {
		c, err := t.load(cmd)
		if err != nil {
			return err
		}
		out := t.Outside
		out.Log = t.logger(c)
		site, err := daemon.OpenSite(cmd.Context(), c, out)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, site.Close()) }()
		return t.serve(cmd, c, site, out)
	}}
}

// logger writes as the configuration says.
func (t *tool) logger(c daemon.Config) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Log.Level)) // checked when it was read
	opts := &slog.HandlerOptions{Level: level}
	if c.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(t.Err, opts))
	}
	return slog.New(slog.NewTextHandler(t.Err, opts))
}

// serve opens the listeners and runs the control plane on them.
func (t *tool) serve(cmd *cobra.Command, c daemon.Config, site *daemon.Site, out daemon.Outside) error {
	listeners, err := daemon.Listen(c, site, out)
	if err != nil {
		return err
	}
	resolvers, broker, err := daemon.Secrets(c, out)
	if err != nil {
		return err
	}
	d := daemon.Ingotd{Version: Version, Config: c, Store: site.Store, Master: site.Master, Now: out.Now, Entropy: out.Entropy, Log: out.Log,
		Listeners: listeners, Credentials: daemon.Credentials, Host: daemon.OnHost, Backup: site.Backup(), Stats: site.Stats(), Certificate: site.CertificateEnd, System: daemon.Systemd(),
		Drivers: out.Drivers, DialBMC: out.DialBMC, Resolvers: resolvers, Broker: broker}
	if c.Metrics.Address != "" {
		var l net.Listener
		if l, err = out.Listen("tcp", c.Metrics.Address); err != nil {
			return err
		}
		d.Metrics = l
	}
	for _, l := range listeners {
		out.Log.Info("listening", "address", address(l, c), "tls", l.TLS != nil)
	}
	out.Log.Info("the site is served", "site", c.Site, "pin", site.Pin, "next", "give the pin to each command line and booter that connects")
	return d.Run(cmd.Context())
}

// address is where a listener is reached. A Unix socket is made under another name
// and then moved.
func address(l daemon.Listener, c daemon.Config) string {
	if l.Addr().Network() == "unix" {
		return c.Listen.Unix
	}
	return l.Addr().String()
}

func (t *tool) pinCommand() *cobra.Command {
	return &cobra.Command{Use: "pin", Short: "Show the pin by which clients know this control plane", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		c, err := t.load(cmd)
		if err != nil {
			return err
		}
		out := t.Outside
		out.Log = t.logger(c)
		p, err := daemon.Pin(c, out)
		if err != nil {
			return err
		}
		return t.say(map[string]string{"pin": p}, "%s", p)
	}}
}
