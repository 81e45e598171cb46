package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/api"
)

// helps sets how help looks, and adds the topics.
func (a *app) helps(root *cobra.Command) {
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { _ = a.print(helpOf(c)) })
	root.SetUsageFunc(func(c *cobra.Command) error { return a.print(helpOf(c)) })
	for _, t := range topics() {
		root.AddCommand(&cobra.Command{Use: t.name, Short: t.short, Long: t.text(root)})
	}
	root.SetHelpCommand(&cobra.Command{
		Use: "help [COMMAND|TOPIC]", Short: "Help about a command or a topic", GroupID: groupLocal,
		RunE: func(c *cobra.Command, words []string) error {
			found, rest, err := root.Find(words)
			if err != nil || len(rest) > 0 {
				return usage("there is no help about %s", quote(strings.Join(words, " "))).then("see `ingot help`")
			}
			return a.print(helpOf(found))
		},
	})
}

// helpOf is the page of a command: what it does, how it is typed, an example, its
// flags. It fits on a screen.
func helpOf(c *cobra.Command) string {
	var b strings.Builder
	if c.Long != "" {
		return c.Long
	}
	fmt.Fprintf(&b, "%s\n", c.Short)
	if c.HasParent() && c.Runnable() && !c.HasSubCommands() {
		fmt.Fprintf(&b, "\n  %s\n", strings.TrimSuffix(c.UseLine(), " [flags]"))
	}
	if len(c.Aliases) > 0 {
		fmt.Fprintf(&b, "  also: %s\n", strings.Join(c.Aliases, ", "))
	}
	if c.Example != "" {
		fmt.Fprintf(&b, "\nExample:\n  %s\n", c.Example)
	}
	if c.HasSubCommands() {
		b.WriteString(subCommands(c))
	}
	if flags := c.LocalNonPersistentFlags().FlagUsages(); flags != "" && !c.HasSubCommands() {
		fmt.Fprintf(&b, "\nFlags:\n%s", flags)
	}
	if c.Name() == api.RegistrationApproveSetup.Verb() {
		b.WriteString("and the flags of a layout, as ingot plan has them\n")
	}
	b.WriteString("\nFlags of every command: ingot help flags. Exit codes: ingot help exit-codes.\n")
	return b.String()
}

// subCommands lists what a command has below it, by group.
func subCommands(c *cobra.Command) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for _, g := range c.Groups() {
		fmt.Fprintf(w, "\n%s\n", g.Title)
		subs(w, c, g.ID)
	}
	if len(c.Groups()) == 0 {
		fmt.Fprintln(w)
		subs(w, c, "")
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAdditionalHelpTopicCommand() {
			names = append(names, sub.Name())
		}
	}
	_ = w.Flush()
	if len(names) > 0 {
		fmt.Fprintf(&b, "\nTopics of ingot help: %s\n", strings.Join(names, ", "))
	}
	return trimmed(b.String())
}

func subs(w *tabwriter.Writer, c *cobra.Command, group string) {
	for _, sub := range c.Commands() {
		if sub.GroupID == group && !sub.Hidden && sub.Runnable() {
			fmt.Fprintf(w, "  %s\t%s\n", sub.Name(), sub.Short)
		}
	}
}

// A topic is a page of help that is no command.
type topic struct {
	name, short string
	text        func(root *cobra.Command) string
}

func topics() []topic {
	return []topic{
		{"exit-codes", "With which code a command ends", func(*cobra.Command) string { return exitCodesPage() }},
		{"flags", "The flags of every command", flagsPage},
		{"contexts", "Servers by name, trust, and who you are", func(*cobra.Command) string { return contextsPage }},
		{"input", "How values, bodies and secrets are given", func(*cobra.Command) string { return inputPage }},
		{"output", "Forms of output, for people and programs", func(*cobra.Command) string { return outputPage }},
		{"machine-verbs", "What machines and booters call", machinesPage},
	}
}

func exitCodesPage() string {
	var b strings.Builder
	b.WriteString("A command ends with one of these codes. They are never renumbered.\n\n")
	for code, means := range Exits() {
		fmt.Fprintf(&b, "  %2d  %s\n", code, means)
	}
	b.WriteString("\nCodes of errors (ingot explain CODE):\n\n")
	for _, code := range api.Codes() {
		fmt.Fprintf(&b, "  %2d  %s\n", exitOfCode(code), code)
	}
	return b.String()
}

func flagsPage(root *cobra.Command) string {
	return "Flags of every command:\n\n" + root.PersistentFlags().FlagUsages() + `
Environment: INGOT_CONTEXT, INGOT_SERVER, INGOT_PIN and INGOT_KEY_FILE stand for
the flags, which go before them. NO_COLOR, CLICOLOR_FORCE and TERM=dumb decide on
colours, which never carry a meaning.

Flags of changes: --dry-run decides and changes nothing, --reason TEXT goes into the
log, --if-version N refuses when the record has another version, --idempotency-key
makes a repeat safe (one is drawn for each command), --yes lets a verb destroy.
`
}

func machinesPage(*cobra.Command) string {
	var b strings.Builder
	b.WriteString("Machines and booters call these; they are here for tests and repairs.\n\n")
	for _, op := range api.All() {
		if d := op.Info(); machine(d) {
			fmt.Fprintf(&b, "  ingot %-28s %s\n", d.Axis()+" "+d.Verb(), d.Summary)
		}
	}
	return b.String()
}

const contextsPage = `A context is a server under a name, how to trust it, and who you are there.

  ingot context set lab --server https://ingot.example:8443 --pin sha256/...
  ingot login ada                     keeps the session in the context
  ingot context set ci --server unix:/run/ingot/ingotd.sock --key-file /etc/ingot/key

Trust: with a pin, the server must have that key. Without one, its certificate must
be vouched for by this system's authorities. At a first contact with a self-signed
server the command is refused and prints the key that was presented: compare it with
what ingotd printed when it started, and only then set it with --pin.

A readonly context refuses every change. A protected one refuses changes whose
command does not name it with --context. The current context is used where neither
--context nor --server nor INGOT_CONTEXT nor INGOT_SERVER is given. A server that is
named by --server gets no context's credential.

Contexts are in $XDG_CONFIG_HOME/ingot/contexts.yaml, which only you may read.
`

const inputPage = `What a verb is about is an argument; all else is a flag.

  times      2026-05-01T12:00:00Z, or +2h from now
  durations  90s, 1h30m
  sizes      1073741824, 1GiB, 512MiB, 1GB
  lists      words with commas between, or the flag again
  maps       KEY=VALUE with commas between, or the flag again
  objects    --disk serial=S1,min-size=100GB, once for each

--file FILE gives a whole body as YAML or JSON, with the field names of the API;
unknown fields are refused. Flags change what the file says. - is standard input.

Secrets are never arguments, since others see those: --password-file FILE, or - for
standard input. On a terminal a secret that is needed is asked for without echo.
Nothing else is ever asked.
`

const outputPage = `-o text    for people; it may change
-o wide    more of it; times in full
-o json    for programs: "schema" names its form, fields only come, errors are JSON
-o yaml    the same as YAML
-o name    what things are called, one a line
-q EXPR    what a jq filter makes of the JSON: ingot node list -q '.nodes[].id'

Lists read every page; --limit N stops after N. --watch goes on and prints what
happens; --until FIELD=VALUE ends when it holds. Errors go to standard error.
`
