package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/whole"
)

// Completion must not make a person wait: names come from the server within
// completeWithin, are kept for fresh, and else are the ones that were kept.
const (
	completeWithin = 150 * time.Millisecond
	fresh          = 30 * time.Second
	noFiles        = cobra.ShellCompDirectiveNoFileComp
)

// completionCommand prints a shell's script.
func (a *app) completionCommand() *cobra.Command {
	c := a.leaf("completion SHELL", "Print the completion of a shell: bash, zsh or fish", "ingot completion bash > /etc/bash_completion.d/ingot", func(c *cobra.Command, words []string) error {
		switch root := c.Root(); words[0] {
		case "bash":
			return root.GenBashCompletionV2(a.Out, true)
		case "zsh":
			return root.GenZshCompletion(a.Out)
		case "fish":
			return root.GenFishCompletion(a.Out, true)
		}
		return usage("no completion for %s", quote(words[0])).then("known: bash, zsh, fish")
	})
	c.Args = exactly(1)
	c.ValidArgs = []string{"bash", "zsh", "fish"}
	c.ValidArgsFunction = nil
	return c
}

// lists are the operations that list what an argument names.
var lists = map[string]api.Any{
	"server_id": api.RegistrationListing,
	"mac":       api.BootListing,
	"node_id":   api.NodeListing,
	"key_id":    api.KeyListing,
	"operator":  api.OperatorListing,
}

// complete completes a verb's arguments.
func (v *verb) complete(_ *cobra.Command, words []string, start string) ([]string, cobra.ShellCompDirective) {
	args := v.arguments()
	i := len(words)
	if v.many() {
		i = 0
	}
	if i >= len(args) {
		return nil, noFiles
	}
	f := args[i].field
	var out []string
	switch {
	case len(f.Enum) > 0:
		out = f.Enum
	case f.Shape == api.Bool:
		out = []string{"on", "off"}
	case lists[f.Name] != nil && f.In == api.InPath:
		out = v.names(lists[f.Name])
	}
	return starting(out, start), noFiles
}

func starting(words []string, start string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, start) })
}

// kept is what completion remembers of one list.
type kept struct {
	At    time.Time `json:"at"`
	Names []string  `json:"names"`
}

// names are the names that a list has. Nothing is said of what goes wrong.
func (a *app) names(op api.Any) []string {
	t, err := a.target()
	if err != nil {
		return nil
	}
	sum := sha256.Sum256([]byte(t.name + "\x00" + t.Server + "\x00" + op.Info().Name))
	file := filepath.Join(a.cacheDir(), "complete-"+hex.EncodeToString(sum[:8])+".json")
	var k kept
	if raw, err := os.ReadFile(file); err == nil {
		_ = json.Unmarshal(raw, &k)
	}
	if d := a.Now().Sub(k.At); d >= 0 && d < fresh {
		return k.Names
	}
	if names, ok := a.askShortly(op); ok {
		k = kept{a.Now(), names}
		_ = os.MkdirAll(a.cacheDir(), 0o700)
		_ = whole.Replace(file, whole.Bytes(must(k)))
	}
	return k.Names
}

// askShortly asks the server for one page, within the time that there is.
func (a *app) askShortly(op api.Any) (names []string, ok bool) {
	ctx, done := context.WithTimeout(context.Background(), completeWithin)
	defer done()
	conn, err := a.connect(op.Info())
	if err != nil {
		return nil, false
	}
	defer conn.HTTP.CloseIdleConnections()
	raw, err := conn.Do(ctx, op, reflect.New(op.In()).Interface())
	if err != nil {
		return nil, false
	}
	v := verb{app: a, op: op, shape: shapeOf(op)}
	items, _, err := v.items(raw)
	for _, item := range items {
		names = append(names, idOf(item, v.shape.id))
	}
	return names, err == nil
}

func (a *app) completeContexts(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	all, err := a.contexts()
	if err != nil {
		return nil, noFiles
	}
	return starting(slices.Sorted(maps.Keys(all.Contexts)), start), noFiles
}

// completeLifecycle completes an axis, then its states and events.
func completeLifecycle(c *cobra.Command, words []string, start string) ([]string, cobra.ShellCompDirective) {
	var out []string
	switch {
	case len(words) == 0:
		for _, x := range axes() {
			out = append(out, x.name)
		}
	case c.Name() == "show" || len(words) > 2:
	default:
		x, err := findAxis(words[0])
		if out = x.stateNames(); err == nil && c.Name() == "why" && len(words) == 2 {
			out = x.events
		}
	}
	return starting(out, start), noFiles
}
