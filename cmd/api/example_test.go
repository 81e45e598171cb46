package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/ingotmetal/ingot/cmd/api"
)

// A server that refuses says by a code what went wrong, and what to do.
func ExampleOp_Call() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"code":"CONFLICT","detail":"another attempt holds the machine","holder":{"holder":"setup","state":"setting_up","epoch":4}}`)
	}))
	defer server.Close()
	client := &api.Client{Base: server.URL, Credential: api.Bearer(func() string { return "from a file" })}

	in := &api.RegistrationChange{RegistrationRef: api.RegistrationRef{Server: "6f1f5e9a-3c0e-4a52-9c3a-2f0f5a1c9b11"}}
	_, err := api.RegistrationDisable.Call(context.Background(), client, in)
	if p, ok := errors.AsType[*api.Problem](err); ok {
		fmt.Println(p.Code(), "held by", p.Holder.Holder)
	}
	// Output: CONFLICT held by setup
}

// A command line is made from the fields of each operation.
func ExampleFields() {
	for _, f := range api.Fields(api.OperatorAdd) {
		fmt.Println(f.In, f.Name, f.Shape, f.Required, f.Secret)
	}
	// Output:
	// query version uint false false
	// query reason string false false
	// query dry_run bool false false
	// header Idempotency-Key string false false
	// body name string true false
	// body password string true true
}
