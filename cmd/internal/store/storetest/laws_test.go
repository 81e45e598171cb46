package storetest

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

func TestMemoryKeepsEveryLaw(t *testing.T) {
	Run(t, func(*testing.T) Subject { return (&Disk{Name: "site"}).Subject() })
}

// Slow commits make large groups.
func TestSlowMemoryKeepsEveryLaw(t *testing.T) {
	Run(t, func(*testing.T) Subject {
		return (&Disk{Name: "site", Sync: func() { time.Sleep(300 * time.Microsecond) }}).Subject()
	})
}

func TestHostileMemoryKeepsEveryLaw(t *testing.T) {
	Run(t, func(*testing.T) Subject {
		sub := (&Disk{Name: "site"}).Subject()
		open := sub.Open
		sub.Open = func(ctx context.Context) (store.Store, error) {
			s, err := open(ctx)
			return Hostile(s), err
		}
		sub.Crash = sub.Open
		return sub
	})
}

// What a subject cannot do is skipped, and nothing else.
func TestMissing(t *testing.T) {
	for _, law := range Laws() {
		if law.Missing(Subject{}) != law.Needs || law.Missing((&Disk{}).Subject()) != "" {
			t.Errorf("%s: needs %q", law.Name, law.Needs)
		}
	}
}

// The package's documentation lists the laws, in their order.
func TestDocListsTheLaws(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	rest := string(doc)
	for _, law := range Laws() {
		_, after, ok := strings.Cut(rest, "//   - "+law.Name+"\n")
		if !ok {
			t.Errorf("doc.go does not list %q, or not in its place", law.Name)
			continue
		}
		rest = after
	}
	if strings.Contains(rest, "//   - ") {
		t.Errorf("doc.go lists more: %s", rest)
	}
}

// An engine that goes on after a reply was lost must get nothing more to commit:
// the committer does not know where its log ends.
func TestNothingFollowsAnUnknownCommit(t *testing.T) {
	lively := engines(func(d *Disk, e *engine) {
		e.commit = func() error {
			err := e.batch.Commit()
			if err != nil {
				d.mu.Lock()
				defer d.mu.Unlock()
				d.opened-- // it lives
			}
			return err
		}
	})
	for range 10 {
		if err := wholeOrGone(t.Context(), lively()); err != nil {
			t.Fatal(err)
		}
	}
}
