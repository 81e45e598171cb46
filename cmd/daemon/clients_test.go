package daemon_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/identity/bundle"
)

// clientHosts are where the clients run.
var clientHosts = []string{"booter", "operator", "agent", "auditor"}

// machines is how many machines live at a site.
const machines = 4

// A machine is one as its booter and agent play it.
type machine struct {
	uuid, mac string
	agent     bundle.PrivateKey
	stage     string // ramdisk, installing or installed
	epoch     uint64
	until     time.Time
	fails     bool
	key       api.Secret
	old       []api.Secret // of attempts that are over
}

// An ack is what a client was told of a change.
type ack struct {
	rev   uint64
	facts []string
}

// clients are all that talk to the control plane.
type clients struct {
	*world
	mu       sync.Mutex
	machines []*machine
	acks     []ack
	drains   map[uint64]int // by epoch: bundles that were handed out
	minted   int            // keys that the operator asked for, each once
	cursor   string
	seen     []string // cursors of the events that were followed

	policy api.Policy
	wish   func(server string) api.SetupRequest // what the operator wants on a machine
	plans  map[string]string                    // by machine: the digest that was approved last

	operator, booter, enroll api.Secret
	ready                    chan struct{} // the operator has made the others' keys
}

func (w *world) clients() *clients {
	c := &clients{world: w, drains: map[uint64]int{}, plans: map[string]string{}, ready: make(chan struct{}),
		policy: api.Policy{AutoEnroll: true, AnswerOnlyPXE: true, Network: "10.0.0.0/24", EnrollmentImage: "enrol"}}
	c.wish = func(string) api.SetupRequest {
		return api.SetupRequest{Layout: disklayout.Request{Layout: disklayout.GPT, Disks: []disklayout.Selector{{Serial: "S1"}}}, Hostname: "n1"}
	}
	for i := range machines {
		var key [bundle.KeySize]byte
		key[0], key[1] = byte(i+1), 9
		agent, err := bundle.NewPrivateKey(key)
		if err != nil {
			w.t.Fatal(err)
		}
		c.machines = append(c.machines, &machine{uuid: fmt.Sprintf("6b1f2c3d-0001-4000-8000-%012d", i), mac: fmt.Sprintf("02:00:00:00:00:%02x", i+1), agent: agent, stage: "ramdisk"})
	}
	return c
}

func (c *clients) all() []func(context.Context) {
	return []func(context.Context){c.operate, c.boot, c.refresh, c.follow}
}

// client is one of a host's, for a credential.
func (c *clients) client(host, port string, credential api.Secret) *api.Client {
	dial := c.net.Host(host).Dialer(port + host)
	hc := &http.Client{Timeout: 4 * time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dial(ctx, network, "ingotd:"+port)
		}}}
	cl := &api.Client{Base: "http://ingotd", HTTP: hc}
	if credential != "" {
		cl.Credential = api.Bearer(credential.Show)
	}
	return cl
}

// every calls fn in rounds until ctx ends, from an offset on that only this loop has.
func (c *clients) every(ctx context.Context, name string, d time.Duration, fn func(n int)) {
	wait := c.net.Offset(name)
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		fn(n)
		wait = d
	}
}

// settled tries until the outcome is known: success, or a refusal that says that
// nothing happened.
func (c *clients) settled(ctx context.Context, try func() (api.Outcome, error)) error {
	for ctx.Err() == nil {
		out, err := try()
		p, known := errors.AsType[*api.Problem](err)
		switch {
		case err == nil:
			c.mu.Lock()
			c.acks = append(c.acks, ack{out.Revision, out.Facts})
			c.mu.Unlock()
			return nil
		case known && p.Code() != "UNAVAILABLE" && p.Code() != "RATE_LIMITED":
			return err
		}
		time.Sleep(1700 * time.Millisecond)
	}
	return ctx.Err()
}

// operate is an operator: made on the host, signed in, minting keys, approving what
// waits, and now and then sending a machine back.
func (c *clients) operate(ctx context.Context) {
	time.Sleep(c.net.Offset("operate"))
	if !c.begin(ctx) {
		return
	}
	close(c.ready)
	c.every(ctx, "operator", 11*time.Second, func(n int) {
		c.approveAll(ctx, n)
		if n%4 == 1 && time.Now().Before(c.calm) {
			c.mint(ctx, fmt.Sprint("spare-", n))
		}
		if n%9 == 8 && time.Now().Before(c.calm) {
			c.sendBack(ctx, n)
		}
	})
}

