package bmc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/bmc"
)

const pin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

func TestEndpoint(t *testing.T) {
	const cert = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
	tests := []struct {
		e   bmc.Endpoint
		bad string // part of the reason; empty: it is good
	}{
		{bmc.Endpoint{URL: "https://10.0.0.7"}, ""},
		{bmc.Endpoint{URL: "https://10.0.0.7/"}, ""},
		{bmc.Endpoint{URL: "https://bmc7.example:8443"}, ""},
		{bmc.Endpoint{URL: "https://[fd00::7]:8443"}, ""},
		{bmc.Endpoint{URL: "ipmi://10.0.0.7:65535"}, ""},
		{bmc.Endpoint{}, "the URL is none"},
		{bmc.Endpoint{URL: "10.0.0.7"}, "the URL is none"},
		{bmc.Endpoint{URL: "//10.0.0.7"}, "the URL is none"},
		{bmc.Endpoint{URL: "https:10.0.0.7"}, "the URL is none"},
		{bmc.Endpoint{URL: "https://"}, "the URL is none"},
		{bmc.Endpoint{URL: "https://:443"}, "the URL is none"},
		{bmc.Endpoint{URL: "https://h:"}, "the URL is none"},
		{bmc.Endpoint{URL: "https://h:0"}, "the URL is none"},
		{bmc.Endpoint{URL: "https://h:65536"}, "the URL is none"},
		{bmc.Endpoint{URL: "https://h:http"}, "the URL is none"},
		{bmc.Endpoint{URL: "https://h\n"}, "the URL is none"},
		{bmc.Endpoint{URL: "https://" + strings.Repeat("h", 512)}, "the URL is none"},
		{bmc.Endpoint{URL: "https://root:hunter2@10.0.0.7"}, "holds a user"},
		{bmc.Endpoint{URL: "https://@10.0.0.7"}, "holds a user"},
		{bmc.Endpoint{URL: "https://h/redfish/v1"}, "more than scheme"},
		{bmc.Endpoint{URL: "https://h?"}, "more than scheme"},
		{bmc.Endpoint{URL: "https://h?a=b"}, "more than scheme"},
		{bmc.Endpoint{URL: "https://h#"}, "more than scheme"},
		{bmc.Endpoint{URL: "https://h#a"}, "more than scheme"},
		{bmc.Endpoint{URL: "https://h", System: strings.Repeat("s", 257)}, "selector"},
		{bmc.Endpoint{URL: "https://h", Trust: bmc.Trust{Pin: pin}}, ""},
		{bmc.Endpoint{URL: "https://h", Trust: bmc.Trust{CA: cert}}, ""},
		{bmc.Endpoint{URL: "https://h", Trust: bmc.Trust{FirstUse: true}}, ""},
		{bmc.Endpoint{URL: "https://h", Trust: bmc.Trust{Insecure: true}}, ""},
		{bmc.Endpoint{URL: "https://h", Trust: bmc.Trust{Pin: pin, Insecure: true}}, "more than one"},
		{bmc.Endpoint{URL: "https://h", Trust: bmc.Trust{FirstUse: true, CA: cert}}, "more than one"},
		{bmc.Endpoint{URL: "https://h", Trust: bmc.Trust{CA: "/etc/ca.pem"}}, "no PEM"},
		{bmc.Endpoint{URL: "https://h", Trust: bmc.Trust{CA: cert + strings.Repeat(" ", 64<<10)}}, "over 64 KiB"},
		{bmc.Endpoint{URL: "https://h", Trust: bmc.Trust{Pin: "AAAA"}}, "the pin is none"},
		{bmc.Endpoint{URL: "https://h", Trust: bmc.Trust{Pin: "sha256/AAAA"}}, "the pin is none"},
		{bmc.Endpoint{URL: "https://h", Trust: bmc.Trust{Pin: pin + "\n"}}, "the pin is none"},
		{bmc.Endpoint{URL: "https://h", Trust: bmc.Trust{Pin: strings.Replace(pin, "A=", "B=", 1)}}, "the pin is none"}, // bits beyond the digest
		{bmc.Endpoint{URL: "https://h", Trust: bmc.Trust{Pin: strings.Replace(pin, "sha256", "sha1", 1)}}, "the pin is none"},
	}
	for _, tt := range tests {
		err := tt.e.Validate()
		e, ok := errors.AsType[*bmc.Error](err)
		switch {
		case tt.bad == "":
			if err != nil {
				t.Errorf("%+.80v: %v", tt.e, err)
			}
		case !ok || e.Kind != bmc.InvalidOption || e.Sent != bmc.SentNo || e.Do == "" || !strings.Contains(e.Why, tt.bad):
			t.Errorf("%+.80v: %v, want %q", tt.e, err, tt.bad)
		case strings.Contains(err.Error(), "hunter2"):
			t.Errorf("the refusal repeats what may be a password: %v", err)
		}
	}
}
