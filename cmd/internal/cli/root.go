package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/api"
)

// nouns are what verbs are about, with a line for each.
var nouns = map[string]string{
	"registration":  "machines that ask to be let in, and were",
	"boot":          "boot records: what each MAC is served",
	"node":          "machines with all their axes",
	"metal":         "machines by their BMCs",
	"key":           "API keys",
	"session":       "sign-ins of operators",
	"operator":      "operators; changed on the control plane's own host alone",
	"policy":        "the site's policy of booting and enrolling",
	"window":        "windows in which machines come in by themselves",
	"auto-approve":  "the window in which machines register without a code",
	"enroll-window": "the window in which unknown machines announce themselves",
	"event":         "what happened",
	"audit":         "the audit chain",
	"store":         "the store as a whole",
	"setup":         "what a booter calls for machines that are set up",
	"booter":        "what a booter calls to serve machines",
}

// A shortcut is a daily verb without its noun.
type shortcut struct {
	use     string
	op      api.Any
	aliases []string
}

func shortcuts() []shortcut {
	return []shortcut{
		{"approve", api.RegistrationApprove, nil},
		{"plan", api.RegistrationPlan, nil},
		{"approve-setup", api.RegistrationApproveSetup, nil},
		{"disable", api.RegistrationDisable, nil},
		{"cordon", api.NodeCordon, nil},
		{"uncordon", api.NodeUncordon, nil},
		{"maintenance", api.NodeMaintenance, nil},
		{"events", api.EventFollow, nil},
		{"whoami", api.SessionShow, nil},
		{"login", api.SessionOpen, []string{"signin"}},
		{"logout", api.SessionClose, []string{"signout"}},
	}
}

// groups are the parts of the short help.
const (
	groupDaily = "daily"
	groupNouns = "nouns"
	groupLocal = "local"
)

// root makes the tree of commands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "ingot",
		Short:         "The life of bare-metal machines, from the command line",
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          a.bare,
		Args:          a.noVerb,
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return flagError(c, err) })
	root.CompletionOptions.DisableDefaultCmd = true
	root.DisableSuggestions = true // a reset is not to be one letter from a reboot
	root.AddGroup(&cobra.Group{ID: groupDaily, Title: "Daily:"}, &cobra.Group{ID: groupNouns, Title: "Everything, by what it is about:"}, &cobra.Group{ID: groupLocal, Title: "Here, and questions:"})
	a.globalFlags(root)
	for _, s := range shortcuts() {
		c := a.newVerb(s.op, s.use, nil)
		c.GroupID, c.Aliases = groupDaily, s.aliases
		root.AddCommand(c)
	}
	a.addNouns(root)
	for _, c := range a.local() {
		c.GroupID = groupLocal
		root.AddCommand(c)
	}
	a.helps(root)
	return root
}

func (a *app) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&a.given.context, "context", "", "the `NAME` of the context to use")
	f.StringVar(&a.given.server, "server", "", "the server's `URL`: https://HOST:PORT or unix:/PATH, with no context's credential")
	f.StringVar(&a.given.pin, "pin", "", "the `KEY` of the server, or of the BMC: sha256/..., as ingotd prints it when it starts")
	f.StringVar(&a.given.keyFile, "key-file", "", "a `FILE` with an API key or token alone")
	f.StringVarP(&a.given.output, "output", "o", "", "the `FORM`: text, wide, json, yaml or name")
	f.BoolVar(&a.given.json, "json", false, "the same as -o json; errors are JSON too")
	f.StringVarP(&a.given.jq, "jq", "q", "", "print what this jq `EXPR` makes of the JSON")
	f.DurationVar(&a.given.timeout, "timeout", 0, "end after this long; default 1m, none while watching")
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, noFiles))
	_ = root.RegisterFlagCompletionFunc("context", a.completeContexts)
}

// addNouns adds every operation under its noun.
func (a *app) addNouns(root *cobra.Command) {
	byNoun := map[string]*cobra.Command{}
	for _, op := range api.All() {
		noun := op.Info().Axis()
		c := byNoun[noun]
		if c == nil {
			c = &cobra.Command{Use: noun, Short: nouns[noun], GroupID: groupNouns, RunE: a.bare, Args: a.noVerb, Hidden: noun == "setup" || noun == "booter"}
			byNoun[noun] = c
			root.AddCommand(c)
		}
		c.AddCommand(a.newVerb(op, noun+" "+op.Info().Verb(), nil))
	}
	byNoun["audit"].AddCommand(a.auditVerify())
	byNoun["boot"].AddCommand(a.bootExplain())
}

// bare is a noun without a verb: its help.
func (a *app) bare(c *cobra.Command, _ []string) error { return c.Help() }

// noVerb refuses words that are no verb.
func (a *app) noVerb(c *cobra.Command, words []string) error {
	if len(words) == 0 {
		return nil
	}
	var known []string
	for _, sub := range c.Commands() {
		if !sub.Hidden && !sub.IsAdditionalHelpTopicCommand() {
			known = append(known, sub.Name())
		}
	}
	return usage("%s has no verb %s", c.CommandPath(), quote(words[0])).then("known: %s", strings.Join(known, ", "))
}

// flagError names the flags that a command has, where it was given another.
func flagError(c *cobra.Command, err error) error {
	text := strings.TrimPrefix(err.Error(), "invalid argument ")
	if !strings.HasPrefix(text, "unknown") {
		return usage("%s", clean(err.Error()))
	}
	var known []string
	for _, l := range strings.Split(c.LocalNonPersistentFlags().FlagUsages(), "\n") {
		if _, rest, ok := strings.Cut(l, "--"); ok {
			name, _, _ := strings.Cut(rest, " ")
			known = append(known, "--"+strings.TrimSuffix(strings.SplitN(name, "[", 2)[0], "="))
		}
	}
	slices.Sort(known)
	return usage("%s", clean(text)).then("%s has %s; and those of every command: `ingot help flags`", c.CommandPath(), listOr(known, "no flags of its own"))
}
