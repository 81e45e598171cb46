package bmc

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/schemas"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
	"github.com/ingotmetal/ingot/bmc/redfish"
	"github.com/ingotmetal/ingot/bmc/wire"
)

// Two machines: one of which a read of power is the system alone, and one whose
// chassis has a say too, so that it is two requests.
var polled = []struct{ name, tree, system, chassis string }{
	{"system", "intel-s2600bpb-1.93", "/redfish/v1/Systems/QSBP74100021", ""},
	{"system+chassis", "dell-r750-idrac9-6.00", "/redfish/v1/Systems/System.Embedded.1", "/redfish/v1/Chassis/System.Embedded.1"},
}

// dialer reaches the one socket, whatever host is asked for.
func (r *rack) dialer() func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", r.Address)
	}
}

type known struct{}

func (known) Credentials(context.Context) (bmc.Credentials, error) {
	return bmc.Credentials{Username: bmcsim.DefaultUser, Password: bmc.Keep(bmcsim.DefaultPassword), Version: "1"}, nil
}

// perCore reports how many of n polls one core does in a second: what this
// process took, the BMCs' own work left out.
func perCore(b *testing.B, before float64) {
	cpu := used()
	b.ReportMetric(float64(b.N)/(cpu-before), "polls/core-s")
}

func BenchmarkPoll(b *testing.B) {
	for _, p := range polled {
		b.Run("machine="+p.name+"/driver=ingot", func(b *testing.B) {
			r := start(b, 1, p.tree)
			d := redfish.Driver{Wire: wire.Options{Dial: r.dialer()}}
			s, err := d.Open(b.Context(), bmc.Endpoint{URL: "https://" + host(0), Trust: bmc.Trust{Pin: r.Pin}}, bmc.Access{Credentials: known{}})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close(context.WithoutCancel(b.Context()))
			power, _ := bmc.As[bmc.Power](s)
			if o, err := power.ReadPower(b.Context()); err != nil || (o.Chassis != "") != (p.chassis != "") {
				b.Fatal(o, err)
			}
			before := used()
			for b.Loop() {
				if o, err := power.ReadPower(b.Context()); err != nil || o.State != bmc.On {
					b.Fatal(o, err)
				}
			}
			perCore(b, before)
		})
		b.Run("machine="+p.name+"/driver=gofish", func(b *testing.B) {
			r := start(b, 1, p.tree)
			h := &http.Client{Transport: &http.Transport{DialContext: r.dialer(), TLSClientConfig: insecure(host(0))}}
			c, err := gofish.ConnectContext(b.Context(), gofish.ClientConfig{
				Endpoint: "https://" + host(0), Username: bmcsim.DefaultUser, Password: bmcsim.DefaultPassword, HTTPClient: h, ReuseConnections: true, NoModifyTransport: true,
			})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Logout()
			before := used()
			for b.Loop() {
				s, err := schemas.GetComputerSystem(c, p.system)
				if err != nil || s.PowerState != schemas.OnPowerState {
					b.Fatal(s, err)
				}
				if p.chassis == "" {
					continue
				}
				if _, err := schemas.GetChassis(c, p.chassis); err != nil {
					b.Fatal(err)
				}
			}
			perCore(b, before)
		})
	}
}
