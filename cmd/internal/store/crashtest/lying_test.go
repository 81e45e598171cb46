package crashtest

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// half says of every second sync of the database that it was only pretended.
func half(draw *rand.Rand, name string) bool { return name == dbFile && draw.IntN(2) == 0 }

// finder says what refused an image.
func finder(err error) string {
	for _, by := range []struct{ part, who string }{
		{"the file is damaged", "the walk over the pages"},
		{"the file cannot be opened", "bbolt as it opens"},
		{"contradict each other", "bbolt's Check"},
		{"the log is not whole", "the chain"},
		{"the file lost acknowledged", "the mark"},
		{"though its mark names revision", "the mark"},
		{"the file does not say what it is", "the store's own rows"},
		{"is no store of ours", "the store's own rows"},
	} {
		if strings.Contains(err.Error(), by.part) {
			return by.who
		}
	}
	return "something new: " + err.Error()
}

// TestALyingDisk is the control: with a disk that pretends half of the syncs, images
// must be found bad, and none may be served that lacks a revision which its mark
// names. What nothing finds are rows in which the writes of several commits are
// mixed: bbolt keeps no checksum of what lies in its pages. They are counted.
func TestALyingDisk(t *testing.T) {
	r := recorded(t, 3, 4, 12)
	truth := r.truth(t)
	for name, tidy := range map[string]bool{"the mark has all that was written to it": true, "the mark has what was synced": false} {
		sum := r.judge(t, truth, either(2, 20), half, tidy)
		t.Logf("%s: %d images, seed %d: %d refused by %v; %d served as they should be", name, sum.images, seed(t), sum.refused, sum.why, sum.served)
		t.Logf("served all the same: %d that end before an acknowledged revision, %d before one that the synced mark names, %d with rows mixed, of which Verify finds %d", sum.behind, sum.behindMark, sum.mixed, sum.mixedFound)
		if sum.refused == 0 {
			t.Error("no image was found bad: the campaign proves nothing")
		}
		if sum.behindMark > 0 || tidy && sum.behind > 0 {
			t.Error("images are served that lack what their mark names")
		}
		if !tidy && sum.behind == 0 {
			t.Error("no image lost anything: the control is none")
		}
	}
}
