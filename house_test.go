package ingot_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"
)

// A law is one promise about the whole tree. It returns every place where the
// promise is broken.
type law struct {
	name  string
	check func(*tree) []finding
}

// laws are what holds the house together. Each is judged on the house itself,
// and on planted trees that break it.
var laws = []law{
	{"core-imports", coreImports},
	{"core-calls", coreCalls},
	{"statements", statements},
	{"assignments", assignments},
	{"error-codes", errorCodes},
	{"families", familyImports},
	{"third-parties", thirdParties},
	{"kits", kits},
	{"examples", exampleImports},
	{"daemons", daemonCalls},
	{"lengths", lengths},
	{"package-docs", packageDocs},
	{"example-functions", exampleFunctions},
	{"licence", licence},
	{"links", links},
	{"own-words", ownWords},
	{"requirements", requirements},
	{"decided", decisions},
}

// TestHouse judges every law on the tree around this file.
func TestHouse(t *testing.T) {
	house, err := load(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) {
			for _, f := range l.check(house) {
				t.Error(f)
			}
		})
	}
}

// planted is where the trees live that break laws: for each law one txtar
// archive named for it, perhaps with a suffix, that holds offences and their
// innocent neighbours. A line of its comment that begins with "want: " is a
// part of one finding.
const planted = "testdata/house"

// TestLawsCanFail hands each law the trees that break it: it makes the
// findings that the tree announces, in order, and no other.
func TestLawsCanFail(t *testing.T) {
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) {
			archives, err := filepath.Glob(filepath.Join(planted, l.name+"*.txtar"))
			if err != nil || len(archives) == 0 {
				t.Fatalf("no planted tree breaks this law (%v)", err)
			}
			for _, a := range archives {
				house, want := plant(t, a)
				if len(want) == 0 {
					t.Errorf("%s breaks nothing", a)
				}
				compare(t, l.check(house), want)
			}
		})
	}
}

// TestSoundHouse hands all laws a small house with every kind of room in it,
// which breaks none.
func TestSoundHouse(t *testing.T) {
	house, _ := plant(t, filepath.Join(planted, "sound.txtar"))
	for _, l := range laws {
		compare(t, l.check(house), nil)
	}
}

// compare demands that each finding contains its announcement.
func compare(t *testing.T, got []finding, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(want):
			t.Errorf("not announced: %s", got[i])
		case i >= len(got):
			t.Errorf("not found: %s", want[i])
		case !strings.Contains(got[i].String(), want[i]):
			t.Errorf("found %s\nwant  %s", got[i], want[i])
		}
	}
}

// unsaid spells the words that no file of the project may hold, where a planted
// tree holds them.
var unsaid = strings.NewReplacer("{beside}", ".."+"/shared", "{place}", "/wo"+"rk/x", "{host}", "proxy"+".golang.org")

// plant reads an archive: its tree, and the findings it announces.
func plant(t *testing.T, name string) (*tree, []string) {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for _, f := range archive.Files {
		files[f.Name] = &fstest.MapFile{Data: []byte(unsaid.Replace(string(f.Data)))}
	}
	house, err := load(files)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(archive.Comment)) {
		if w, ok := strings.CutPrefix(line, "want: "); ok {
			want = append(want, strings.TrimSpace(w))
		}
	}
	return house, want
}

// TestCodesAreThoseOfAPI3 keeps the list of codes and the requirement that
// defines them from drifting apart.
func TestCodesAreThoseOfAPI3(t *testing.T) {
	text, err := os.ReadFile(behaviour)
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^- API-3 (.*?)\(D:`).FindStringSubmatch(string(text))
	if line == nil {
		t.Fatal("API-3 is not where it was")
	}
	got := regexp.MustCompile(`\b[A-Z]+_?[A-Z]{4,}\b`).FindAllString(line[1], -1)
	slices.Sort(got)
	if want := slices.Sorted(slices.Values(codes)); !slices.Equal(got, want) {
		t.Errorf("API-3 has %v, the law %v", got, want)
	}
}
