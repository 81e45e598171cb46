package bmctest

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// A State is what came of a law.
type State string

// The states.
const (
	Kept   State = "kept"
	Broken State = "broken"
	NotRun State = "not-run" // Why says what is missing
)

// A Result is what came of one law in one scene.
type Result struct {
	Law   Law
	Scene Scene
	State State
	Why   string
	Took  time.Duration
}

// A Report is what came of all.
type Report struct {
	Driver  bmc.Info
	Results []Result
}

// Count is how many results are in a state.
func (r Report) Count(s State) int {
	n := 0
	for _, one := range r.Results {
		if one.State == s {
			n++
		}
	}
	return n
}

// OK reports whether no law is broken and at least one was kept.
func (r Report) OK() bool { return r.Count(Broken) == 0 && r.Count(Kept) > 0 }

// Text writes a line for each result, the broken ones with what was seen, and a
// sum.
func (r Report) Text(w io.Writer) error {
	for _, one := range r.Results {
		if _, err := fmt.Fprintln(w, one); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s: %d kept, %d broken, %d not run\n", r.Driver.Name, r.Count(Kept), r.Count(Broken), r.Count(NotRun))
	return err
}

// String is the result's line.
func (r Result) String() string {
	s := fmt.Sprintf("%-7s %s %s", r.State, r.Law.Level, r.Law.title(r.Scene))
	if r.Why != "" {
		s += ": " + bmc.Quote(r.Why)
	}
	return s
}

// A row is a result in JSON.
type row struct {
	Number int     `json:"number"`
	Level  Level   `json:"level"`
	Law    string  `json:"law"`
	Scene  Scene   `json:"scene,omitempty"`
	State  State   `json:"state"`
	Why    string  `json:"why,omitempty"`
	Took   float64 `json:"seconds"`
}

// JSON writes the report as one document.
func (r Report) JSON(w io.Writer) error {
	rows := make([]row, 0, len(r.Results))
	for _, one := range r.Results {
		rows = append(rows, row{one.Law.Number, one.Law.Level, one.Law.Name, one.Scene, one.State, one.Why, one.Took.Seconds()})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{
		"driver": r.Driver.Name, "protocols": r.Driver.Protocols, "declares": r.Driver.Declares,
		"kept": r.Count(Kept), "broken": r.Count(Broken), "notRun": r.Count(NotRun), "laws": rows,
	})
}

// What CI systems read as JUnit.
type (
	suite struct {
		XMLName  xml.Name `xml:"testsuite"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Cases    []kase   `xml:"testcase"`
	}
	kase struct {
		Class   string `xml:"classname,attr"`
		Name    string `xml:"name,attr"`
		Time    string `xml:"time,attr"`
		Failure *words `xml:"failure,omitempty"`
		Skipped *words `xml:"skipped,omitempty"`
	}
	words struct {
		Message string `xml:"message,attr"`
	}
)

// JUnit writes the report as a JUnit test suite.
func (r Report) JUnit(w io.Writer) error {
	s := suite{Name: "bmc conformance: " + r.Driver.Name, Tests: len(r.Results), Failures: r.Count(Broken), Skipped: r.Count(NotRun)}
	for _, one := range r.Results {
		c := kase{Class: "bmctest." + string(one.Law.Level), Name: one.Law.title(one.Scene), Time: fmt.Sprintf("%.3f", one.Took.Seconds())}
		switch one.State {
		case Broken:
			c.Failure = &words{bmc.Quote(one.Why)}
		case NotRun:
			c.Skipped = &words{one.Why}
		}
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
