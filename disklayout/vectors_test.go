package disklayout_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
)

// vector is a case of disk_selection.json: disks, a selector, the disk's name or
// an error. Lists of disks are older than our form of a sysinfo.
type vector struct {
	ID       string
	Why      string
	Disks    []vectorDisk
	Selector map[string]any
	Expect   struct{ Disk, Error string }
}

type vectorDisk struct {
	Name, Serial, WWN, Model, Tran, Kind string
	Member                               string `json:"member_of"`
	Bytes                                uint64
	Rotational                           *bool
	Removable, RO                        bool
}

// disk fills in what the list leaves out and a whole announcement has.
func (v vectorDisk) disk(i int) disklayout.Disk {
	d := disklayout.Disk{Name: v.Name, Serial: v.Serial, WWN: v.WWN, Model: v.Model, Size: v.Bytes, Rotational: v.Rotational,
		Removable: v.Removable, ReadOnly: v.RO, Transport: v.Tran, LogicalSector: 512, PhysicalSector: 512, Signatures: []disklayout.Signature{}}
	if d.Transport == "" {
		d.Transport = "sata"
	}
	if d.Serial == "" {
		d.Serial = fmt.Sprintf("FILLED-IN-%d", i)
	}
	return d
}

// selector translates; ok is false where ours has no such field or operator.
func (v vector) selector() (sel disklayout.Selector, ok bool) {
	for field, value := range v.Selector {
		text, _ := value.(string)
		switch field {
		case "serial":
			sel.Serial = strings.TrimPrefix(text, "s== ")
		case "wwn":
			sel.WWN = text
		case "name":
			sel.Name = text
		case "model":
			sel.Model = strings.TrimPrefix(strings.TrimPrefix(text, "s== "), "<in> ")
		case "rotational":
			b, isBool := value.(bool)
			if !isBool {
				return sel, false
			}
			sel.Rotational = &b
		case "size":
			n, err := strconv.ParseUint(strings.TrimPrefix(text, ">= "), 10, 32)
			if err != nil || n == 0 {
				return sel, false
			}
			sel.MinSize = n * gib
			if !strings.HasPrefix(text, ">= ") {
				sel.MaxSize = n * gib
			}
		default:
			return sel, false
		}
	}
	return sel, true
}

// outcomes are our reasons for the list's errors.
var outcomes = map[string]disklayout.Reason{
	"NO_MATCH": disklayout.NoSuchDisk, "AMBIGUOUS": disklayout.Ambiguous, "DUPLICATE_SERIAL": disklayout.DuplicateSerial,
	"PLACEHOLDER_IDENTITY": disklayout.SelectorInvalid, "SAME_LUN_MANY_PATHS": disklayout.ManyPaths, "SELECTOR_REQUIRED": disklayout.SelectorEmpty,
	"NAME_SERIAL_MISMATCH": disklayout.NameMismatch, "REMOVABLE_OR_USB": disklayout.Removable,
}

// others are cases whose outcome is another here, and why.
var others = map[string]disklayout.Reason{
	"s15": disklayout.DuplicateSerial, // DISK-2: a shared serial cannot be approved, whatever the WWN says
	"s16": disklayout.USB,             // both are on USB, so neither is a candidate
	"s20": disklayout.DuplicateSerial, // an agent announces the multipath map and not its paths
}

// untranslated are selectors of another language: no field or operator of ours.
var untranslated = []string{"s9a", "s9b", "s9c", "s9e", "s9g", "s31"}

func TestSelectionVectors(t *testing.T) {
	var file struct{ Cases []vector }
	readJSON(t, "testdata/disk_selection.json", &file)
	for _, c := range file.Cases {
		sel, ok := c.selector()
		if ok == slices.Contains(untranslated, c.ID) {
			t.Errorf("%s: translated %t", c.ID, ok)
		}
		if !ok {
			continue
		}
		t.Run(c.ID, func(t *testing.T) { c.try(t, sel) })
	}
}

func (v vector) try(t *testing.T, sel disklayout.Selector) {
	var disks []disklayout.Disk
	for i, d := range v.Disks {
		disks = append(disks, d.disk(i))
	}
	req := disklayout.Request{Layout: disklayout.Single, Disks: []disklayout.Selector{sel}}
	p, err := disklayout.Realize(req, disks, stamp())
	want, differs := others[v.ID]
	if !differs {
		want = outcomes[v.Expect.Error]
	}
	switch {
	case v.ID == "s9f": // an empty serial is no field that is set
		refused(t, disklayout.SelectorEmpty, p, err)
	case v.Expect.Error != "" || differs:
		refused(t, want, p, err)
	case err != nil || p.Disks[0].Name != v.Expect.Disk:
		t.Errorf("%s: %v, %v; want %s", v.Why, p.Serials, err, v.Expect.Disk)
	}
}

// TestInventories plans a mirror on every pair of disks of real lists, and finds
// every other disk named with a reason.
func TestInventories(t *testing.T) {
	var file struct {
		Inventories map[string][]struct {
			Name, Bus      string
			Bytes          uint64
			Removable, SSD bool
		}
	}
	readJSON(t, "testdata/inventories.json", &file)
	if len(file.Inventories) != 35 {
		t.Fatalf("%d inventories", len(file.Inventories))
	}
	for name, list := range file.Inventories {
		var disks []disklayout.Disk
		var fit []string
		for _, d := range list {
			spins := !d.SSD
			disks = append(disks, disklayout.Disk{Name: d.Name, Serial: name + "-" + d.Name, Size: d.Bytes, Removable: d.Removable, Transport: d.Bus,
				Rotational: &spins, LogicalSector: 512, PhysicalSector: 512, Signatures: []disklayout.Signature{}})
			if d.Bus != "USB" {
				fit = append(fit, name+"-"+d.Name)
			}
		}
		fit = fit[:len(fit)/2*2]
		if len(fit) < 2 {
			continue
		}
		p := mustPlan(t, mirrorOf(fit...), disks...)
		if len(p.Disks)+len(p.Unused) != len(disks) || len(p.Pool.Vdevs) != len(fit)/2 {
			t.Errorf("%s: %d written, %d unused of %d", name, len(p.Disks), len(p.Unused), len(disks))
		}
		for _, u := range p.Unused {
			if usb := u.Size == 15737028608; usb != (u.Why == disklayout.Removable || u.Why == disklayout.USB) {
				t.Errorf("%s: %s is unused for %s", name, u.Serial, u.Why)
			}
		}
	}
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err := errors.Join(err, json.Unmarshal(raw, into)); err != nil {
		t.Fatal(err)
	}
}
