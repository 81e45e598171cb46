package images_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/images"
)

func Example() {
	dir, err := os.MkdirTemp("", "images")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	store, err := images.Open(dir)
	if err != nil {
		panic(err)
	}
	defer store.Close()

	draft := images.Manifest{
		Name:  "rescue-1",
		Files: []images.File{{Name: "initrd"}, {Name: "snponly.efi"}, {Name: "vmlinuz"}},
		Boots: map[booter.Platform]images.Boots{
			images.Any: {Kernel: "vmlinuz", Initrds: []string{"initrd"}, Args: "console=ttyS0"},
			booter.X64: {Loader: "snponly.efi"},
		},
	}
	_, err = store.Stage(context.Background(), draft, map[string]images.Source{
		"initrd":      {Reader: strings.NewReader("an initrd")},
		"snponly.efi": {Reader: strings.NewReader("a loader")},
		"vmlinuz":     {Reader: strings.NewReader("a kernel")},
	}, nil)
	if err != nil {
		panic(err)
	}

	image, err := store.Image("rescue-1")
	boot, ok := image.Boot(booter.X64)
	fmt.Println(boot.Loader, boot.Kernel, boot.Args, ok, err)
	f, _ := image.File("vmlinuz")
	fmt.Println(f.Size, f.SHA256[:8])
	// Output:
	// snponly.efi vmlinuz console=ttyS0 true <nil>
	// 8 4fff0d3e
}
