package main

import (
	"errors"
	"strings"
	"testing"
)

const output = `goos: linux
pkg: github.com/ingotmetal/ingot/statemachine
cpu: some
BenchmarkNext/ingot-2         	80000000	        10.0 ns/op	       0 B/op	       0 allocs/op
BenchmarkNext/ingot-2         	80000000	        14.0 ns/op	       0 B/op	       0 allocs/op
BenchmarkNext/ingot-2         	80000000	        11.0 ns/op	       0 B/op	       0 allocs/op
BenchmarkNext/looplab-2       	 3000000	       330.0 ns/op	      96 B/op	       3 allocs/op
BenchmarkNext/looplab-2       	 3000000	       440.0 ns/op	      96 B/op	       3 allocs/op
PASS
ok  	github.com/ingotmetal/ingot/statemachine	4.1s
pkg: github.com/ingotmetal/ingot/statemachine/explore
BenchmarkRun
    run_test.go:12: a log line
BenchmarkRun-2 	       1	1500000000 ns/op	   1234567 states/s
PASS
`

const table = `| package              | benchmark    | runs | ns/op      | spread | B/op | allocs/op | against ingot | more             |
|----------------------|--------------|------|------------|--------|------|-----------|---------------|------------------|
| statemachine         | Next/ingot   | 3    | 11         | 36 %   | 0    | 0         |               |                  |
| statemachine         | Next/looplab | 2    | 385        | 29 %   | 96   | 3         | 35.00×        |                  |
| statemachine/explore | Run          | 1    | 1500000000 | 0 %    |      |           |               | 1234567 states/s |
`

func TestOneTableFromManyRuns(t *testing.T) {
	var out strings.Builder
	if err := run(strings.NewReader(output), &out, 2); err != nil {
		t.Fatal(err)
	}
	if out.String() != table {
		t.Errorf("got\n%s\nwant\n%s", out.String(), table)
	}
}

func TestHalfARunIsNoTable(t *testing.T) {
	for name, in := range map[string]string{
		"failed package": output + "FAIL\tgithub.com/ingotmetal/ingot/bmc [build failed]\n",
		"failed bench":   "--- FAIL: BenchmarkX\n" + output,
		"panic":          output + "panic: no\n",
		"no unit":        "BenchmarkX-2 1 2 ns/op 3\n",
		"no number":      "BenchmarkX-2 1 two ns/op\n",
	} {
		var out strings.Builder
		if err := run(strings.NewReader(in), &out, 2); err == nil || out.Len() > 0 {
			t.Errorf("%s: got %v and %q", name, err, out.String())
		}
	}
	if err := run(strings.NewReader("PASS\n"), &strings.Builder{}, 2); !errors.Is(err, errEmpty) {
		t.Errorf("nothing measured: got %v", err)
	}
}

func TestNamesLoseOnlyTheirProcs(t *testing.T) {
	for _, c := range []struct {
		procs    int
		in, want string
	}{
		{2, "BenchmarkX/n-8-2", "X/n-8"},
		{2, "BenchmarkX/n-8", "X/n-8"},
		{1, "BenchmarkX/n-1", "X/n-1"}, // go test appends nothing for one
	} {
		rows, err := parse(strings.NewReader(c.in+" 1 2 ns/op\n"), c.procs)
		if err != nil || rows[0].name != c.want {
			t.Errorf("%s with %d: got %v, %v", c.in, c.procs, rows, err)
		}
	}
}

func TestPeersAreSiblings(t *testing.T) {
	for _, c := range []struct {
		peer, own string
		want      bool
	}{
		{"X/looplab", "X/ingot", true},
		{"X/looplab/n=10", "X/ingot/n=10", true},
		{"X/n=10/looplab", "X/n=10/ingot", true},
		{"X/looplab/n=10", "X/ingot/n=20", false},
		{"X/ingot", "X/ingot", false},
		{"Y/looplab", "X/ingot", false},
		{"X", "X/ingot", false},
		{"X/a", "X/b", false},
	} {
		if got := (&row{name: c.peer}).peerOf(&row{name: c.own}); got != c.want {
			t.Errorf("%s beside %s: got %t", c.peer, c.own, got)
		}
	}
	if (&row{pkg: "a", name: "X/looplab"}).peerOf(&row{pkg: "b", name: "X/ingot"}) {
		t.Error("peers of different packages")
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{1, 9, 3, 5}, 4}} {
		r := row{values: map[string][]float64{nsPerOp: c.in}}
		if got, ok := r.median(nsPerOp); !ok || got != c.want {
			t.Errorf("%v: got %v, want %v", c.in, got, c.want)
		}
	}
	if _, ok := (&row{}).median(nsPerOp); ok {
		t.Error("a median of nothing")
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 9.876: "9.88", 98.76: "98.8", 987.6: "988", 12: "12"} {
		if got := number(v); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
}
