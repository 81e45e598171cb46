package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// formats are what -o takes.
var formats = []string{"text", "wide", "json", "yaml", "name"}

// begin checks the flags that every command has.
func (a *app) begin(*cobra.Command) error {
	if a.given.json {
		if a.given.output != "" && a.given.output != "json" {
			return usage("--json and -o %s are both given", a.given.output)
		}
		a.given.output = "json"
	}
	if a.given.output == "" {
		a.given.output = "text"
		if a.given.jq != "" {
			a.given.output = "json"
		}
	}
	if !slices.Contains(formats, a.given.output) {
		return usage("unknown output format %s", quote(a.given.output)).then("known: %s", strings.Join(formats, ", "))
	}
	if a.given.jq == "" {
		return nil
	}
	if a.given.output != "json" {
		return usage("-q reads JSON, and -o %s is given", a.given.output)
	}
	_, err := compile(a.given.jq)
	return err
}

// begin is app's, and what only a verb can refuse.
func (v *verb) begin(c *cobra.Command) error {
	if err := v.app.begin(c); err != nil {
		return err
	}
	if v.given.output == "name" && v.shape.id == "" {
		return usage("%s answers with nothing that has a name", v.def.Name).then("known: text, wide, json, yaml")
	}
	if v.def.Stream != "" && slices.Contains([]string{"yaml", "name"}, v.given.output) {
		return usage("%s is a stream", v.def.Name).then("known: text, json")
	}
	if v.limit < 0 {
		return usage("--limit must be 0 or more")
	}
	return v.validUntil()
}

func compile(expr string) (*gojq.Code, error) {
	q, err := gojq.Parse(expr)
	if err != nil {
		return nil, usage("-q: %v", err)
	}
	code, err := gojq.Compile(q)
	if err != nil {
		return nil, usage("-q: %v", err)
	}
	return code, nil
}

// structured reports whether the output is for programs.
func (a *app) structured() bool { return a.given.output == "json" || a.given.output == "yaml" }

// schema names the form of what is printed: it changes its number when a field goes
// or changes its meaning, not when one comes.
func schema(what string) string { return "ingot." + what + "/1" }

// wrapped is a JSON object with its schema in front.
func wrapped(what string, object []byte) []byte {
	rest := bytes.TrimPrefix(bytes.TrimSpace(object), []byte("{"))
	out := []byte(`{"schema":` + string(must(schema(what))))
	if t := bytes.TrimSpace(rest); len(t) > 0 && t[0] != '}' {
		out = append(out, ',')
	}
	return append(out, rest...)
}

// must is JSON of what always has one.
func must(x any) []byte {
	raw, err := json.Marshal(x)
	if err != nil {
		panic(err) // maps and slices of texts and JSON
	}
	return raw
}

// value prints what a command answers with, as JSON or YAML. raw is an object.
func (a *app) value(ctx context.Context, what string, raw []byte) error {
	raw = wrapped(what, raw)
	switch {
	case a.given.jq != "":
		return a.query(ctx, raw)
	case a.given.output == "yaml":
		text, err := yaml.JSONToYAML(raw)
		if err != nil {
			return &Refusal{"the answer cannot be written as YAML: " + err.Error(), "use -o json", "UNAVAILABLE"}
		}
		return a.print(string(text))
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return &Refusal{"the answer is no JSON: " + err.Error(), "", "UNAVAILABLE"}
	}
	return a.print(b.String() + "\n")
}

// print writes to standard output.
func (a *app) print(text string) error {
	if _, err := io.WriteString(a.Out, text); err != nil {
		return &Refusal{"standard output: " + err.Error(), "", "UNAVAILABLE"}
	}
	return nil
}

func (a *app) printf(format string, args ...any) error { return a.print(fmt.Sprintf(format, args...)) }

// note writes a line for people to standard error.
func (a *app) note(format string, args ...any) {
	_, _ = fmt.Fprintf(a.Err, format+"\n", args...)
}

// query prints what -q makes of JSON: texts as they are, all else as JSON.
func (a *app) query(ctx context.Context, raw []byte) error {
	code, err := compile(a.given.jq)
	if err != nil {
		return err
	}
	var in any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&in); err != nil {
		return &Refusal{"the answer is no JSON: " + err.Error(), "", "UNAVAILABLE"}
	}
	for iter := code.RunWithContext(ctx, in); ; {
		got, ok := iter.Next()
		if !ok {
			return nil
		}
		if err := a.queried(got); err != nil {
			return err
		}
	}
}

func (a *app) queried(got any) error {
	switch got := got.(type) {
	case error:
		return usage("-q: %v", got)
	case string:
		if a.OutTerminal {
			got = clean(got)
		}
		return a.print(got + "\n")
	}
	raw, err := gojq.Marshal(got)
	if err != nil {
		return usage("-q: %v", err)
	}
	return a.print(string(raw) + "\n")
}
