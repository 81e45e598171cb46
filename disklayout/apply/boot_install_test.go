package apply_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ingotmetal/ingot/disklayout/apply"
)

// A boot program that is not the plan's costs no byte of the disk.
func TestBootRefusals(t *testing.T) {
	body, name := uefi(9000)
	other, otherName := uefi(9001)
	text, textName := content(5000)
	broken := errors.New("the line is broken")
	arm := bytes.Clone(body)
	arm[0x44], arm[0x45] = 0x4c, 0x01 // 32 bits
	for what, c := range map[string]struct {
		name string
		boot io.Reader
		size uint64
		want apply.Reason
	}{
		"unplanned":     {"", bytes.NewReader(body), 0, apply.BootUnexpected},
		"another":       {name, bytes.NewReader(other), 0, apply.BootMismatch},
		"a longer name": {otherName, bytes.NewReader(body), 0, apply.BootMismatch},
		"cut off":       {name, bytes.NewReader(body[:8999]), 0, apply.BootMismatch},
		"longer":        {name, io.MultiReader(bytes.NewReader(body), strings.NewReader("x")), 0, apply.BootMismatch},
		"nothing":       {name, strings.NewReader(""), 0, apply.BootMismatch},
		"no program":    {textName, bytes.NewReader(text), 0, apply.BootUnsupported},
		"broken":        {name, io.MultiReader(bytes.NewReader(body[:10]), iotest.ErrReader(broken)), 0, apply.BootUnread},
		"huge":          {name, bytes.NewReader(body), apply.MaxBoot + 1, apply.BootTooLarge},
		"endless":       {name, zeros{}, 0, apply.BootTooLarge},
	} {
		f := small("S1", 512)
		req := request(f)
		req.Boot = c.name
		o := order(t, f, req, stampOf(own, 7))
		o.Boot, o.BootSize = c.boot, c.size
		_, err := install(t, o, nil, f)
		refusedAs(t, err, c.want)
		if f.writes != 0 || f.held {
			t.Errorf("%s: %d writes", what, f.writes)
		}
		if what == "broken" && !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
	}
}

// zeros never end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// A program fits the ESP, or nothing is written.
func TestBootTooLargeForItsESP(t *testing.T) {
	f := small("S1", 512)
	body, name := uefi(33 * mib)
	req := request(f)
	req.Boot = name
	o := order(t, f, req, stampOf(own, 7))
	o.Boot = bytes.NewReader(body)
	_, err := install(t, o, nil, f)
	refusedAs(t, err, apply.BootTooLarge)
	if f.writes != 0 {
		t.Errorf("%d writes", f.writes)
	}
}

// An order without the program that its plan names writes nothing.
func TestBootMissing(t *testing.T) {
	f := small("S1", 512)
	req := request(f)
	_, req.Boot = uefi(9000)
	o := order(t, f, req, stampOf(own, 7))
	_, err := apply.Install(t.Context(), o, []apply.Source{f}, nil)
	refusedAs(t, err, apply.BootMissing)
	o.Plan.Boot = ""
	_, err = apply.Install(t.Context(), o, []apply.Source{f}, nil)
	refusedAs(t, err, apply.NotApproved)
}
