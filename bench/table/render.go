package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// columns are the head of the table. The last collects every metric that a
// benchmark reports of its own.
var columns = []string{"package", "benchmark", "runs", "ns/op", "spread", "B/op", "allocs/op", "against ingot", "more"}

// ownColumn are the units that have a column to themselves.
var ownColumn = []string{nsPerOp, "B/op", "allocs/op"}

// render writes the rows as one aligned Markdown table.
func render(out io.Writer, rows []*row) {
	lines := [][]string{columns}
	for _, r := range rows {
		lines = append(lines, r.cells(rows))
	}
	width := make([]int, len(columns))
	for _, line := range lines {
		for i, c := range line {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for n, line := range lines {
		for i, c := range line {
			fmt.Fprintf(out, "| %s%s ", c, strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)))
		}
		fmt.Fprintln(out, "|")
		if n == 0 {
			for _, w := range width {
				fmt.Fprint(out, "|", strings.Repeat("-", w+2))
			}
			fmt.Fprintln(out, "|")
		}
	}
}

func (r *row) cells(rows []*row) []string {
	return []string{
		short(r.pkg), r.name, strconv.Itoa(len(r.values[nsPerOp])), r.cell(nsPerOp),
		fmt.Sprintf("%.0f %%", r.spread()), r.cell("B/op"), r.cell("allocs/op"),
		r.against(rows), r.more(),
	}
}

// short leaves out the module's own prefix.
func short(pkg string) string {
	const module = "github.com/ingotmetal/ingot"
	if rest, ok := strings.CutPrefix(pkg, module+"/"); ok {
		return rest
	}
	return pkg
}

func (r *row) cell(unit string) string {
	v, ok := r.median(unit)
	if !ok {
		return ""
	}
	return number(v)
}

// against is how many times ingot's time a peer takes. It is empty where
// there is nothing to compare.
func (r *row) against(rows []*row) string {
	i := slices.IndexFunc(rows, r.peerOf)
	if i < 0 {
		return ""
	}
	own, _ := rows[i].median(nsPerOp)
	peer, ok := r.median(nsPerOp)
	if own == 0 || !ok {
		return ""
	}
	return fmt.Sprintf("%.2f×", peer/own)
}

func (r *row) more() string {
	var out []string
	for _, u := range r.units {
		if !slices.Contains(ownColumn, u) {
			out = append(out, r.cell(u)+" "+u)
		}
	}
	return strings.Join(out, ", ")
}

// number keeps three digits of a small value and the whole of a large one.
func number(v float64) string {
	switch {
	case v == math.Trunc(v) || math.Abs(v) >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case math.Abs(v) >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
