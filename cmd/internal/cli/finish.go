package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ingotmetal/ingot/cmd/api"
)

// finish tells of an error and returns the exit code.
func (a *app) finish(err error) Exit {
	if err == nil {
		return Done
	}
	if _, ok := errors.AsType[interface {
		error
		exit() Exit
	}](err); !ok && !a.started {
		err = usage("%v", err).then("see `ingot help`") // cobra's own words
	}
	_, would := errors.AsType[wouldChange](err)
	_, already := errors.AsType[*told](err)
	switch {
	case would:
	case a.given.json || a.given.output == "json" && a.given.jq == "":
		told := map[string]any{"schema": schema("error"), "exit": exitOf(err), "error": problem(err)}
		if e, ok := errors.AsType[*BMCFailure](err); ok {
			told["bmc"] = e.facts()
		}
		a.note("%s", must(told))
	case !already || exitOf(err) == Partly:
		a.note("%s", a.inWords(err))
	}
	return exitOf(err)
}

// problem is an error as JSON: the server's as it is, ours in its form.
func problem(err error) json.RawMessage {
	if p, ok := errors.AsType[*api.Problem](err); ok {
		return must(p)
	}
	p := api.NewProblem(CodeOf(err), err.Error())
	p.Status, p.Type = 0, ""
	if e, ok := errors.AsType[*Usage](err); ok {
		p.Detail, p.Next = e.What, e.Next
	}
	if e, ok := errors.AsType[*Refusal](err); ok {
		p.Detail, p.Next = e.What, e.Next
	}
	if e, ok := errors.AsType[*Ended](err); ok {
		p.Detail, p.Next = e.What, e.Next
	}
	return must(p)
}

// CodeOf is an error's wire name (API-3).
func CodeOf(err error) string {
	coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err)
	if !ok {
		return "UNAVAILABLE"
	}
	return coded.Code()
}

// inWords is an error for people: what, what to do, and what else is known.
func (a *app) inWords(err error) string {
	var p api.Problem
	if json.Unmarshal(problem(err), &p) != nil {
		return "error: " + clean(err.Error())
	}
	var b strings.Builder
	b.WriteString(a.red("error:") + " ")
	if exitOf(err) != BadUsage {
		b.WriteString(clean(p.Name) + ": ")
	}
	detail := p.Detail
	if detail == "" {
		detail = p.Title
	}
	b.WriteString(cleanLines(err, detail))
	more := about(&p)
	if e, ok := errors.AsType[*BMCFailure](err); ok {
		more = append(more, e.about()...)
	}
	for _, l := range more {
		b.WriteString("\n  " + clean(l))
	}
	return b.String()
}

// cleanLines is a text without what moves the cursor: in one line, if it is not a Long.
func cleanLines(err error, text string) string {
	if _, ok := errors.AsType[*Long](err); !ok {
		return clean(text)
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = clean(l)
	}
	return strings.Join(lines, "\n  ")
}

// about lists what a problem knows beside its detail.
func about(p *api.Problem) (out []string) {
	add := func(there bool, format string, args ...any) {
		if there {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	for _, f := range p.Fields {
		add(true, "%s: want %s", f.Field, strings.TrimPrefix(f.Want, "want "))
	}
	says := func(words string) bool { return words == "" || strings.Contains(p.Detail, words) }
	add(!says(p.State), "state: %s", p.State)
	add(!says(strings.Join(p.Legal, ", ")), "legal now: %s", strings.Join(p.Legal, ", "))
	if h := p.Holder; h != nil {
		add(true, "held by: %s, %s, attempt %d", h.Holder, h.State, h.Epoch)
	}
	add(p.Count > 0, "in the way: %d", p.Count)
	add(p.RetryAfter > 0, "try again in: %ds", p.RetryAfter)
	add(p.Reason != "", "reason: %s (ingot explain %s)", p.Reason, p.Reason)
	add(!says(p.Requirement), "by: %s", p.Requirement)
	add(p.Next != "", "next: %s", p.Next)
	return out
}

// coloured reports whether standard output or error may have colours.
func (a *app) coloured(terminal bool) bool {
	force := a.Env("CLICOLOR_FORCE")
	switch {
	case a.Env("NO_COLOR") != "" || a.Env("TERM") == "dumb":
		return false
	case force != "" && force != "0":
		return true
	}
	return terminal
}

func (a *app) red(text string) string {
	if !a.coloured(a.ErrTerminal) {
		return text
	}
	return "\x1b[31m" + text + "\x1b[0m"
}

// heading makes the first line of a table bold.
func (a *app) heading(table string) string {
	head, rest, ok := strings.Cut(table, "\n")
	if !ok || !a.coloured(a.OutTerminal) {
		return table
	}
	return "\x1b[1m" + head + "\x1b[0m\n" + rest
}
