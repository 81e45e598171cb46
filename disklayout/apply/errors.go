package apply

import (
	"fmt"
	"strconv"
	"strings"
)

// A Reason says in one word why nothing was installed. It is for programs.
type Reason string

// Reasons of refusals: not one byte was written.
const (
	NotApproved      Reason = "not_approved" // the plan is not the one whose digest was approved
	EpochMissing     Reason = "epoch_missing"
	PoolUnsupported  Reason = "pool_unsupported"
	ImageMissing     Reason = "image_missing"
	ImageUnexpected  Reason = "image_unexpected" // the plan names none
	ImageUnsupported Reason = "image_unsupported"
	BootMissing      Reason = "boot_missing"
	BootUnexpected   Reason = "boot_unexpected"  // the plan names none
	BootUnsupported  Reason = "boot_unsupported" // no program for UEFI
	BootUnread       Reason = "boot_unread"
	BootTooLarge     Reason = "boot_too_large"
	BootMismatch     Reason = "boot_mismatch"
	Unidentified     Reason = "unidentified" // a disk of the machine does not say what it is
	Busy             Reason = "busy"
	NotLooked        Reason = "not_looked"
	Hidden           Reason = "hidden_signature" // no table shows it now; the new one would
	TableInvalid     Reason = "table_invalid"
	ESPUnsupported   Reason = "esp_unsupported"
	ChangedSince     Reason = "changed_since" // installed by this attempt, and changed since
)

// Reasons of failures: the disk may have been written.
const (
	DeviceFailed  Reason = "device_failed"
	Canceled      Reason = "canceled"
	ImageUnread   Reason = "image_unread"
	ImageTooLarge Reason = "image_too_large" // known before the first write where its size is given
	ImageMismatch Reason = "image_mismatch"
	ReadBack      Reason = "read_back" // the medium has other bytes than were written
	KernelStale   Reason = "kernel_stale"
)

// A rule is what holds for every error of one reason.
type rule struct{ code, req, next string }

var rules = map[Reason]rule{
	NotApproved:      {"CONFLICT", "SET-14", "write nothing; take the plan that was approved, unchanged"},
	EpochMissing:     {"INVALID_INPUT", "SET-15", "install with the epoch of the attempt that runs"},
	PoolUnsupported:  {"UNSUPPORTED", "SET-7", "create the pool with zpool, or ask for the gpt layout"},
	ImageMissing:     {"INVALID_INPUT", "SET-4", "give the image that the plan names"},
	ImageUnexpected:  {"INVALID_INPUT", "SET-4", "leave the image out, or let a plan that names it be approved"},
	ImageUnsupported: {"UNSUPPORTED", "SET-4", "name the image by sha256: and 64 hexadecimal digits"},
	BootMissing:      {"INVALID_INPUT", "SET-4", "give the boot program that the plan names"},
	BootUnexpected:   {"INVALID_INPUT", "SET-4", "leave the boot program out, or let a plan that names it be approved"},
	BootUnsupported:  {"UNSUPPORTED", "SET-4", "stage a program for UEFI on amd64 or arm64, such as a unified kernel image, and name it by its digest"},
	BootUnread:       {"UNAVAILABLE", "SET-4", "let the same attempt install again, with the boot program from its start"},
	BootTooLarge:     {"INVALID_INPUT", "SET-4", "plan a larger ESP, or take a smaller boot program"},
	BootMismatch:     {"CONFLICT", "SET-4", "stage the boot program again; nothing was written"},
	Unidentified:     {"UNAVAILABLE", "DISK-3", "see why the disk does not answer, or take it out; its serial may be that of the plan"},
	Busy:             {"CONFLICT", "DISK-3", "end what holds the disk: a mount, swap, an array, another install"},
	NotLooked:        {"UNAVAILABLE", "DISK-4", "repair the disk or choose another; what cannot be read is not empty"},
	Hidden:           {"CONFLICT", "DISK-4", "wipe the disk first if nobody needs what is there, or choose another"},
	TableInvalid:     {"INVALID_INPUT", "DISK-1", "make the plan anew from the announced disks"},
	ESPUnsupported:   {"UNSUPPORTED", "DISK-1", "ask for an ESP of another size, best the default"},
	ChangedSince:     {"INVALID_STATE", "SET-15", "begin a new attempt to rebuild it"},
	DeviceFailed:     {"UNAVAILABLE", "DISK-3", "look at the disk's health; then let the same attempt install again, or replace the disk"},
	Canceled:         {"UNAVAILABLE", "SET-15", "let the same attempt install again; it resumes"},
	ImageUnread:      {"UNAVAILABLE", "SET-4", "let the same attempt install again, with the image from its start"},
	ImageTooLarge:    {"INVALID_INPUT", "SET-4", "plan a larger root, or take a smaller image"},
	ImageMismatch:    {"CONFLICT", "SET-4", "stage the image again; the disk does not boot, and a new attempt may rebuild it"},
	ReadBack:         {"UNAVAILABLE", "DISK-3", "replace the disk; what it returns is not what was written"},
	KernelStale:      {"UNAVAILABLE", "DISK-3", "reboot; the disk itself is installed"},
}

// A Refused reports why a disk was not touched.
type Refused struct {
	Reason Reason
	Disk   string // its serial or kernel name; empty: the order as a whole
	Why    string
	Err    error // of the system, if any
}

// Error has one line: disk, reason, requirement and what to do.
func (e *Refused) Error() string { return line(e.Reason, e.Disk, e.Why, e.Err) }

// Unwrap is the system's error.
func (e *Refused) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (e *Refused) Code() string { return rules[e.Reason].code }

// A Failed reports that an install ended after it may have written. Nothing is
// known of the disk but that it is the plan's.
type Failed struct {
	Reason Reason
	Step   Step
	Disk   string // its serial
	Why    string
	Err    error // of the device, the image or the context, if any
}

// Error has one line: disk, reason, step, requirement and what to do.
func (e *Failed) Error() string {
	return line(e.Reason, e.Disk, e.Why+" in step "+string(e.Step), e.Err)
}

// Unwrap is the device's, the image's or the context's error.
func (e *Failed) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (e *Failed) Code() string { return rules[e.Reason].code }

func line(r Reason, disk, why string, err error) string {
	var b strings.Builder
	b.WriteString("apply: ")
	if disk != "" {
		b.WriteString("disk " + strconv.Quote(disk) + ": ")
	}
	fmt.Fprintf(&b, "%s: %s", r, why)
	if err != nil {
		fmt.Fprintf(&b, ": %v", err)
	}
	fmt.Fprintf(&b, " (%s); %s", rules[r].req, rules[r].next)
	return b.String()
}

func refuse(r Reason, disk, why string, err error) *Refused { return &Refused{r, disk, why, err} }
