package agent_test

import (
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/disklayout/apply"
)

func (m *machine) UUID() (string, error) { return uuid + "\n", nil }

func (m *machine) NICs() ([]agent.NIC, error) { return []agent.NIC{{Name: "eth0", MAC: mac}}, nil }

func (m *machine) Disks() ([]apply.Source, error) {
	return []apply.Source{handle{m.disk, m.life}}, nil
}

func (m *machine) Facts() map[string]any { return m.facts }

func (m *machine) SetClock(time.Time) error {
	m.set("clock")
	return m.clock
}

func (m *machine) Restart() error {
	m.set("restart")
	if m.restart != nil {
		return m.restart()
	}
	return nil
}
