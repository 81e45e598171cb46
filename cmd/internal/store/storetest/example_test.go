package storetest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/storetest"
)

// The reply to a commit is lost. The store has stopped; opened again, it tells
// what became of the update.
func ExampleDisk_Arm() {
	seen := func(tx store.Tx) error {
		tx.Put(store.LedgerPrefix+"n1", []byte("seen"))
		return nil
	}
	disk := &storetest.Disk{Name: "site"}
	s := disk.Open()
	disk.Arm(1, storetest.Replyless)
	_, err := s.Update(context.Background(), seen)
	_, unknown := errors.AsType[*store.Unknown](err)
	fmt.Println("unknown:", unknown)
	_ = s.Close()

	s = disk.Open()
	defer s.Close()
	_ = s.View(context.Background(), func(r store.Reader) error {
		val, _ := r.Get(store.LedgerPrefix + "n1")
		fmt.Printf("it is there: %s\n", val)
		return nil
	})
	// Output:
	// unknown: true
	// it is there: seen
}
