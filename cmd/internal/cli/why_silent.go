package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/internal/booting/account"
	"github.com/ingotmetal/ingot/statemachine/netboot"
)

// A silent ends the account of a machine that is not answered, as a conflict: its state
// does not accept it.
type silent struct{ mac, why, next string }

// Error says why, and what would change it.
func (e *silent) Error() string {
	return withNext(e.mac+" is not answered: "+e.why, strings.TrimSuffix(e.next, "."))
}

// Code is the error's wire name (API-3).
func (*silent) Code() string { return "INVALID_STATE" }

// whySilentCommand says why the booter on this host does not answer a machine.
func (a *app) whySilentCommand() *cobra.Command {
	c := a.booterLeaf("why-silent MAC", "Say why the booter here does not answer a machine, and what would change it", "ingot why-silent "+sampleMAC,
		func(ctx context.Context, b *hostSocket, words []string) error {
			mac, err := netboot.ParseMAC(words[0])
			if err != nil {
				return usage("%s is no MAC", quote(words[0])).then("write it as " + sampleMAC)
			}
			var said account.Account
			if err := b.ask(ctx, http.MethodGet, "/v1/why/"+url.PathEscape(mac.String()), nil, &said); err != nil {
				return err
			}
			if err := a.showAccount(ctx, said); err != nil || len(said.Silences) == 0 {
				return err
			}
			return &silent{clean(said.MAC), clean(said.Silences[0].Silence), clean(said.Silences[0].Change)}
		})
	c.Args = exactly(1)
	return c
}

func (a *app) showAccount(ctx context.Context, said account.Account) error {
	if a.structured() {
		return a.value(ctx, "why-silent", must(struct {
			Served bool `json:"served"`
			account.Account
		}{len(said.Silences) == 0, said}))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", clean(said.MAC), record(said))
	switch {
	case said.Heard:
		fmt.Fprintf(&b, "\nlast heard as %s\n", clean(cmp.Or(said.Client, "a client that does not boot")))
	default:
		b.WriteString("\nnot heard since the booter started; judged by its record alone\n")
	}
	if len(said.Silences) == 0 {
		b.WriteString("it would be answered\n")
	}
	b.WriteString(silences(said.Silences, ""))
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	choices(w, said.Choices)
	moments(w, said.Moments)
	_ = w.Flush()
	return a.print(trimmed(b.String()))
}

// record is a boot record in words.
func record(said account.Account) string {
	words := []string{clean(said.State)}
	if said.Mode != "" && said.Mode != string(netboot.Normal) {
		words = append(words, "mode "+clean(said.Mode))
	}
	if said.Address != "" {
		words = append(words, clean(said.Address))
	}
	return strings.Join(append(words, fmt.Sprintf("as of revision %d", said.Revision)), ", ")
}

// silences are reasons in words, each with its requirement.
func silences(all []account.Silence, indent string) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "%s%s", indent, clean(s.Silence))
		if s.Requirement != "" {
			fmt.Fprintf(&b, " (%s)", clean(s.Requirement))
		}
		fmt.Fprintf(&b, "\n%s  %s\n%s  %s\n", indent, clean(s.Means), indent, clean(s.Change))
	}
	return b.String()
}

func choices(w *tabwriter.Writer, all []account.Choice) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w, "\nIMAGE OF\tIMAGE\tFOUND")
	for _, c := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\n", clean(c.Origin), clean(cmp.Or(c.Image, "-")), clean(cmp.Or(c.Silence, "would be served")))
	}
}

func moments(w *tabwriter.Writer, all []account.Moment) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w, "\nTIME\tBY\tWHAT\tCAME OF IT\tIMAGE")
	for _, m := range all {
		came := cmp.Or(string(m.Silence), "answered")
		if m.Stage != "dhcp" && m.Detail != "" {
			came = m.Detail
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", m.Time.UTC().Format(time.RFC3339), clean(m.Stage), clean(m.What), clean(came), clean(cmp.Or(m.Image, "-")))
	}
}
