package storetest

import "testing"

func TestMemoryKeepsEveryLaw(t *testing.T) {
	Run(t, func(*testing.T) Subject { return (&Disk{Name: "site"}).Subject() })
}
