package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
)

// after is what single verbs do with their answer before it is printed.
func (v *verb) after(ctx context.Context, c *connection, in reflect.Value, raw []byte) ([]byte, error) {
	switch v.def.Name {
	case api.RegistrationPlan.Name:
		return v.withRequest(in, raw)
	case api.SessionOpen.Name:
		return v.keepToken(c, raw)
	case api.SessionClose.Name:
		return raw, v.dropToken(c, in)
	case api.NodePower.Name:
		return v.awaited(ctx, c, in, raw)
	}
	return raw, nil
}

// withFields adds members to a JSON object, after those that it has.
func withFields(object []byte, names []string, values ...any) []byte {
	out := []byte(strings.TrimSuffix(strings.TrimSpace(string(object)), "}"))
	for i, name := range names {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, must(name)...), ':'), must(values[i])...)
	}
	return append(out, '}')
}

// keepToken puts a new session's token into the context, where there is one, and
// takes it out of the answer.
func (v *verb) keepToken(c *connection, raw []byte) ([]byte, error) {
	if c.where.name == "" || v.keep {
		return raw, nil
	}
	var out api.SessionOpened
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, &Refusal{"the answer has no session", "", "UNAVAILABLE"}
	}
	err := v.edit(func(all *contexts) error {
		t, err := all.get(c.where.name)
		if err == nil {
			t.Token, t.Ends = out.Token, out.Session.Ends
			all.Contexts[t.name] = t
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if c.where.KeyFile != "" {
		v.note("note: the context has a key file, which goes before the session: ingot context set %s --key-file ''", c.where.name)
	}
	return must(keptSession{out.Session, c.where.name}), nil
}

// keptSession is the answer to a sign-in whose token went into a context.
type keptSession struct {
	Session api.SessionView `json:"session"`
	Kept    string          `json:"kept_in"`
}

// signedIn tells people of a session that was kept.
func (v *verb) signedIn(raw []byte) (string, bool) {
	var k keptSession
	if v.def.Name != api.SessionOpen.Name || json.Unmarshal(raw, &k) != nil || k.Kept == "" {
		return "", false
	}
	return fmt.Sprintf("signed in as %s until %s; kept in the context %s\n", clean(k.Session.Operator), k.Session.Ends.UTC().Format(time.RFC3339), k.Kept), true
}

// dropToken forgets the context's token after its session was closed.
func (v *verb) dropToken(c *connection, in reflect.Value) error {
	closed := in.Interface().(*api.CloseSession)
	if c.where.name == "" || closed.Session != "" || closed.DryRun {
		return nil
	}
	return v.edit(func(all *contexts) error {
		t := all.Contexts[c.where.name]
		t.Token, t.Ends = "", time.Time{}
		all.Contexts[c.where.name] = t
		return nil
	})
}

// withRequest adds to a plan what was asked for and the command that approves it, so
// that the output alone is enough to approve by.
func (v *verb) withRequest(in reflect.Value, raw []byte) ([]byte, error) {
	var p api.SetupPlan
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, &Refusal{"the answer is no plan", "", "UNAVAILABLE"}
	}
	ask := in.Interface().(*api.PlanSetup)
	return withFields(raw, []string{"server_id", "request", "approve_command"}, ask.Server, ask.Body, v.approval(&p)), nil
}

// approval is the command that approves a plan, to be copied.
func (v *verb) approval(p *api.SetupPlan) string {
	if v.file == "-" {
		return ""
	}
	parts := append([]string{"ingot", "approve-setup"}, v.words...)
	parts = append(parts, v.givenFlags()...)
	parts = append(parts, "--shown-plan", p.Digest)
	if p.AgentKey != "" {
		parts = append(parts, "--agent-key", p.AgentKey)
	}
	for _, m := range p.MACs {
		parts = append(parts, "--mac", m)
	}
	parts = append(parts, v.whereFlags()...)
	for i := range parts {
		parts[i] = quote(parts[i])
	}
	return strings.Join(append(parts, "--yes"), " ")
}

// planPage prints a plan as the page that a person approves.
func (v *verb) planPage(p *api.SetupPlan) error {
	var b strings.Builder
	b.WriteString(strings.TrimRight(page(p.Text), "\n") + "\n\n")
	b.WriteString("hostname:  " + clean(p.Hostname) + "\n")
	b.WriteString("MACs:      " + clean(strings.Join(p.MACs, ", ")) + "\n")
	if len(p.LeftOut) > 0 {
		b.WriteString("left out:  " + clean(strings.Join(p.LeftOut, ", ")) + " (not seen with the session)\n")
	}
	b.WriteString("digest:    " + clean(p.Digest) + "\n")
	for _, w := range p.Warnings {
		b.WriteString("warning:   " + clean(w) + "\n")
	}
	if cmd := v.approval(p); cmd != "" {
		b.WriteString("\nNothing was written. To write exactly this:\n  " + clean(cmd) + "\n")
	}
	return v.print(b.String())
}

// fromPlan fills an approval from the plan that was shown. Flags may not say
// otherwise: what was shown is what is approved.
func (v *verb) fromPlan(in reflect.Value) error {
	if v.plan == "" {
		return nil
	}
	if i := slices.IndexFunc(v.params, func(p *param) bool { return p.field.In == api.InBody && p.given() }); i >= 0 || v.file != "" {
		return usage("--plan-file has all that is approved; nothing else of it is given beside")
	}
	raw, err := v.slurp(v.plan, maxFile)
	if err != nil {
		return err
	}
	var shown struct {
		Schema  string            `json:"schema"`
		Server  string            `json:"server_id"`
		Request *api.SetupRequest `json:"request"`
		Digest  string            `json:"digest"`
		Agent   string            `json:"agent_key"`
		MACs    []string          `json:"macs"`
	}
	if json.Unmarshal(raw, &shown) != nil || shown.Request == nil || shown.Schema != schema(api.RegistrationPlan.Name) {
		return usage("%s is not what `ingot plan -o json` prints", v.plan)
	}
	ask := in.Interface().(*api.ApproveSetup)
	if named := v.arguments()[0].texts[0]; !strings.EqualFold(named, shown.Server) {
		return usage("%s is a plan for %s, and the command names %s", v.plan, clean(shown.Server), named)
	}
	ask.Body.SetupRequest, ask.Body.ShownPlan, ask.Body.AgentKey, ask.Body.MACs = *shown.Request, shown.Digest, shown.Agent, shown.MACs
	return nil
}
