package keys_test

import (
	"fmt"
	"time"

	"github.com/ingotmetal/ingot/identity/keys"
)

// A key is made from entropy, shown once, and from then on checked against its
// hash.
func ExampleNewKey() {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	secret, _ := keys.NewSecret(keys.APIKey, [keys.SecretSize]byte{1}) // from crypto/rand
	key, _ := keys.NewKey(secret, keys.Booter, "", 0, now)
	fmt.Println(key.ID, secret)

	presented, _ := keys.ParseSecret(secret.Show())
	fmt.Println(key.Check(presented, 0), key.Caller().Scope)
	fmt.Println(key.Revoke(now).Check(presented, 0))
	// Output:
	// key_fw9n3y6kvk03z9xe [redacted]
	// <nil> booter
	// keys: key key_fw9n3y6kvk03z9xe was revoked
}

// An agent's key reaches its own node. A denial says who may.
func ExampleCaller_Authorize() {
	key := keys.Caller{Scope: keys.Agent, Node: "node_a"}
	fmt.Println(key.Authorize(keys.AgentRefresh, "node_a"))
	fmt.Println(key.Authorize(keys.AgentRefresh, "node_b"))
	fmt.Println(keys.Caller{Scope: keys.ReadOnly}.Authorize(keys.NodesPower, "node_a"))
	// Output:
	// <nil>
	// keys: a key of scope "agent" may do agent:registration:refresh on its own node only (REG-15)
	// keys: a key of scope "read_only" may not do compute:nodes:power: held by operator, full (API-4)
}

// A setup's three ticket keys sign and check for themselves alone.
func ExampleMintTickets() {
	tickets, _ := keys.MintTickets([keys.TicketsPerSetup][keys.SecretSize]byte{{1}, {2}, {3}})
	mac, _ := tickets[0].Sign([]byte("header.payload"))
	fmt.Println(tickets[0].Verify([]byte("header.payload"), mac[:]))
	fmt.Println(tickets[1].Verify([]byte("header.payload"), mac[:]))
	// Output:
	// true
	// false
}
