package bmc

import "context"

// A MediaSpec is an image to insert into a virtual drive.
type MediaSpec struct {
	Image string // http or https URL that the BMC can reach; no user in it
	Slot  string // empty: the first that takes a CD by URL
	// Running says that the caller knows that the machine runs from what is in
	// the slot, or may, and wants it replaced all the same. Without it an insert or
	// eject that would take a medium from a running machine is [Conflict].
	Running bool
}

// A MediaSlot is a virtual drive.
type MediaSlot struct {
	ID       string
	Types    []string // CD, DVD, Floppy, USBStick: as the BMC says them
	TakesURL bool     // whether an image can be inserted by URL
	Image    string   // what is in it; empty: nothing
	Inserted bool
	Raw      string // how it was connected, as the BMC says it
}

// Media is a session whose machine has virtual drives.
type Media interface {
	MediaSlots(ctx context.Context) ([]MediaSlot, error)
	// InsertMedia ejects what is in the slot and waits until the BMC says that
	// it is gone, inserts the image, and reads back that it is there. The same
	// image in the slot already is success, with nothing sent.
	InsertMedia(ctx context.Context, s MediaSpec) (MediaSlot, error)
	// EjectMedia empties a slot; an empty one is success.
	EjectMedia(ctx context.Context, slot string, running bool) error
}
