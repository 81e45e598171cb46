package cli

import "github.com/spf13/cobra"

// ukiFlags are those of a unified kernel image.
type ukiFlags struct{}

func (u *ukiFlags) declare(*cobra.Command) {}
