package cli

import (
	"bytes"
	"crypto"
	"crypto/x509"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/internal/imagebuild"
	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/uki"
)

// defaultStub is where Debian's package systemd-boot-efi has it.
const defaultStub = "/usr/lib/systemd/boot/efi/linuxx64.efi.stub"

// ukiName is the file that a unified kernel image is.
const ukiName = "uki.efi"

// ukiFlags are those of a unified kernel image.
type ukiFlags struct {
	want                                bool
	stub, args, key, cert, passwordFile string
}

func (u *ukiFlags) declare(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&u.want, "uki", false, "make a unified kernel image too: one program for UEFI firmware, which may be signed")
	f.StringVar(&u.stub, "uki-stub", defaultStub, "the `FILE` that it begins with, of systemd")
	f.StringVar(&u.args, "uki-args", "", "kernel arguments inside it, a `TEXT`; with Secure Boot the machine then takes no others")
	f.StringVar(&u.key, "sign-key", "", "sign it for Secure Boot with the RSA key in this `FILE`, in PEM")
	f.StringVar(&u.cert, "sign-cert", "", "the certificate of that key, a `FILE`")
	f.StringVar(&u.passwordFile, "sign-passphrase-file", "", "the `FILE` with the passphrase of that key")
}

// check wants flags that mean something together.
func (u *ukiFlags) check() error {
	switch {
	case !u.want && (u.args != "" || u.key != "" || u.cert != "" || u.passwordFile != ""):
		return usage("a unified kernel image is described, and --uki was not given").then("add --uki")
	case (u.key == "") != (u.cert == ""):
		return usage("a signature takes a key and its certificate").then("give --sign-key FILE and --sign-cert FILE")
	case u.passwordFile != "" && u.key == "":
		return usage("--sign-passphrase-file is of a key, and there is none").then("give --sign-key FILE")
	}
	if err := images.CheckArgs(u.args); err != nil {
		return badDraft(err)
	}
	return nil
}

// unified makes the image, and signs it.
func (b *enrolBuild) unified(k imagebuild.Kernel, initrd []byte) ([]byte, error) {
	stub, err := b.file(b.uki.stub, imagebuild.MaxStub)
	if err != nil {
		return nil, err
	}
	image, err := imagebuild.Unified{Stub: stub, Kernel: k, Initrd: initrd, Name: "ingot enrollment", Args: b.uki.args}.Build()
	if err != nil || b.uki.key == "" {
		return image, err
	}
	key, cert, err := b.signer()
	if err != nil {
		return nil, err
	}
	return uki.Sign(image, key, cert)
}

// signer reads the key and its certificate. Neither key nor passphrase is ever told.
func (b *enrolBuild) signer() (crypto.Signer, *x509.Certificate, error) {
	var passphrase []byte
	if b.uki.passwordFile != "" {
		raw, err := b.slurp(b.uki.passwordFile, maxSecret)
		if err != nil {
			return nil, nil, err
		}
		passphrase = bytes.TrimRight(raw, "\r\n")
	}
	text, err := b.slurp(b.uki.key, maxSecret)
	if err != nil {
		return nil, nil, err
	}
	key, err := uki.ParseKey(text, passphrase)
	if err != nil {
		return nil, nil, err
	}
	raw, err := b.slurp(b.uki.cert, maxSecret)
	if err != nil {
		return nil, nil, err
	}
	cert, err := uki.ParseCertificate(raw)
	return key, cert, err
}

// withUKI is how an image with a unified kernel image boots: UEFI starts that, with the
// arguments of the boot script, and other firmware the kernel.
func withUKI(arch imagebuild.Arch, plain images.Boots) map[booter.Platform]images.Boots {
	if arch == imagebuild.ARM64 {
		return map[booter.Platform]images.Boots{booter.ARM64: {EFI: ukiName, Args: plain.Args}, booter.UBootARM64: plain}
	}
	return map[booter.Platform]images.Boots{booter.X64: {EFI: ukiName, Args: plain.Args}, booter.BIOS: plain}
}
