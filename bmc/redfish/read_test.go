package redfish_test

import (
	"crypto/rand"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
	"github.com/ingotmetal/ingot/bmc/redfish"
)

func TestInventoryOfADell(t *testing.T) {
	in, err := newRig(t, dell, bmcsim.Options{}).open().Inventory(t.Context())
	must(t, err)
	if in.Vendor != "Dell Inc." || in.Model != "PowerEdge R750" || in.CPUs != 2 || in.Memory <= 0 || len(in.Drives) == 0 {
		t.Errorf("%+v", in)
	}
	for _, d := range in.Drives {
		if d.Bytes <= 0 || d.Serial == "" || d.Model == "" {
			t.Errorf("%+v", d)
		}
	}
}

// TestHostToBMC: the card that leads to the BMC is none of the machine's.
func TestHostToBMC(t *testing.T) {
	for tree, mac := range map[string]string{xcc: "0a:8f:c3:a5:8a:71", supermicro: "be:3a:f2:b6:05:9f", "dmtf-public-rackmount1": "aa:bb:cc:dd:ee:fe"} {
		in, err := newRig(t, tree, bmcsim.Options{}).open().Inventory(t.Context())
		must(t, err)
		i := slices.IndexFunc(in.NICs, func(n bmc.NIC) bool { return n.MAC.String() == mac })
		if i < 0 || in.NICs[i].Fault != bmc.ToController {
			t.Errorf("%s: %+v", tree, in.NICs)
		}
	}
	in, err := newRig(t, dell, bmcsim.Options{}).open().Inventory(t.Context())
	if err != nil || len(in.MACs()) != 7 { // though its HostInterface names all of them
		t.Errorf("%v, %v", in.MACs(), err)
	}
}

// TestDuplicates: Lan2 and Lan3 have one address; a port that two resources
// describe is one.
func TestDuplicates(t *testing.T) {
	in, err := newRig(t, gigabyte, bmcsim.Options{}).open().Inventory(t.Context())
	must(t, err)
	var faults []string
	for _, n := range in.NICs {
		faults = append(faults, string(n.Fault))
	}
	if strings.Join(faults, ",") != ",,duplicate" {
		t.Errorf("%q", faults)
	}
	in, err = newRig(t, dellDPU, bmcsim.Options{}).open().Inventory(t.Context())
	if err != nil || len(in.NICs) != 4 || len(in.MACs()) != 4 {
		t.Errorf("%+v, %v", in.NICs, err)
	}
}

// TestInfiniBand: an address of 20 octets is named, and only its card is dropped.
func TestInfiniBand(t *testing.T) {
	long := "80:00:02:08:FE:80:00:00:00:00:00:00:B8:3F:D2:03:00:90:97:C4"
	set := map[string]any{"Ethernet": map[string]any{"MACAddress": long, "PermanentMACAddress": long}}
	o := rule("GET", "*/NetworkDeviceFunctions/InfiniBand*", bmcsim.Effect{Set: set})
	o.Rules = append(o.Rules, bmcsim.Rule{Method: "GET", Path: "*/NetworkPorts/InfiniBand*", Effect: bmcsim.Effect{Status: 404}})
	in, err := newRig(t, dell, o).open().Inventory(t.Context())
	must(t, err)
	odd := slices.IndexFunc(in.NICs, func(n bmc.NIC) bool { return n.Fault == bmc.Malformed && n.Raw == long })
	if odd < 0 || len(in.MACs()) != 5 {
		t.Errorf("%+v", in.NICs)
	}
}

func TestMissingIsNamed(t *testing.T) {
	for status, want := range map[int]string{404: "not-found", 403: "forbidden", 500: "protocol"} {
		in, err := newRig(t, dell, rule("GET", "*/Storage", bmcsim.Effect{Status: status})).open().Inventory(t.Context())
		must(t, err)
		if !slices.Contains(in.Missing, r750+"/Storage: "+want) || len(in.Drives) != 0 {
			t.Errorf("%d: %v", status, in.Missing)
		}
	}
	_, err := newRig(t, dell, rule("GET", "*/Storage", bmcsim.Effect{Status: 503})).open().Inventory(t.Context())
	wantKind(t, err, bmc.Busy) // what will be there later is not missing
}

