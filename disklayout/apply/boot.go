package apply

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/pe"
	"fmt"
	"io"

	"github.com/ingotmetal/ingot/disklayout"
)

// MaxBoot bounds a boot program, in bytes. It is held in memory, up to four times while
// the ESP is made.
const MaxBoot = 256 * disklayout.MiB

// A program is what firmware starts from the disk: the one file of its ESP.
type program struct {
	path string // where firmware looks for it (UEFI specification, "Removable Media Boot Behavior")
	body []byte
}

// bootPaths are by the type of the machine (PE Format, "Machine Types").
var bootPaths = map[uint16]string{
	pe.IMAGE_FILE_MACHINE_AMD64: "/EFI/BOOT/BOOTX64.EFI",
	pe.IMAGE_FILE_MACHINE_ARM64: "/EFI/BOOT/BOOTAA64.EFI",
}

// boot reads the boot program that the order names, nil where it names none. It is
// whole, and believed, before anything is written.
func (o *Order) boot(ctx context.Context, progress func(Progress)) (*program, error) {
	if o.Plan.Boot == "" {
		return nil, nil
	}
	want, ok := imageSum(o.Plan.Boot)
	if !ok {
		return nil, refuse(BootUnsupported, "", "the plan names the boot program "+o.Plan.Boot, nil)
	}
	if o.BootSize > MaxBoot {
		return nil, refuse(BootTooLarge, "", fmt.Sprintf("it has %d bytes, at most %d are read", o.BootSize, uint64(MaxBoot)), nil)
	}
	body, err := o.readBoot(ctx, progress)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(body); string(sum[:]) != string(want) {
		return nil, refuse(BootMismatch, "", fmt.Sprintf("its %d bytes have SHA-256 %x, the plan names %x", len(body), sum, want), nil)
	}
	f, err := pe.NewFile(bytes.NewReader(body))
	if err != nil || bootPaths[f.Machine] == "" {
		return nil, refuse(BootUnsupported, "", "it is no program for UEFI on amd64 or arm64", err)
	}
	return &program{bootPaths[f.Machine], body}, nil
}

// readBoot reads it whole.
func (o *Order) readBoot(ctx context.Context, progress func(Progress)) ([]byte, error) {
	var b bytes.Buffer
	for {
		progress(Progress{Check, uint64(b.Len()), o.BootSize})
		if err := ctx.Err(); err != nil {
			return nil, refuse(BootUnread, "", "it was ended", err)
		}
		n, err := io.CopyN(&b, o.Boot, imageChunk)
		switch {
		case b.Len() > MaxBoot:
			return nil, refuse(BootTooLarge, "", fmt.Sprintf("over %d bytes came", uint64(MaxBoot)), nil)
		case err == io.EOF:
			return b.Bytes(), nil
		case err != nil:
			return nil, refuse(BootUnread, "", fmt.Sprintf("it ended after %d bytes", b.Len()), err)
		case n == 0:
			return nil, refuse(BootUnread, "", "it brings nothing", nil)
		}
	}
}
