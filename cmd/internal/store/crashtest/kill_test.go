package crashtest

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// pad is more than opening makes of any call.
const pad = 200

// A callSite is one call of a worker's life.
type callSite struct {
	name  string
	n     int  // as strace counts
	fresh bool // the folder is empty before
}

// killCalls are the calls that a worker is killed in, or that fail.
var killCalls = []string{"pwrite64", "fdatasync", "fsync", "ftruncate", "openat", "linkat", "renameat", "unlinkat"}

// short is the life of those who are killed.
func short(dir string) run {
	return run{dir: dir, clients: 2, ops: 6, pad: pad, calls: strings.Join(killCalls, ",")}
}

// prepared is a folder as a life finds it.
func prepared(t testing.TB, tracer string, fresh bool) string {
	t.Helper()
	dir := newDir(t)
	if fresh {
		return dir
	}
	r := short(dir)
	r.calls = "renameat"
	if end := r.live(t, tracer); end.code != 0 {
		t.Fatal(end.out)
	}
	return dir
}

// callSites counts the calls of a life: those of opening, and those of commits, which
// come after the padding.
func callSites(t testing.TB, tracer string, fresh bool) (sites []callSite) {
	t.Helper()
	r := short(prepared(t, tracer, fresh))
	r.trace = filepath.Join(t.TempDir(), fmt.Sprint("count", fresh))
	if end := r.live(t, tracer); end.code != 0 {
		t.Fatal(end.out)
	}
	counts := countCalls(t, r.trace)
	for _, name := range killCalls {
		opening := 0
		for _, by := range counts {
			for n := pad + 1; n <= by[name]; n++ {
				sites = append(sites, callSite{name, n, fresh})
			}
			if by[name] < pad {
				opening = max(opening, by[name])
			}
		}
		for n := 1; n <= opening; n++ {
			sites = append(sites, callSite{name, n, fresh})
		}
	}
	return sites
}

// countCalls counts the calls in a trace by thread and name.
func countCalls(t testing.TB, trace string) map[string]map[string]int {
	t.Helper()
	f, err := os.Open(trace)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	counts := map[string]map[string]int{}
	form := regexp.MustCompile(`^(\d+) +(\w+)\(`)
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		m := form.FindStringSubmatch(in.Text())
		if m == nil {
			continue
		}
		if counts[m[1]] == nil {
			counts[m[1]] = map[string]int{}
		}
		counts[m[1]][m[2]]++
	}
	return counts
}

// atEach lives a life for each site, or in an ordinary run for every few, with what
// inject says there, and settles accounts after it.
func atEach(t *testing.T, few int, inject func(callSite) (string, bool), ended func(callSite, outcome, *account) error) (done int) {
	t.Helper()
	tracer := strace(t)
	var todo []callSite
	for _, fresh := range []bool{true, false} {
		for i, c := range callSites(t, tracer, fresh) {
			if _, ok := inject(c); ok && (full() || (i+int(seed(t)))%few == 0) {
				todo = append(todo, c)
			}
		}
	}
	t.Run("at", func(t *testing.T) {
		for _, c := range todo {
			t.Run(fmt.Sprintf("%s-%d-%t", c.name, c.n, c.fresh), func(t *testing.T) {
				t.Parallel()
				in, _ := inject(c)
				if err := oneSite(t, tracer, c, in, ended); err != nil {
					t.Errorf("%s: %v", in, err)
				}
			})
		}
	})
	return len(todo)
}

func oneSite(t *testing.T, tracer string, c callSite, inject string, ended func(callSite, outcome, *account) error) error {
	dir := prepared(t, tracer, c.fresh)
	before := len(notesIn(t, dir))
	r := short(dir)
	r.inject = []string{inject}
	end := r.live(t, tracer)
	notes := notesIn(t, dir)
	a, err := accountOf(notes)
	if err != nil {
		return err
	}
	own, err := accountOf(notes[before:])
	if err != nil {
		return err
	}
	if err := ended(c, end, own); err != nil {
		return err
	}
	return settled(dir, a)
}

// settled opens the store of a folder whose worker has ended, and holds it against
// what was noted.
func settled(dir string, a *account) error {
	rows, err := rowsIn(dir)
	if err != nil {
		return err
	}
	t, err := newTruth(a, rows)
	if err != nil {
		return err
	}
	v := examine(dir, t, a)
	if v.refused != nil {
		return v.refused
	}
	return v.wrong
}

// TestKills kills a worker in each of its calls.
func TestKills(t *testing.T) {
	began := time.Now()
	var mu sync.Mutex
	killed, survived := map[string]int{}, 0
	n := atEach(t, 4, func(c callSite) (string, bool) {
		return fmt.Sprintf("%s:signal=KILL:when=%d", c.name, c.n), true
	}, func(c callSite, end outcome, a *account) error {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case end.killed:
			killed[c.name]++
		case end.code == 0:
			survived++ // another thread made this call, or fewer were made
		default:
			return fmt.Errorf("it ended with %d: %s", end.code, end.out)
		}
		return nil
	})
	t.Logf("%d lives, killed in %v, %d lived on, %.0f s; no acknowledgement was lost", n, killed, survived, time.Since(began).Seconds())
	for _, name := range killCalls {
		if killed[name] == 0 && full() {
			t.Errorf("nobody was killed in %s", name)
		}
	}
	if survived > n/3 {
		t.Errorf("%d of %d were not killed", survived, n)
	}
}