func (c *clients) begin(ctx context.Context) bool {
	host := c.client("operator", "81", "")
	add := api.AddOperator{}
	add.IdempotencyKey, add.Body.Name, add.Body.Password = "add", "ada", "correct horse battery"
	err := c.settled(ctx, func() (api.Outcome, error) {
		out, err := api.OperatorAdd.Call(ctx, host, &add)
		return out.Outcome, err
	})
	if err != nil {
		c.t.Logf("the operator is not made: %v", err)
		return false
	}
	for ctx.Err() == nil && c.operator == "" {
		in := api.OpenSession{}
		in.Body.Operator, in.Body.Password = "ada", "correct horse battery"
		out, err := api.SessionOpen.Call(ctx, c.client("operator", "80", ""), &in)
		if err == nil {
			c.operator = out.Token
		}
		time.Sleep(1300 * time.Millisecond)
	}
	policy := api.SetPolicy{Body: c.policy}
	policy.IdempotencyKey = "policy"
	_ = c.settled(ctx, func() (api.Outcome, error) {
		out, err := api.PolicySet.Call(ctx, c.ada(), &policy)
		return out.Outcome, err
	})
	c.booter, c.enroll = c.key(ctx, "booter"), c.key(ctx, "ur_enroll")
	return ctx.Err() == nil
}

func (c *clients) ada() *api.Client { return c.client("operator", "80", c.operator) }

// key mints a key, again and again until its secret has arrived: a lost answer is not
// given again, and the key that nobody has stays unused.
func (c *clients) key(ctx context.Context, scope string) api.Secret {
	for n := 0; ctx.Err() == nil; n++ {
		if secret := c.mintScope(ctx, fmt.Sprint(scope, n), scope); secret != "" {
			return secret
		}
	}
	return ""
}

func (c *clients) mint(ctx context.Context, name string) { c.mintScope(ctx, name, "read_only") }

func (c *clients) mintScope(ctx context.Context, name, scope string) (secret api.Secret) {
	in := api.MintKey{}
	in.IdempotencyKey, in.Body.Scope = name, scope
	err := c.settled(ctx, func() (api.Outcome, error) {
		out, err := api.KeyMint.Call(ctx, c.ada(), &in)
		secret = out.Secret
		return out.Outcome, err
	})
	if err == nil {
		c.mu.Lock()
		c.minted++
		c.mu.Unlock()
	}
	return secret
}

// approveAll approves every machine that waits at the gate.
func (c *clients) approveAll(ctx context.Context, n int) {
	list, err := api.RegistrationListing.Call(ctx, c.ada(), &api.RegistrationList{State: "awaiting_setup"})
	if err != nil {
		return
	}
	for i, row := range list.Registrations {
		ref := api.RegistrationRef{Server: row.Server}
		p, err := api.RegistrationPlan.Call(ctx, c.ada(), &api.PlanSetup{RegistrationRef: ref, Body: c.wish(row.Server)})
		if err != nil {
			continue
		}
		in := api.ApproveSetup{RegistrationChange: api.RegistrationChange{RegistrationRef: ref}}
		in.IdempotencyKey = fmt.Sprint("approve-", n, "-", i)
		in.Body.SetupRequest, in.Body.ShownPlan, in.Body.AgentKey, in.Body.MACs = c.wish(row.Server), p.Digest, p.AgentKey, p.MACs
		c.plans[row.Server] = p.Digest // the answer may be lost
		_ = c.settled(ctx, func() (api.Outcome, error) {
			out, err := api.RegistrationApproveSetup.Call(ctx, c.ada(), &in)
			return out.Outcome, err
		})
	}
}

// sendBack disables an approved machine and resets it.
func (c *clients) sendBack(ctx context.Context, n int) {
	m := c.machines[c.chance("back", n)%machines]
	in := api.RegistrationChange{RegistrationRef: api.RegistrationRef{Server: m.uuid}}
	in.IdempotencyKey = fmt.Sprint("disable-", n)
	err := c.settled(ctx, func() (api.Outcome, error) {
		out, err := api.RegistrationDisable.Call(ctx, c.ada(), &in)
		return out.Outcome, err
	})
	if err != nil {
		return
	}
	in.IdempotencyKey = fmt.Sprint("reset-", n)
	_ = c.settled(ctx, func() (api.Outcome, error) {
		out, err := api.RegistrationFactoryReset.Call(ctx, c.ada(), &in)
		return out.Outcome, err
	})
}

// boot is a booter: it reports what it saw, relays machines in the ramdisk, hands out
// bundles and reports how setups ended.
func (c *clients) boot(ctx context.Context) {
	select {
	case <-c.ready:
	case <-ctx.Done():
		return
	}
	c.every(ctx, "booter", 7*time.Second, func(n int) {
		b, e := c.client("booter", "80", c.booter), c.client("booter", "80", c.enroll)
		c.sight(ctx, b)
		for i, m := range c.machines {
			switch m.stage {
			case "ramdisk":
				c.announce(ctx, e, m)
			case "installing":
				c.report(ctx, e, m, n*machines+i)
			}
		}
		c.hand(ctx, e, n)
	})
}

func (c *clients) sight(ctx context.Context, b *api.Client) {
	in := api.ReportSightings{}
	in.Body.Booter = "b1"
	for _, m := range c.machines {
		in.Body.Sightings = append(in.Body.Sightings, api.SeenBoot{MAC: m.mac, FirstSeen: time.Now(), LastSeen: time.Now(), Count: 1})
	}
	_, _ = api.BooterSightings.Call(ctx, b, &in)
	staged := api.ReportBoots{}
	staged.Body.Booter, staged.Body.Staged, staged.Body.Boots = "b1", []string{"enrol"}, []api.ServedOnce{}
	_, _ = api.BooterBoots.Call(ctx, b, &staged)
}

