package vmlab

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An Ending is what came of a cut.
type Ending struct {
	Cut
	How     string  `json:"how"`             // in order: what the site said of each attempt, and its end
	Error   string  `json:"error,omitempty"` // "": it ended right
	Seconds float64 `json:"seconds"`
}

// endingsFile is where endings are kept in a folder.
const endingsFile = "cuts.json"

func readEndings(dir string) (map[uint64]Ending, error) {
	all := map[uint64]Ending{}
	raw, err := os.ReadFile(filepath.Join(dir, endingsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	var list []Ending
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		return nil, &Invalid{filepath.Join(dir, endingsFile) + " (" + err.Error() + ")", "what an earlier run left, or remove it"}
	}
	for _, e := range list {
		all[e.Seed] = e
	}
	return all, nil
}

func writeEndings(dir string, all map[uint64]Ending) error {
	raw, err := json.MarshalIndent(sorted(all), "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, endingsFile)
	if err := os.WriteFile(path+".new", append(raw, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func sorted(all map[uint64]Ending) (out []Ending) {
	for _, e := range all {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Ending) int { return cmp.Compare(a.Seed, b.Seed) })
	return out
}

// EndingTable lists endings.
func EndingTable(all []Ending) string {
	var b strings.Builder
	right := 0
	for _, e := range all {
		how := "right   "
		if e.Error != "" {
			how = "FAILED  "
		} else {
			right++
		}
		fmt.Fprintf(&b, "%4d  %s %4.0f s  %s\n                   %s\n", e.Seed, how, e.Seconds, e.Cut, e.How)
	}
	fmt.Fprintf(&b, "%d cuts, %d right endings\n", len(all), right)
	return b.String()
}
