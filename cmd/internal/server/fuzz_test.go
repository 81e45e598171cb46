package server

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// coded reports whether err is nil or has a code of API-3.
func coded(err error) bool {
	if err == nil {
		return true
	}
	c, ok := err.(interface{ Code() string })
	return ok && api.Status(c.Code()) != 500
}

// Whatever a machine says of itself is either refused with a code, or an inventory
// that a step takes or refuses with a code, and that reads the same twice.
func FuzzSysinfo(f *testing.F) {
	f.Add([]byte(`{"uuid":"6b1f2c3d-0001-4000-8000-000000000001","nics":[{"mac":"02:00:00:00:00:01"}],"disks":[{"name":"sda","serial":"S","size":1073741824,"logical_sector":512,"physical_sector":512}]}`))
	f.Add([]byte(`{"nics":null,"disks":[{"name":"","size":-1}]}`))
	f.Add([]byte(`{"nics":[{"mac":"02:00:00:00:00:01"},{"mac":"02:00:00:00:00:01"}],"disks":[],"uuid":null}`))
	server, err := registration.ParseServerID("6b1f2c3d-0001-4000-8000-000000000001")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := parseSysinfo(raw, server)
		if !coded(err) {
			t.Fatalf("no code: %v", err)
		}
		b, again := parseSysinfo(raw, server)
		if (err == nil) != (again == nil) || !reflect.DeepEqual(a, b) {
			t.Fatal("it reads otherwise a second time")
		}
		if err != nil {
			return
		}
		if !json.Valid(raw) {
			t.Fatal("it is no JSON")
		}
		in := lifecycle.Announce{NewID: "node_00000000000000000000000001", Routing: server, Server: server, Inventory: a.Inventory}
		if _, err := lifecycle.Step(lifecycle.State{Node: lifecycle.Fresh()}, in, time.Unix(1e9, 0)); !coded(err) {
			t.Fatalf("no code: %v", err)
		}
	})
}

// Whatever is asked for as a policy is refused with a code, or is shown as it was
// asked for, and reads back as it was set.
func FuzzPolicy(f *testing.F) {
	f.Add([]byte(`{"auto_enroll":true,"network":"10.0.0.0/24","gateway":"10.0.0.1","exclude":["10.0.0.7"],"enrollment_image":"enrol","allow":["02:00:00","TAG7"],"deadlines":{"deploying":"90m"}}`))
	f.Add([]byte(`{"network":"::/0","server":"fe80::1%eth0","exclude":["::ffff:10.0.0.1"],"rescue_image":"../x"}`))
	f.Add([]byte(`{"network":"10.0.0.0/0","max_unapproved":9223372036854775807,"allow":[""]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var v api.Policy
		if json.Unmarshal(raw, &v) != nil {
			return
		}
		p, err := parsePolicy(&v)
		if !coded(err) {
			t.Fatalf("no code: %v", err)
		}
		if err != nil {
			return
		}
		out, err := lifecycle.Step(lifecycle.State{Node: lifecycle.Fresh()}, lifecycle.SetPolicy{Call: lifecycle.Call{By: "ada"}, Policy: p}, time.Unix(1e9, 0))
		if !coded(err) {
			t.Fatalf("no code: %v", err)
		}
		if err != nil {
			return
		}
		shown := policyView(out.Next.Site.Policy)
		again, err := parsePolicy(&shown)
		if err != nil || !reflect.DeepEqual(policyView(again), shown) {
			t.Fatalf("%+v is shown, which reads as %+v, %v", shown, again, err)
		}
	})
}
