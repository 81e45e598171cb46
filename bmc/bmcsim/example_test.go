package bmcsim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/bmc/bmcsim"
	"github.com/ingotmetal/ingot/bmc/bmcsim/trees"
)

// A test starts a BMC of a recorded machine, here one that reads On for a while after it
// was turned off, and asks it as any BMC.
func Example() {
	raw, err := trees.Read("dell-r750-idrac9-6.00")
	if err != nil {
		log.Fatal(err)
	}
	tree, err := bmcsim.ParseTree("r750", bytes.NewReader(raw))
	if err != nil {
		log.Fatal(err)
	}
	late, err := bmcsim.FindQuirk("off-is-late")
	if err != nil {
		log.Fatal(err)
	}
	o := bmcsim.Options{Auth: bmcsim.Auth{User: "root", Password: "calvin"}}.With(late)
	o.Power.OffTakes = 50 * time.Millisecond // the quirk's eight seconds are long for an example
	b, err := bmcsim.New(tree, o)
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(b)
	defer func() {
		server.Close()
		_ = b.Close() // there are no files of images to remove
	}()

	const system = "/redfish/v1/Systems/System.Embedded.1"
	ask := func(method, path, body string) *http.Response {
		req, err := http.NewRequest(method, server.URL+path, strings.NewReader(body))
		if err != nil {
			log.Fatal(err)
		}
		req.SetBasicAuth("root", "calvin")
		resp, err := server.Client().Do(req)
		if err != nil {
			log.Fatal(err)
		}
		return resp
	}
	read := func() string {
		resp := ask(http.MethodGet, system, "")
		defer resp.Body.Close()
		var s struct{ PowerState string }
		if err := json.NewDecoder(resp.Body).Decode(&s); err != nil {
			log.Fatal(err)
		}
		return s.PowerState
	}

	resp := ask(http.MethodPost, system+"/Actions/ComputerSystem.Reset", `{"ResetType":"ForceOff"}`)
	_ = resp.Body.Close()
	fmt.Println(resp.StatusCode, read())
	for read() != "Off" {
	}
	fmt.Println(read(), b.Stats().Resets)
	// Output:
	// 204 On
	// Off map[ForceOff:1]
}
