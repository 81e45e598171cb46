package cli_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// complete is what a shell is offered after words.
func (f *fake) complete(words ...string) []string {
	f.t.Helper()
	got := f.run(append([]string{"__complete"}, words...)...)
	if got.code != 0 {
		f.t.Errorf("%q: %d %s", words, got.code, got.err)
	}
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	return lines[:len(lines)-1] // the last is the directive
}

func TestCompletion(t *testing.T) {
	f := newFake(t)
	f.answer = func(w http.ResponseWriter, _ *http.Request) {
		reply(w, `{"nodes":[{"id":"node_a"},{"id":"node_b"}],"boots":[{"mac":"02:00:00:00:00:01"}]}`)
	}
	f.write(".config/ingot/contexts.yaml", "contexts: {lab: {server: 'https://x'}, prod: {server: 'https://y'}}\n")
	for _, c := range []struct{ words, want string }{
		{"node cordon |", "node_a node_b"},
		{"node cordon node_a |", "node_a node_b"},
		{"node show node_b|", "node_b"},
		{"boot mode |", "02:00:00:00:00:01"},
		{"boot mode " + mac + " |", "normal rescue"},
		{"node maintenance node_a |", "on off"},
		{"node show node_a |", ""},
		{"node list --cordoned |", "true false"},
		{"node list -o |", "text wide json yaml name"},
		{"node list --context |", "lab prod"},
		{"context use p|", "prod"},
		{"lifecycle why registration p|", "pending"},
		{"lifecycle why registration pending approve|", "approve approve-setup"},
		{"explain MAC|", "MAC_CLAIMED"},
		{"completion |", "bash zsh fish"},
	} {
		line := strings.TrimSuffix(c.words, "|")
		words := strings.Split(line, " ")
		if got := strings.Join(f.complete(words...), " "); got != c.want {
			t.Errorf("%q: got %q, want %q", line, got, c.want)
		}
	}
	if n := f.count(); n != 2 {
		t.Errorf("%d requests for two lists: names are not kept", n)
	}
}

// With the server away completion is quick and silent, and offers what was kept.
func TestCompletionOffline(t *testing.T) {
	f := newFake(t)
	f.answer = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	start := time.Now()
	if got := f.complete("node", "show", ""); len(got) != 0 {
		t.Errorf("offered %q", got)
	}
	if d := time.Since(start); d < completeAtLeast || d > 2*time.Second { // the bound is 150 ms and the machine's load
		t.Errorf("it took %s", d)
	}
	f.server.Close()
	got := f.run("__complete", "node", "show", "")
	if strings.Contains(got.err, "rror") || got.code != 0 {
		t.Errorf("not silent: %d %q", got.code, got.err)
	}
}

const completeAtLeast = 100 * time.Millisecond

func TestCompletionScripts(t *testing.T) {
	f := newFake(t)
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if got := f.run("completion", shell); got.code != 0 || !strings.Contains(got.out, "__complete") {
			t.Errorf("%s: %d", shell, got.code)
		}
	}
}
