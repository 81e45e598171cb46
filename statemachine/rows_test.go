package statemachine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
	"pgregory.net/rapid"
)

// rows writes a spec's rules as the matrix that a patient person would write:
// a row a rule, with every state in which the rule decides.
func rows(s plain) (out []statemachinetest.Row) {
	for _, r := range s.Rules {
		var from []string
		for _, st := range s.States {
			named := slices.ContainsFunc(s.Rules, func(o plainRule) bool { return o.On == r.On && slices.Contains(o.From, st.Name) })
			if slices.Contains(r.From, st.Name) || r.From == nil && !named {
				from = append(from, st.Name)
			}
		}
		want := r.To + string(r.Refuse)
		if r.Stay {
			want = statemachinetest.Stay
		}
		out = append(out, statemachinetest.Row{strings.Join(from, " "), r.On, condition(s, r.When), want, r.Req})
	}
	return out
}

// condition writes a When as a row does.
func condition(s plain, w when) string {
	var parts []string
	for bit, name := range s.Guards {
		switch g := statemachine.Guard(1) << bit; {
		case w.If&g != 0:
			parts = append(parts, name)
		case w.Not&g != 0:
			parts = append(parts, "not "+name)
		}
	}
	return strings.Join(parts, ", ")
}

// A matrix that says the same as the rules finds no difference, whatever the
// rules are.
func TestMatrixOfDrawnTablesAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t)
		if diff := statemachinetest.Diff(statemachine.Must(s), rows(s)); len(diff) > 0 {
			t.Fatalf("%d differences, first %s", len(diff), diff[0])
		}
	})
}

// A matrix in which one column of one row is wrong finds it.
func TestMatrixOfDrawnTablesDiffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t)
		matrix := rows(s)
		row := &matrix[rapid.IntRange(0, len(matrix)-1).Draw(t, "row")]
		column := rapid.IntRange(0, len(row)-1).Draw(t, "column")
		was := row[column]
		switch column {
		case 0:
			row[0] = rapid.SampledFrom(s.States).Draw(t, "state").Name
		case 1:
			row[1] = rapid.SampledFrom(s.Rules).Draw(t, "rule").On
		case 2:
			row[2] = rapid.SampledFrom([]string{"", "free", "not free", "a", "not b, loose"}).Draw(t, "condition")
		case 3:
			row[3] = rapid.SampledFrom([]string{"stay", "s0", "s1", "CONFLICT", "NOT_FOUND"}).Draw(t, "outcome")
		case 4:
			row[4] += "x"
		}
		if row[column] == was || column == 3 && selfMove(*row, was) {
			return
		}
		if len(statemachinetest.Diff(statemachine.Must(s), matrix)) == 0 {
			t.Fatalf("column %d was %q; %q went unnoticed", column, was, *row)
		}
	})
}

// selfMove reports whether a row says stay for its only state in two ways.
func selfMove(row statemachinetest.Row, was string) bool {
	return row[3] == row[0] && was == statemachinetest.Stay || row[3] == statemachinetest.Stay && was == row[0]
}
