package crashtest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store/bolt"
)

// A shot is an image and what was noted when the power was lost.
type shot struct {
	point, k int
	files    map[string][]byte
	account  *account
	writing  bool   // a commit may be under way
	marked   uint64 // the revision that the mark names whatever became of its last writes
}

// A tally counts verdicts.
type tally struct {
	images, points, served int
	distinct               map[[sha256.Size]byte]bool
	marks                  map[bolt.Found]int // of those that were served
	refused                int
	why                    map[string]int // by what refused it
	// Served, though wrong: those that end too early, or before what the mark on
	// the disk names, or are not as any revision was, and how many of the last
	// Verify finds.
	behind, behindMark, mixed, mixedFound int
	// Served, and right, while a commit was under way: with and without it.
	had, lacked int
	bad         []string // the first of them
}

// shots yields the images of a record: several at each instant where several are
// possible.
func (r *record) shots(seed uint64, each int, lies func(*rand.Rand, string) bool, tidy bool, yield func(shot)) (points int, err error) {
	d, a := newDisk(r.dir), newAccount()
	draw := rand.New(rand.NewPCG(seed, 1))
	if lies != nil {
		d.lies = func(name string) bool { return lies(draw, name) }
	}
	noted := 0
	err = r.replay(d, func() error {
		for ; noted < len(d.notes); noted++ {
			if err := a.note(d.notes[noted]); err != nil {
				return err
			}
		}
		points++
		n := 1
		if d.unsure() {
			n = each
		}
		for k := range n {
			yield(shot{points, k, d.image(rand.New(rand.NewPCG(seed, uint64(points*1000+k+2))), tidy), a.copy(), d.writing(), d.marked()})
		}
		return nil
	})
	return points, err
}

func (a *account) copy() *account {
	c := *a
	c.acked, c.asked, c.beats = nil, maps.Clone(a.asked), maps.Clone(a.beats)
	return &c
}

// judge examines the images of a record.
func (r *record) judge(t testing.TB, truth *truth, each int, lies func(*rand.Rand, string) bool, tidy bool) *tally {
	t.Helper()
	sum := &tally{distinct: map[[sha256.Size]byte]bool{}, why: map[string]int{}, marks: map[bolt.Found]int{}}
	todo := make(chan shot)
	var all sync.WaitGroup
	var mu sync.Mutex
	for range 2 {
		dir := filepath.Join(newDir(t), "image")
		all.Go(func() {
			for s := range todo {
				v := verdict{wrong: lay(dir, s.files)}
				if v.wrong == nil {
					v = examine(dir, truth, s.account)
				}
				mu.Lock()
				sum.add(s, v, truth)
				mu.Unlock()
			}
		})
	}
	points, err := r.shots(seed(t), each, lies, tidy, func(s shot) { todo <- s })
	close(todo)
	all.Wait()
	if err != nil {
		t.Fatal(err)
	}
	sum.points = points
	return sum
}

func (y *tally) add(s shot, v verdict, t *truth) {
	y.images++
	y.distinct[s.sum()] = true
	l, behind := errors.AsType[*lost](v.wrong)
	switch {
	case v.refused != nil:
		y.refused++
		y.why[finder(v.refused)]++
	case behind:
		y.behind++
		if l.head < s.marked {
			y.behindMark++
		}
	case v.wrong != nil:
		y.mixed++
		if v.verify != nil {
			y.mixedFound++
		}
	default:
		y.right(s, v, t)
		return
	}
	if len(y.bad) < 8 {
		y.bad = append(y.bad, fmt.Sprintf("point %d image %d: refused: %v; wrong: %v", s.point, s.k, v.refused, v.wrong))
	}
}

func (y *tally) right(s shot, v verdict, t *truth) {
	y.served++
	y.marks[v.mark]++
	switch {
	case !s.writing || !t.inFlight(s.account):
	case v.head > s.account.newest:
		y.had++
	default:
		y.lacked++
	}
}

// inFlight reports whether a commit may be under way.
func (t *truth) inFlight(a *account) bool {
	next := a.newest + 1
	return next < uint64(len(t.ops)) && a.asked[t.ops[next].client] >= t.ops[next].n
}

func (s shot) sum() (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		fmt.Fprint(h, name, len(s.files[name]))
		h.Write(s.files[name])
	}
	h.Sum(sum[:0])
	return sum
}

// TestImages opens what a loss of power may leave at each instant, and finds all that
// was acknowledged, and of what was not, whole commits or nothing.
func TestImages(t *testing.T) {
	began := time.Now()
	r := recorded(t, either(4, 8), 6, either(12, 24))
	truth := r.truth(t)
	sum := r.judge(t, truth, either(3, 8), nil, false)
	t.Logf("%d images, %d distinct, at %d instants of %d lives with %d commits and %d revisions, seed %d, %.0f s", sum.images, len(sum.distinct), sum.points, len(r.lives), len(truth.ends)-1, len(truth.ops)-1, seed(t), time.Since(began).Seconds())
	t.Logf("%d were made within a commit: %d had it, %d did not; marks %v; %d refused, %d lost, %d mixed", sum.had+sum.lacked, sum.had, sum.lacked, sum.marks, sum.refused, sum.behind, sum.mixed)
	for _, bad := range sum.bad {
		t.Error(bad)
	}
	if want := either(1000, 10000); len(sum.distinct) < want {
		t.Errorf("%d distinct images, want %d", len(sum.distinct), want)
	}
	if sum.had == 0 || sum.lacked == 0 || sum.marks[bolt.MarkTorn] > 0 {
		t.Error("commits are always there, or never, or a mark was torn in both places")
	}
}
