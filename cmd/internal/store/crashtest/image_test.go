package crashtest

import (
	"crypto/sha256"
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
	writing  bool // a commit may be under way
}

// A tally counts verdicts.
type tally struct {
	images, points int
	distinct       map[[sha256.Size]byte]bool
	inFlight       int // images in which something was asked for and not answered
	keptIt, lostIt int // of those, with and without some of it
	refused, wrong int
	unborn         int            // refused before anything was asked for
	why            map[string]int // why images were refused
	marks          map[bolt.Found]int
	firstBad       []string
	served         int
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
			yield(shot{points, k, d.image(rand.New(rand.NewPCG(seed, uint64(points*1000+k+2))), tidy), a.copy(), d.writing()})
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
	switch {
	case v.refused != nil && len(s.account.asked) == 0:
		y.unborn++
		return
	case v.refused != nil:
		y.refused++
		y.why[reason(v.refused)]++
	case v.wrong != nil:
		y.wrong++
	default:
		y.served++
		y.marks[v.mark]++
	}
	if (v.refused != nil || v.wrong != nil) && len(y.firstBad) < 8 {
		y.firstBad = append(y.firstBad, fmt.Sprintf("point %d image %d: refused: %v; wrong: %v", s.point, s.k, v.refused, v.wrong))
	}
	if v.refused == nil && v.wrong == nil && s.writing && t.inFlight(s.account) {
		y.inFlight++
		if int(v.head) > s.account.newest {
			y.keptIt++
		} else {
			y.lostIt++
		}
	}
}

// inFlight reports whether a commit may be under way.
func (t *truth) inFlight(a *account) bool {
	next := a.newest + 1
	return next < len(t.ops) && a.asked[t.ops[next].client] >= t.ops[next].n
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

func reason(err error) string { return fmt.Sprintf("%T", err) }

// TestImages opens what a loss of power may leave at each instant, and finds all that
// was acknowledged, and of what was not, whole commits or nothing.
func TestImages(t *testing.T) {
	began := time.Now()
	r := recorded(t, either(4, 8), 6, either(12, 24))
	truth := r.truth(t)
	sum := r.judge(t, truth, either(3, 8), nil, false)
	t.Logf("%d images (%d distinct) at %d instants of %d lives, seed %d, %d commits, %d revisions, %.0f s", sum.images, len(sum.distinct), sum.points, len(r.lives), seed(t), len(truth.ends), len(truth.ops)-1, time.Since(began).Seconds())
	t.Logf("%d images in the middle of a commit: %d had it, %d did not; marks %v; %d refused, %d wrong; %d refused that have no commit at all", sum.inFlight, sum.keptIt, sum.lostIt, sum.marks, sum.refused, sum.wrong, sum.unborn)
	for _, bad := range sum.firstBad {
		t.Error(bad)
	}
	if want := either(2000, 10000); sum.images < want {
		t.Errorf("%d images, want %d", sum.images, want)
	}
	if sum.keptIt == 0 || sum.lostIt == 0 {
		t.Error("no image is in the middle of a commit, so they prove little")
	}
}