func TestHealth(t *testing.T) {
	sick := map[string]any{"Status": map[string]any{"Health": "Critical", "HealthRollup": "Critical", "State": "Enabled"}}
	h, err := newRig(t, dell, rule("GET", "*/Systems/System.Embedded.1", bmcsim.Effect{Set: sick})).open().Health(t.Context())
	if err != nil || h.Overall != "Critical" || len(h.Parts) == 0 || h.Parts[0].Source != r750 || h.At.IsZero() {
		t.Errorf("%+v, %v", h, err)
	}
	fan := map[string]any{"Fans": []any{map[string]any{"MemberId": "Fan1", "Status": map[string]any{"Health": "Warning", "State": "Enabled"}}}}
	h, err = newRig(t, dell, rule("GET", "*/Thermal", bmcsim.Effect{Set: fan})).open().Health(t.Context())
	if err != nil || !strings.Contains(fmt.Sprint(h.Parts), "{Fan1 Warning Enabled") {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestFirmware(t *testing.T) {
	list, err := newRig(t, dell, bmcsim.Options{}).open().Firmware(t.Context())
	if err != nil || len(list) < 5 {
		t.Fatalf("%+v, %v", list, err)
	}
	if !slices.ContainsFunc(list, func(c bmc.Component) bool { return c.Version == "6.00.30.00" && c.Updateable }) {
		t.Errorf("no iDRAC in %+v", list)
	}
	for name, tree := range oracle(t) {
		if _, err := newRig(t, name, bmcsim.Options{}).system(tree.Systems[0].URI).Firmware(t.Context()); err != nil && !isUnsupported(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func isUnsupported(err error) bool {
	e, ok := err.(*bmc.Error)
	return ok && (e.Kind == bmc.Unsupports || e.Kind == bmc.NotFound)
}

// TestProbeReadsOnly: nothing but GET, and the one session.
func TestProbeReadsOnly(t *testing.T) {
	for name, tree := range oracle(t) {
		r := newRig(t, name, bmcsim.Options{})
		_, err := r.system(tree.Systems[0].URI).Probe(t.Context())
		must(t, err)
		for _, q := range r.Log() {
			if q.Method != "GET" && !strings.HasSuffix(q.Path, "/Sessions") {
				t.Errorf("%s: %s %s", name, q.Method, q.Path)
			}
		}
		if n := r.Stats().Logins; n != 1 {
			t.Errorf("%s: %d logins", name, n)
		}
	}
}

// TestLegacyTLS (mrlhansen/idrac_exporter#204): RSA key exchange is spoken only
// where the options say so. The pin comes back from the probe.
func TestLegacyTLS(t *testing.T) {
	q, err := bmcsim.FindQuirk("rsa-key-exchange")
	must(t, err)
	r := newRig(t, dell, bmcsim.Options{}) // for its tree and credentials
	fleet := bmcsim.NewFleet(rand.Reader, nil)
	if _, err := fleet.Add(q.On(bmcsim.Spec{Name: "bmc.test", Tree: r.Tree()})); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- fleet.ServeOne(ln, "bmc.test") }()
	defer func() { must(t, fleet.Close()); <-ended }()
	end := bmc.Endpoint{URL: "https://" + ln.Addr().String(), Trust: bmc.Trust{FirstUse: true}}
	_, err = redfish.Driver{}.Open(t.Context(), end, bmc.Access{Credentials: r.vault})
	wantKind(t, err, bmc.Unreachable)
	end.Options = []byte(`{"legacyTLS":true}`)
	s, err := redfish.Driver{}.Open(t.Context(), end, bmc.Access{Credentials: r.vault})
	must(t, err)
	p, err := s.Probe(t.Context())
	if err != nil || !strings.HasPrefix(p.Peer, bmc.PinPrefix) {
		t.Errorf("%q, %v", p.Peer, err)
	}
	must(t, s.Close(t.Context()))
}
