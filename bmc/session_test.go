package bmc_test

import (
	"context"
	"testing"

	"github.com/ingotmetal/ingot/bmc"
)

// plain can do nothing; listed has a feature beside it; around passes on.
type (
	plain  struct{}
	listed struct{ plain }
	around struct{ bmc.Session }
	closed struct{ bmc.Session } // wraps, and does not say so
)

func (plain) Probe(context.Context) (bmc.Probed, error)          { return bmc.Probed{}, nil }
func (plain) Close(context.Context) error                        { return nil }
func (listed) Firmware(context.Context) ([]bmc.Component, error) { return nil, nil }
func (a around) Unwrap() bmc.Session                             { return a.Session }

// loud overrides what it wraps.
type loud struct{ around }

func (loud) Firmware(context.Context) ([]bmc.Component, error) {
	return []bmc.Component{{ID: "loud"}}, nil
}

func TestAs(t *testing.T) {
	tests := []struct {
		name string
		s    bmc.Session
		want bool
	}{
		{"nothing", nil, false},
		{"it lacks it", plain{}, false},
		{"it has it", listed{}, true},
		{"what it wraps has it", around{listed{}}, true},
		{"two deep", around{around{listed{}}}, true},
		{"a wrapper of one that lacks it", around{plain{}}, false},
		{"a wrapper of nothing", around{}, false},
		{"a wrapper that does not unwrap", closed{listed{}}, false},
		{"one in a wrapper", around{closed{listed{}}}, false},
	}
	for _, tt := range tests {
		if _, ok := bmc.As[bmc.Firmware](tt.s); ok != tt.want {
			t.Errorf("%s: %v", tt.name, ok)
		}
	}
	f, ok := bmc.As[bmc.Firmware](loud{around{listed{}}})
	if !ok {
		t.Fatal("not found")
	}
	if list, _ := f.Firmware(t.Context()); len(list) != 1 {
		t.Error("the inner one is found before the outer one")
	}
}

func TestStands(t *testing.T) {
	pxe := bmc.BootState{Target: bmc.BootPXE, Life: bmc.Once, Mode: bmc.UEFI}
	uri := bmc.BootState{Target: bmc.BootURI, Life: bmc.Once, URI: "http://h/a"}
	tests := []struct {
		s    bmc.BootSpec
		b    bmc.BootState
		want bool
	}{
		{bmc.BootSpec{Target: bmc.BootPXE}, pxe, true},
		{bmc.BootSpec{Target: bmc.BootPXE, Life: bmc.Once}, pxe, true},
		{bmc.BootSpec{Target: bmc.BootPXE, Life: bmc.Once, Mode: bmc.UEFI}, pxe, true},
		{bmc.BootSpec{Target: bmc.BootPXE, Life: bmc.Persistent}, pxe, false},
		{bmc.BootSpec{Target: bmc.BootPXE}, bmc.BootState{Target: bmc.BootPXE, Life: bmc.Persistent}, false},
		{bmc.BootSpec{Target: bmc.BootPXE, Mode: bmc.Legacy}, pxe, false},
		{bmc.BootSpec{Target: bmc.BootPXE, Mode: bmc.UEFI}, bmc.BootState{Target: bmc.BootPXE, Life: bmc.Once}, false},
		{bmc.BootSpec{Target: bmc.BootDisk}, pxe, false},
		{bmc.BootSpec{Target: bmc.BootURI, URI: "http://h/a"}, uri, true},
		{bmc.BootSpec{Target: bmc.BootURI, URI: "http://h/b"}, uri, false},
		{bmc.BootSpec{Target: bmc.BootURI}, uri, true},
		{bmc.BootSpec{Target: bmc.BootNone}, bmc.BootState{Target: bmc.BootNone}, true},
		{bmc.BootSpec{Target: bmc.BootNone}, pxe, false},
		{bmc.BootSpec{Target: bmc.BootPXE}, bmc.BootState{Target: bmc.BootNone}, false},
	}
	for _, tt := range tests {
		if got := tt.s.Stands(tt.b); got != tt.want {
			t.Errorf("%+v of %+v: %v", tt.s, tt.b, got)
		}
	}
}
