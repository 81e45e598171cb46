// Command coredhcpd is coredhcp with static reservations, for the benchmark of DHCP
// exchanges in cmd/booterd:
//
//	coredhcpd INTERFACE SERVER-ID NETMASK RESERVATIONS
//
// A line of the file of reservations is a MAC and an address. It has the plugins that
// such a server needs and no other, and logs errors alone, since a line for each packet
// would be what is measured.
package main

import (
	"fmt"
	"net"
	"os"

	"github.com/coredhcp/coredhcp/config"
	"github.com/coredhcp/coredhcp/logger"
	"github.com/coredhcp/coredhcp/plugins"
	"github.com/coredhcp/coredhcp/plugins/file"
	"github.com/coredhcp/coredhcp/plugins/leasetime"
	"github.com/coredhcp/coredhcp/plugins/netmask"
	"github.com/coredhcp/coredhcp/plugins/serverid"
	"github.com/coredhcp/coredhcp/server"
	"github.com/sirupsen/logrus"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: coredhcpd INTERFACE SERVER-ID NETMASK RESERVATIONS")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "coredhcpd:", err)
		os.Exit(1)
	}
}

// run serves until the process is killed.
func run(link, id, mask, reservations string) error {
	logger.GetLogger("main").Logger.SetLevel(logrus.ErrorLevel)
	for _, p := range []*plugins.Plugin{&serverid.Plugin, &leasetime.Plugin, &netmask.Plugin, &file.Plugin} {
		if err := plugins.RegisterPlugin(p); err != nil {
			return err
		}
	}
	c := config.New()
	c.Server4 = &config.ServerConfig{
		Addresses: []net.UDPAddr{{IP: net.IPv4zero, Port: 67, Zone: link}},
		Plugins: []config.PluginConfig{ // in the order in which they answer; file is the last
			{Name: "server_id", Args: []string{id}}, {Name: "lease_time", Args: []string{"1h"}},
			{Name: "netmask", Args: []string{mask}}, {Name: "file", Args: []string{reservations}},
		},
	}
	s, err := server.Start(c)
	if err != nil {
		return err
	}
	return s.Wait()
}
