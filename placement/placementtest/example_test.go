package placementtest_test

import (
	"fmt"

	"github.com/ingotmetal/ingot/placement/placementtest"
)

// A path that looks at the tenant and forgets the cordon is caught.
func ExampleLaw_Check() {
	careless := func(c placementtest.Case) bool {
		tenants, others := c.Dedications()
		return others == 0 && len(tenants) == 1 && tenants[0] == c.Tenant
	}
	for _, law := range placementtest.Laws() {
		if err := law.Check(careless); err != nil {
			fmt.Println(law.Name)
		}
	}
	// Output:
	// an open node lets everyone through
	// a hold keeps everyone out
	// whole-node leases look at dedications alone
}
