package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// nsPerOp is the unit that every benchmark reports.
const nsPerOp = "ns/op"

var errEmpty = errors.New("the input holds no benchmark")

// A row is one benchmark with the values of all its runs.
type row struct {
	pkg, name string
	units     []string // in the order in which they first came
	values    map[string][]float64
}

// parse reads the output of one or more go test -bench runs. A line that
// reports a failure is an error; lines it does not know are passed over.
func parse(in io.Reader, procs int) ([]*row, error) {
	var rows []*row
	pkg := ""
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := lines.Text()
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case fields[0] == "pkg:" && len(fields) == 2:
			pkg = fields[1]
		case fields[0] == "FAIL" || strings.HasPrefix(line, "--- FAIL:") || strings.HasPrefix(line, "panic:"):
			return nil, fmt.Errorf("a run failed: %s", line)
		case strings.HasPrefix(fields[0], "Benchmark") && len(fields) >= 4:
			if err := add(&rows, pkg, procs, fields); err != nil {
				return nil, err
			}
		}
	}
	if len(rows) == 0 && lines.Err() == nil {
		return nil, errEmpty
	}
	return rows, lines.Err()
}

// add takes one result line: name, iterations, then pairs of value and unit.
// A line that is no result, such as a benchmark's own log, is passed over.
func add(rows *[]*row, pkg string, procs int, fields []string) error {
	if _, err := strconv.ParseUint(fields[1], 10, 64); err != nil {
		return nil
	}
	if len(fields)%2 != 0 {
		return fmt.Errorf("a value without a unit: %s", strings.Join(fields, " "))
	}
	name := strings.TrimPrefix(fields[0], "Benchmark")
	if procs > 1 {
		name = strings.TrimSuffix(name, "-"+strconv.Itoa(procs))
	}
	r := find(rows, pkg, name)
	for i := 2; i < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.take(v, fields[i+1])
	}
	return nil
}

// find returns the row of a benchmark and makes it where there is none.
func find(rows *[]*row, pkg, name string) *row {
	for _, r := range *rows {
		if r.pkg == pkg && r.name == name {
			return r
		}
	}
	r := &row{pkg: pkg, name: name, values: map[string][]float64{}}
	*rows = append(*rows, r)
	return r
}

func (r *row) take(v float64, unit string) {
	if !slices.Contains(r.units, unit) {
		r.units = append(r.units, unit)
	}
	r.values[unit] = append(r.values[unit], v)
}

// median returns the middle of the runs, the mean of the two middle ones
// where their number is even, and whether the unit was reported at all.
func (r *row) median(unit string) (float64, bool) {
	v := slices.Sorted(slices.Values(r.values[unit]))
	n := len(v)
	if n == 0 {
		return 0, false
	}
	return (v[(n-1)/2] + v[n/2]) / 2, true
}

// spread is the distance between the least and the greatest time, in percent
// of the median.
func (r *row) spread() float64 {
	mid, ok := r.median(nsPerOp)
	if !ok || mid == 0 {
		return 0
	}
	v := r.values[nsPerOp]
	return 100 * (slices.Max(v) - slices.Min(v)) / mid
}

// peerOf reports whether r and other measure the same thing, r a peer's and
// other ours: the names differ in one element, which is "ingot" in other.
func (r *row) peerOf(other *row) bool {
	a, b := strings.Split(r.name, "/"), strings.Split(other.name, "/")
	if r.pkg != other.pkg || len(a) != len(b) {
		return false
	}
	differ := 0
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if b[i] != "ingot" {
			return false
		}
		differ++
	}
	return differ == 1
}
