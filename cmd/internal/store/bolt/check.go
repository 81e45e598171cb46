package bolt

import "os"

// checkFile looks at the pages of a file.
func checkFile(f *os.File) error { return nil }
