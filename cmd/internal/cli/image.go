package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/booter/images"
)

// defaultImages is where images are staged if no flag says otherwise: booterd looks
// there.
const defaultImages = "/var/lib/ingot-booter/images"

// imageCommand keeps the images that a booter serves, in a folder of this machine.
func (a *app) imageCommand() *cobra.Command {
	c := &cobra.Command{Use: "image", Short: "Images that machines boot, in a folder of a booter's host", RunE: a.bare, Args: a.noVerb}
	c.AddCommand(a.imageBuild(), a.imageList(), a.imageRemove(), a.imageStage(), a.imageVerify())
	return c
}

// imageLeaf is a verb about a folder of images.
func (a *app) imageLeaf(use, short, example string, run func(ctx context.Context, dir string, words []string) error) *cobra.Command {
	var dir string
	c := a.leaf(use, short, example, func(c *cobra.Command, words []string) error {
		ctx, done := context.WithCancel(c.Context())
		if a.given.timeout > 0 { // else as long as it takes: nobody else waits
			ctx, done = context.WithTimeout(c.Context(), a.given.timeout)
		}
		defer done()
		err := run(ctx, a.path(dir), words)
		if _, coded := errors.AsType[interface {
			error
			Code() string
		}](err); !coded && ctx.Err() != nil {
			return gaveUp(c.Context())
		}
		return err
	})
	c.Flags().StringVar(&dir, "dir", defaultImages, "the `DIR` with the images")
	return c
}

// gaveUp is the end of what was neither done nor refused. Nothing was changed.
func gaveUp(ctx context.Context) error {
	if ctx.Err() != nil {
		return &Refusal{"it was interrupted: nothing was changed", "", "UNAVAILABLE"}
	}
	return &Refusal{"--timeout ended it: nothing was changed", "give it more time, or no --timeout", "UNAVAILABLE"}
}

// openImages opens a folder of images that must be there.
func openImages(dir string) (*images.Store, error) {
	s, err := images.Open(dir)
	if errors.Is(err, images.ErrNoFolder) {
		return nil, &Refusal{fmt.Sprintf("there is no folder %s", dir), "stage an image, which makes it, or name another by --dir", "NOT_FOUND"}
	}
	return s, err
}

func (a *app) imageRemove() *cobra.Command {
	var yes bool
	c := a.imageLeaf("remove NAME", "Remove an image, and the files that no other has", "ingot image remove rescue-1 --dir images --yes", func(ctx context.Context, dir string, words []string) error {
		if !yes {
			return usage("ingot image remove destroys what cannot be had back, and --yes was not given: nothing was removed").
				then("see what is there: ingot image list --dir %s", quote(dir))
		}
		s, err := openImages(dir)
		if err != nil {
			return err
		}
		defer s.Close()
		freed, err := s.Remove(ctx, words[0])
		if err != nil {
			return err
		}
		switch {
		case a.structured():
			return a.value(ctx, "image.remove", must(map[string]any{"name": words[0], "freed": freed}))
		case a.given.output == "name":
			return a.print(words[0] + "\n")
		}
		return a.printf("removed %s; freed %s\n", words[0], bytesOf(freed))
	})
	c.Args = exactly(1)
	c.Flags().BoolVar(&yes, "yes", false, "do it: the files cannot be had back")
	return c
}

// bytesOf is a size as people read it.
func bytesOf(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	x, units := float64(n)/(1<<10), []string{"KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for ; x >= 1<<10 && i < len(units)-1; i++ {
		x /= 1 << 10
	}
	return fmt.Sprintf("%.1f %s", x, units[i])
}