func (m *machine) sysinfo() json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"uuid":%q,"nics":[{"mac":%q}],"disks":[{"name":"sda","serial":"S1","size":107374182400,"logical_sector":512,"physical_sector":512,"removable":false,"transport":"nvme","read_only":false,"signatures":[]}]}`, m.uuid, m.mac))
}

func (c *clients) announce(ctx context.Context, e *api.Client, m *machine) {
	in := api.Announce{}
	in.Body.Routing, in.Body.Server, in.Body.Sysinfo, in.Body.SeenMACs, in.Body.AgentKey = m.uuid, m.uuid, m.sysinfo(), []string{m.mac}, m.agent.Public().String()
	_, _ = api.SetupAnnounce.Call(ctx, e, &in)
}

// hand drains the bundles of approved machines that are in the ramdisk.
func (c *clients) hand(ctx context.Context, e *api.Client, n int) {
	waiting, err := api.SetupApprovalsPoll.Call(ctx, e, &api.SetupApprovals{})
	if err != nil {
		return
	}
	for _, a := range waiting.Approvals {
		for i, m := range c.machines {
			if m.uuid == a.Server && m.stage == "ramdisk" {
				c.drain(ctx, e, m, a, n*machines+i)
			}
		}
	}
}

func (c *clients) drain(ctx context.Context, e *api.Client, m *machine, a api.Approval, n int) {
	in := api.DrainBundle{RegistrationRef: api.RegistrationRef{Server: m.uuid}}
	in.Body.Epoch, in.Body.AgentKey, in.Body.Held = a.Epoch, a.AgentKey, true
	out, err := api.SetupDrain.Call(ctx, e, &in)
	if err != nil {
		return
	}
	keys, err := m.agent.Open(m.uuid, out.Epoch, out.Bundle.Show())
	if err != nil {
		c.t.Errorf("a bundle does not open: %v", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drains[out.Epoch]++
	if m.key != "" {
		m.old = append(m.old, m.key)
	}
	m.stage, m.epoch, m.key, m.fails = "installing", out.Epoch, api.Secret(keys.Key.Show()), c.chance("fails", n)%4 == 0
	m.until = time.Now().Add(time.Minute + time.Duration(c.chance("install", n)%uint64(8*time.Minute)))
}

// report tells how an install ended, until it is heard.
func (c *clients) report(ctx context.Context, e *api.Client, m *machine, _ int) {
	if time.Now().Before(m.until) {
		return
	}
	ref := api.RegistrationRef{Server: m.uuid}
	var err error
	if m.fails {
		in := api.SetupFailure{RegistrationRef: ref}
		in.Body.Epoch, in.Body.Why = m.epoch, "no sentinel"
		_, err = api.SetupFailed.Call(ctx, e, &in)
	} else {
		in := api.SetupOutcome{RegistrationRef: ref}
		in.Body.Epoch = m.epoch
		_, err = api.SetupComplete.Call(ctx, e, &in)
	}
	p, refused := errors.AsType[*api.Problem](err)
	switch {
	case err == nil && !m.fails:
		m.stage = "installed"
	case err == nil, refused && p.Code() != "UNAVAILABLE":
		m.stage = "ramdisk"
	}
}

// refresh is the machines' agents: each shows its key, and boots into the ramdisk
// again where that is dead.
func (c *clients) refresh(ctx context.Context) {
	c.every(ctx, "agent", 31*time.Second, func(int) {
		for _, m := range c.machines {
			if m.stage != "installed" {
				continue
			}
			in := api.Refresh{RegistrationRef: api.RegistrationRef{Server: m.uuid}}
			in.Body.Sysinfo = m.sysinfo()
			_, err := api.RegistrationRefresh.Call(ctx, c.client("agent", "80", m.key), &in)
			if p, ok := errors.AsType[*api.Problem](err); ok && p.Code() == "UNAUTHENTICATED" {
				m.stage = "ramdisk"
			}
		}
	})
}

// follow reads the events as they happen, and goes on where it was cut off.
func (c *clients) follow(ctx context.Context) {
	select {
	case <-c.ready:
	case <-ctx.Done():
		return
	}
	c.every(ctx, "auditor", 3*time.Second, func(int) {
		cl := c.client("auditor", "80", c.operator)
		cl.HTTP.Timeout = 0
		ctx, done := context.WithTimeout(ctx, 5*time.Minute)
		defer done()
		body, err := api.EventFollow.Open(ctx, cl, &api.EventStream{LastEventID: c.cursor})
		if err != nil {
			return
		}
		defer body.Close()
		c.read(body)
	})
}

func (c *clients) read(body io.Reader) {
	in := bufio.NewScanner(body)
	in.Buffer(nil, 1<<20)
	id := ""
	for in.Scan() {
		line := in.Text()
		if at, ok := strings.CutPrefix(line, "id: "); ok {
			id = at
		}
		if line == "" && id != "" { // the event is whole
			c.cursor, c.seen, id = id, append(c.seen, id), ""
		}
	}
}
