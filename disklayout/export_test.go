package disklayout

// AllReasons are those that a refusal can have.
func AllReasons() []Reason {
	var out []Reason
	for r := range rules {
		out = append(out, r)
	}
	return out
}
