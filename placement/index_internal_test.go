package placement

import (
	"fmt"
	"testing"
)

// Tenants that come and go leave no memory behind.
func TestIndexForgetsTenants(t *testing.T) {
	var x Index
	for i := range 1000 {
		if err := x.Set(i%3, Node{Dedications: 1, Tenant: Tenant(fmt.Sprint("t", i))}); err != nil {
			t.Fatal(err)
		}
	}
	if len(x.own) != 3 {
		t.Errorf("%d tenants are kept for 3 nodes", len(x.own))
	}
	for slot := range 3 {
		x.Drop(slot)
	}
	if len(x.own) != 0 {
		t.Errorf("%d tenants are kept for no node", len(x.own))
	}
}
