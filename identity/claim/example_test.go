package claim_test

import (
	"fmt"
	"time"

	"github.com/ingotmetal/ingot/identity/claim"
)

// An agent prints a code, an operator types it, and the row is approved.
func Example() {
	key, _ := claim.NewSiteKey([claim.SiteKeySize]byte{1}) // from the site's secrets
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

	code := claim.New([claim.EntropySize]byte{0x3c, 0xc6, 0x9b, 0xbc}) // from crypto/rand
	row := key.Issue(code, now)
	fmt.Println("printed by fmt:", code)
	fmt.Println("shown by the agent:", code.Show())

	typed, _ := claim.Parse(" 7k3 9qf ")
	verdict, err := row.Check(key.Hash(typed), "ann", now.Add(time.Minute))
	fmt.Println(verdict, err)
	// Output:
	// printed by fmt: [redacted]
	// shown by the agent: 7K3-9QF
	// approves <nil>
}

// After twenty wrong codes an operator waits until the first one is an hour old.
func ExampleLedger() {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var tries claim.Ledger
	for range claim.DefaultPerOperator {
		tries, _ = tries.Count(claim.Limits{}, "ann", now)
	}
	fmt.Println(tries.Allow(claim.Limits{}, "ann", now.Add(time.Minute)))
	fmt.Println(tries.Allow(claim.Limits{}, "bob", now.Add(time.Minute)))
	// Output:
	// claim: 20 wrong claim codes by operator "ann"; try again at 2026-05-01T13:00:00Z (REG-5)
	// <nil>
}
