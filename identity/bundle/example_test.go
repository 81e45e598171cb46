package bundle_test

import (
	"fmt"

	"github.com/ingotmetal/ingot/identity/bundle"
)

// An agent makes its key at boot and announces the hash of the public half. What
// the control plane sealed to it opens for its own server and setup_epoch alone.
func ExamplePrivateKey_Open() {
	key, _ := bundle.NewPrivateKey([bundle.KeySize]byte{7}) // from crypto/rand
	fmt.Printf("announce %.8x\n", key.Public().Hash())

	b, err := key.Open(server, 7, sealed)
	fmt.Println(b.Key.ID(), b.Key, err)
	_, err = key.Open(server, 8, sealed)
	fmt.Println(err)
	// Output:
	// announce 233ced774423c7a7
	// key_fw9n3y6kvk03z9xe [redacted] <nil>
	// bundle: the sealed bundle was sealed to another key, server or setup_epoch, or was altered; end this setup and announce again (SET-17)
}
