package command

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/ingotmetal/ingot/cmd/internal/agent"
)

// Where noded looks where nothing is named.
const (
	DefaultFile  = "/etc/ingot/noded.yaml"
	DefaultState = "/var/lib/ingot/noded"
)

// maxFile bounds the settings file, in bytes.
const maxFile = 64 << 10

// Settings are the file, in YAML. It holds no secret. Empty fields take what the
// kernel's command line says, or their defaults.
type Settings struct {
	Booter    string `json:"booter,omitzero"`
	BooterPin string `json:"booter_pin,omitzero"`
	Server    string `json:"server,omitzero"`
	Pin       string `json:"pin,omitzero"`
	State     string `json:"state,omitzero"`
	Keep      string `json:"keep,omitzero"` // disk or folder
}

// The places of a key.
const (
	onDisk   = "disk"
	inFolder = "folder"
)

// load puts the settings together: kernel, file, flags.
func (t *tool) load(cmd *cobra.Command) (agent.Config, Settings, []string, error) {
	var c agent.Config
	var unknown []string
	if t.cmdline {
		raw, err := fs.ReadFile(t.Proc, "cmdline")
		if err == nil {
			c, unknown, err = agent.ParseCmdline(string(raw[:min(len(raw), agent.MaxCmdline)]))
		}
		if err != nil {
			return c, Settings{}, nil, err
		}
	}
	s, err := readSettings(t.file, cmd.Flags().Changed("config"))
	if err != nil {
		return c, s, nil, err
	}
	s = s.under(t.settings)
	if err := s.apply(&c); err != nil {
		return c, s, nil, err
	}
	if s.State == "" {
		s.State = DefaultState
	}
	if s.Keep == "" && c.Booter != "" {
		s.Keep = onDisk
	}
	if s.Keep == "" {
		s.Keep = inFolder
	}
	if s.Keep != onDisk && s.Keep != inFolder {
		return c, s, nil, &agent.Invalid{What: "keep", Why: "is neither disk nor folder"}
	}
	return c, s, unknown, nil
}

// readSettings reads the file, strictly. The default one may be missing.
func readSettings(path string, named bool) (Settings, error) {
	var s Settings
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return s, nil
	}
	if err != nil {
		return s, &agent.Invalid{What: "the file of settings", Why: "cannot be read: " + err.Error()}
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return s, &agent.Invalid{What: path, Why: "cannot be read: " + err.Error()}
	case len(raw) > maxFile:
		return s, &agent.Invalid{What: path, Why: "has more than 64 KiB"}
	}
	if err := yaml.UnmarshalStrict(raw, &s); err != nil {
		return Settings{}, &agent.Invalid{What: path, Why: "is not what settings look like (booter, booter_pin, server, pin, state, keep): " + err.Error()}
	}
	return s, nil
}

// under is s with what over sets.
func (s Settings) under(over Settings) Settings {
	for _, p := range []struct{ to, from *string }{
		{&s.Booter, &over.Booter}, {&s.BooterPin, &over.BooterPin}, {&s.Server, &over.Server}, {&s.Pin, &over.Pin}, {&s.State, &over.State}, {&s.Keep, &over.Keep},
	} {
		if *p.from != "" {
			*p.to = *p.from
		}
	}
	return s
}

// apply puts what is set into the agent's own settings.
func (s Settings) apply(c *agent.Config) error {
	for name, value := range map[string]string{"booter": s.Booter, "booter_pin": s.BooterPin, "server": s.Server, "pin": s.Pin} {
		if value == "" {
			continue
		}
		if err := c.Set(name, value); err != nil {
			return err
		}
	}
	return c.Check()
}
