// Command table turns the output of go test -bench into one Markdown table:
//
//	go test -run '^$' -bench . -benchmem -count 5 ./... | table
//
// It reads standard input and writes standard output. Each benchmark is a
// row with the medians of its runs and their spread, which is the distance
// between the least and the greatest time in percent of the median. Where a
// benchmark has a sub-benchmark named ingot, every sibling's row says how many
// times ingot's time it takes.
//
// It exits with 1 when the input reports a failure or holds no benchmark, so
// that a table is never shown for half a run.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
)

func main() {
	procs := flag.Int("procs", runtime.GOMAXPROCS(0), "GOMAXPROCS of the runs, which go test appends to each name")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *procs); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, procs int) error {
	rows, err := parse(in, procs)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	render(w, rows)
	return w.Flush()
}
