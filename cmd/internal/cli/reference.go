package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Reference is the whole command line as a page of Markdown, from the same tree that
// runs: every command with its flags.
func Reference() string {
	root := nowhere().root()
	var b strings.Builder
	b.WriteString("# The command line\n\nGenerated from the command tree; do not edit.\n\n")
	b.WriteString("```text\n" + helpOf(root) + "```\n")
	for _, c := range root.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			fmt.Fprintf(&b, "\n## ingot help %s\n\n```text\n%s```\n", c.Name(), helpOf(c))
		}
	}
	for _, c := range root.Commands() {
		if c.Runnable() && c.Name() != "help" {
			describe(&b, c)
		}
	}
	return b.String()
}

// nowhere is an app in an empty world, whose commands are read and not run.
func nowhere() *app {
	return &app{World: World{
		In: strings.NewReader(""), Out: io.Discard, Err: io.Discard,
		Env: func(string) string { return "" }, Now: func() time.Time { return time.Time{} },
	}}
}

// describe writes a command and what is below it.
func describe(b *strings.Builder, c *cobra.Command) {
	depth := strings.Count(c.CommandPath(), " ")
	fmt.Fprintf(b, "\n%s %s\n\n", strings.Repeat("#", depth+1), c.CommandPath())
	if c.HasSubCommands() {
		fmt.Fprintf(b, "%s.\n", strings.ToUpper(c.Short[:1])+c.Short[1:])
	} else {
		text, _, _ := strings.Cut(helpOf(c), "\nFlags of every command")
		fmt.Fprintf(b, "```text\n%s\n```\n", strings.TrimRight(text, "\n"))
	}
	for _, sub := range c.Commands() {
		describe(b, sub)
	}
}

// ExitCodes is the page of the exit codes.
func ExitCodes() string {
	return "# Exit codes of ingot\n\nGenerated from the map that `ingot` ends by; do not edit.\n\n```text\n" + exitCodesPage() + "```\n"
}

// Commands visits every command, parents first.
func Commands(visit func(*cobra.Command)) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		visit(c)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(nowhere().root())
}
