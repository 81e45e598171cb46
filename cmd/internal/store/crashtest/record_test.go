package crashtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// A life is what one worker did, and the files at its end.
type life struct {
	steps []step
	files map[string][]byte
}

// A record is the lives of workers on one folder, one after the other. All but the
// last were killed, or closed their store.
type record struct {
	dir   string
	lives []life
}

// recorded has workers live on one folder: some are killed within a write, some close
// the store, each goes on where the one before ended.
func recorded(t testing.TB, lives, clients, ops int) *record {
	t.Helper()
	tracer := strace(t)
	draw := rand.New(rand.NewPCG(seed(t), 0))
	r := &record{dir: newDir(t)}
	for n := range lives {
		l := run{dir: r.dir, clients: clients, ops: ops, calls: seen, trace: filepath.Join(t.TempDir(), fmt.Sprint("trace", n))}
		if n%3 != 2 && n+1 < lives {
			l.inject = []string{fmt.Sprintf("pwrite64:signal=KILL:when=%d", 1+draw.IntN(60*(n+1)))}
		}
		if end := l.live(t, tracer); end.code != 0 && !end.killed {
			t.Fatalf("a worker failed: %s", end.out)
		}
		r.lives = append(r.lives, readLife(t, l.trace, r.dir))
	}
	return r
}

func readLife(t testing.TB, trace, dir string) life {
	t.Helper()
	l := life{files: map[string][]byte{}}
	if err := readTrace(trace, dir, func(s step) error { l.steps = append(l.steps, s); return nil }); err != nil {
		t.Fatal(err)
	}
	l.steps = died(l.steps)
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if l.files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// died makes each call whole in which the worker died: it ends where it began, with
// an outcome that only the files tell.
func died(steps []step) (out []step) {
	open := map[string]int{} // by thread, where in out a call began
	for _, s := range steps {
		i, was := open[s.tid]
		delete(open, s.tid)
		switch {
		case s.begins && !s.ends:
			open[s.tid] = len(out)
		case was && s.result == "?":
			out[i].ends, out[i].result = true, "?"
			continue
		}
		out = append(out, s)
	}
	for _, i := range open {
		out[i].ends, out[i].result = true, "?"
	}
	return out
}

// replay takes all steps on a disk, and calls at each instant after which a loss of
// power may leave something new.
func (r *record) replay(d *disk, at func() error) error {
	for n, l := range r.lives {
		d.after = l.files
		for _, s := range l.steps {
			news, err := d.take(s)
			if err == nil && news && at != nil {
				err = at()
			}
			if err != nil {
				return fmt.Errorf("life %d: %w", n, err)
			}
		}
		if err := d.settle(); err != nil {
			return fmt.Errorf("life %d: %w", n, err)
		}
	}
	return nil
}

// truth is what the lives came to.
func (r *record) truth(t testing.TB) *truth {
	t.Helper()
	d := newDisk(r.dir)
	if err := r.replay(d, nil); err != nil {
		t.Fatal(err)
	}
	a, err := accountOf(d.notes)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	if err := lay(copied, r.lives[len(r.lives)-1].files); err != nil {
		t.Fatal(err)
	}
	rows, err := rowsIn(copied)
	if err != nil {
		t.Fatal(err)
	}
	all, err := newTruth(a, rows)
	if err != nil {
		t.Fatal(err)
	}
	all.ends = d.marks
	return all
}
