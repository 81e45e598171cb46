package imagebuild

import "fmt"

// Invalid reports an input that no image can be made of.
type Invalid struct{ What, Got, Want string }

// Error says what was wanted.
func (e *Invalid) Error() string {
	return fmt.Sprintf("imagebuild: the %s: got %.200s, %s", e.What, e.Got, e.Want)
}

// Code is the error's wire name (API-3).
func (*Invalid) Code() string { return "INVALID_INPUT" }
