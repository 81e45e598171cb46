package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/images"
)

// An imageView is an image as it is printed.
type imageView struct {
	images.Manifest
	Digest string    `json:"digest"`
	Staged time.Time `json:"staged"`
	Size   int64     `json:"size"`
	Whole  bool      `json:"whole"`
	Flaw   string    `json:"flaw,omitempty"`
}

func viewOf(i images.Image) imageView {
	v := imageView{Manifest: i.Manifest, Digest: i.Digest, Staged: i.Staged.Truncate(time.Second), Size: i.Size(), Whole: i.Flaw == nil}
	if v.Files == nil {
		v.Files = []images.File{}
	}
	if h, ok := errors.AsType[*images.Harmed](i.Flaw); ok {
		v.Flaw = h.Why
	}
	return v
}

func (a *app) imageList() *cobra.Command {
	c := a.imageLeaf("list", "List the images of the folder", "ingot image list --dir images", func(ctx context.Context, dir string, _ []string) error {
		s, err := openImages(dir)
		if err != nil {
			return err
		}
		defer s.Close()
		views := []imageView{}
		for _, i := range s.List() {
			views = append(views, viewOf(i))
		}
		return a.showImages(ctx, views)
	})
	c.Args = exactly(0)
	return c
}

func (a *app) showImages(ctx context.Context, views []imageView) error {
	if a.structured() {
		return a.value(ctx, "image.list", must(map[string]any{"images": views}))
	}
	var b strings.Builder
	if a.given.output == "name" {
		for _, v := range views {
			fmt.Fprintln(&b, v.Name)
		}
		return a.print(b.String())
	}
	if len(views) == 0 {
		a.note("none; stage one with `ingot image stage NAME --kernel FILE`")
		return nil
	}
	wide := a.given.output == "wide"
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprint(w, "IMAGE\tFILES\tSIZE\tPLATFORMS\tSTAGED\tWHOLE")
	if wide {
		fmt.Fprint(w, "\tDIGEST\tDISK")
	}
	fmt.Fprintln(w)
	for _, v := range views {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s", v.Name, len(v.Files), bytesOf(v.Size), v.platforms(), a.age(v.Staged), yes(v.Whole))
		if wide {
			fmt.Fprintf(w, "\t%s\t%s", cmp.Or(v.Digest, "-"), cmp.Or(v.Disk, "-"))
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush()
	for _, v := range views {
		if !v.Whole {
			a.note("%s is not served: %s; stage it again, or remove it", v.Name, clean(v.Flaw))
		}
	}
	return a.print(a.heading(trimmed(b.String())))
}

// platforms are those that the image boots.
func (v imageView) platforms() string {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(v.Boots)) {
		if p == images.Any {
			p = booter.Platform("any")
		}
		out = append(out, string(p))
	}
	return listOr(out, "-")
}

// badDraft is what a person typed wrong, or err.
func badDraft(err error) error {
	if bad, ok := errors.AsType[*images.Invalid](err); ok {
		return usage("%s: %s", bad.What, bad.Value).then("want %s", bad.Want)
	}
	return err
}
