package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/api"
)

// explanations are codes and constants in words, with what to do.
var explanations = map[string][2]string{
	"INVALID_INPUT":   {"The call is malformed or names nonsense. Nothing was changed.", "Read the fields that the error lists; the table's bounds are in `--help`."},
	"UNAUTHENTICATED": {"Nobody has the key, token or session that was shown, or none was; or a server's own key is not trusted.", "Sign in with `ingot login OPERATOR`, or name a key file in the context."},
	"ACCESS_DENIED":   {"The caller is known and may not do this.", "See what you may do with `ingot whoami`; have somebody do it who may. Changes of operators are made on the control plane's own host."},
	"NOT_FOUND":       {"There is no such thing, or none that the caller may see: the two are not told apart.", "List what there is with the noun's `list`."},
	"INVALID_STATE":   {"The state does not accept the event. Nothing was changed.", "The error lists what is legal; `ingot lifecycle why AXIS STATE EVENT` says why, and `ingot lifecycle path` how to get there."},
	"CONFLICT":        {"Another holder, attempt or version stands in the way. Nothing was changed.", "Look again with the noun's `show`; then repeat with the new version, or wait for the holder that the error names."},
	"RATE_LIMITED":    {"There were too many tries.", "Wait as long as the error says; a try before that counts too."},
	"UNSUPPORTED":     {"This site or this machine cannot do it.", "The error names what is missing."},
	"INVALID_CONFIG":  {"A part that the call needs is not configured.", "Set it in the policy (`ingot policy show`) or in ingotd's configuration."},
	"UNAVAILABLE":     {"The server did not answer, cannot now, or something is exhausted.", "Try again; with the same --idempotency-key a change is made at most once."},

	"MAC_CLAIMED":     {"A MAC that the setup would cover is another machine's already.", "See whose with `ingot boot show MAC`; decommission that record, or leave the MAC out by seeing the machine again."},
	"NEEDS_BATCH":     {"The site has approver keys, and the verb erases what a machine may hold: it is a batch that others must approve.", "Propose it as a batch, and let the quorum approve."},
	"UNVERIFIED_WIPE": {"A wipe was reported without the proof that its mode asks for. The machine is not taken for erased.", "Look at the report; wipe again with a mode that the hardware can prove."},
	"ABORTED":         {"A person or a newer order ended the attempt.", "Begin anew when the reason is gone."},
	"DEADLINE":        {"The attempt did not report before its deadline.", "Look at the machine's console; then begin anew."},
	"FAILED":          {"The attempt reported that it failed.", "The node's failure has the error that it reported."},
}

// explainCommand explains a code without a server.
func (a *app) explainCommand() *cobra.Command {
	c := a.leaf("explain CODE", "Say what a code of an error means, and what to do", "ingot explain CONFLICT", func(c *cobra.Command, words []string) error {
		code := strings.ToUpper(strings.ReplaceAll(words[0], "-", "_"))
		e, ok := explanations[code]
		if !ok {
			return usage("there is no code %s", quote(words[0])).then("known: %s", strings.Join(explainable(), ", "))
		}
		return a.explain(c, code, e)
	})
	c.Args = exactly(1)
	c.ValidArgs = explainable()
	c.ValidArgsFunction = nil
	return c
}

// explainable are the codes of API-3, then the constants, each sorted.
func explainable() []string {
	codes := api.Codes()
	var rest []string
	for name := range explanations {
		if !slices.Contains(codes, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	return append(codes, rest...)
}

func (a *app) explain(c *cobra.Command, code string, e [2]string) error {
	ofAPI := slices.Contains(api.Codes(), code)
	by := answering(code)
	if a.structured() {
		m := map[string]any{"code": code, "means": e[0], "next": e[1], "operations": by}
		if ofAPI {
			m["status"], m["exit"] = api.Status(code), exitOfCode(code)
		}
		return a.value(c.Context(), "explain", must(m))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n%s\n", code, e[0], e[1])
	if ofAPI {
		fmt.Fprintf(&b, "HTTP status %d, exit code %d; %d operations may answer it\n", api.Status(code), exitOfCode(code), len(by))
	}
	return a.print(b.String())
}

// answering are the operations that may answer with a code.
func answering(code string) []string {
	out := []string{}
	for _, op := range api.All() {
		if slices.Contains(op.Info().Codes(), code) {
			out = append(out, op.Info().Name)
		}
	}
	return out
}
