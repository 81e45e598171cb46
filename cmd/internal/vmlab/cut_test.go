package vmlab

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A seed draws the same cut always. Over many seeds every victim and every moment comes,
// the machine about as often as both daemons.
func TestCutOfASeed(t *testing.T) {
	victims, at := map[string]int{}, map[string]int{}
	for seed := uint64(1); seed <= 1000; seed++ {
		c := cutOf(seed)
		if c != cutOf(seed) || c.Seed != seed || c.After < 0 || c.After >= 20*time.Second || c.Away < 0 || c.Away >= 15*time.Second {
			t.Fatalf("%+v", c)
		}
		victims[c.Victim]++
		at[c.At]++
	}
	if len(victims) != 3 || victims[machine] < 400 || victims[machine] > 600 || victims[ingotd] < 150 || victims[booterd] < 150 {
		t.Errorf("%v", victims)
	}
	if len(at) != 9 || at[": image"] < 200 {
		t.Errorf("%v", at)
	}
}

// A moment that is passed unseen is reached by a later one.
func TestReached(t *testing.T) {
	for at, want := range map[string]string{
		": table":           ": table|: verify|the setup is complete|Restarting system",
		": image":           ": image|: format|: table|: verify|the setup is complete|Restarting system",
		"Restarting system": "Restarting system",
	} {
		if got := strings.Join(Cut{At: at}.reached(), "|"); got != want {
			t.Errorf("%s: %s", at, got)
		}
	}
}

// Endings last in a folder, and what is no list of them is refused and left there.
func TestEndingsAreKept(t *testing.T) {
	dir := t.TempDir()
	all, err := readEndings(dir)
	if err != nil || len(all) != 0 {
		t.Fatal(all, err)
	}
	for _, e := range []Ending{{Cut: cutOf(2), How: "attempt 1 ended right", Seconds: 90}, {Cut: cutOf(1), Error: "no"}} {
		all[e.Seed] = e
	}
	if err := writeEndings(dir, all); err != nil {
		t.Fatal(err)
	}
	again, err := readEndings(dir)
	if err != nil || len(again) != 2 || again[2] != all[2] || again[1] != all[1] {
		t.Errorf("%+v, %v", again, err)
	}
	if table := EndingTable(sorted(again)); !strings.Contains(table, "2 cuts, 1 right endings") || strings.Index(table, "FAILED") > strings.Index(table, "right ") {
		t.Error(table)
	}
	file := filepath.Join(dir, endingsFile)
	if err := os.WriteFile(file, []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readEndings(dir); !invalid(err) {
		t.Errorf("%v", err)
	}
	if raw, err := os.ReadFile(file); err != nil || string(raw) != "[{" {
		t.Errorf("%q, %v", raw, err)
	}
}

func invalid(err error) bool { _, ok := errors.AsType[*Invalid](err); return ok }

// A new lab has a folder of its own beside those that are there.
func TestNewFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cuts")
	for _, want := range []string{"lab1", "lab2"} {
		got, err := newFolder(dir)
		if err != nil || got != filepath.Join(dir, want) {
			t.Errorf("%s, %v", got, err)
		}
		if err := os.Mkdir(got, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// What is no way of booting is refused before a folder is made.
func TestCutsOnNoWay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cuts")
	if _, err := Cuts(t.Context(), Options{}, dir, "floppy", 1, 1); !invalid(err) || !strings.Contains(err.Error(), "bios-ipxe") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder is there")
	}
}
