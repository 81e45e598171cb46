package config

import "testing"

// The first rule that fits a BMC's host says its booter; a name is never taken for an
// address, nor a part of a name for a domain.
func TestBooterOfABMC(t *testing.T) {
	c, err := Parse("f", []byte(`bmc: {through: ["10.9.1.0/24=one", "10.9.0.0/16=two", ".Rack7.Example=seven", "2001:db8::/32=six"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{
		"10.9.1.7": "one", "10.9.2.7": "two", "::ffff:10.9.2.7": "two", "10.10.0.1": "", "2001:db8::7": "six", "2001:db9::7": "",
		"a.rack7.example": "seven", "A.B.RACK7.EXAMPLE.": "seven", "rack7.example": "seven", "xrack7.example": "", "rack7.example.com": "", "": "",
	} {
		if got := c.BMC.By(host); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
}
