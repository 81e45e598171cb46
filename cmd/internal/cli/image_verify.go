package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/booter/images"
)

// A checkView is what was found of a file, as it is printed.
type checkView struct {
	Image  string `json:"image"`
	File   string `json:"file,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Size   int64  `json:"size,omitempty"`
	Sound  bool   `json:"sound"`
	Flaw   string `json:"flaw,omitempty"`
}

// harmedImages ends a verification that found harm, with exit code 1 as a broken
// audit chain does.
type harmedImages struct{ bad, of int }

// Error counts the files, and says what to do.
func (e *harmedImages) Error() string {
	return withNext(fmt.Sprintf("%d of %d files are not what was staged", e.bad, e.of), "stage their images again, or remove them")
}

// Code is the error's wire name (API-3).
func (*harmedImages) Code() string { return "INVALID_STATE" }

func (*harmedImages) exit() Exit { return Other }

func (a *app) imageVerify() *cobra.Command {
	c := a.imageLeaf("verify [NAME]", "Hash an image's files again, or those of all images", "ingot image verify rescue-1 --dir images", func(ctx context.Context, dir string, words []string) error {
		if a.given.output == "name" {
			return usage("image verify answers with nothing that has a name").then("known: text, wide, json, yaml")
		}
		s, err := openImages(dir)
		if err != nil {
			return err
		}
		defer s.Close()
		bar := a.bar("verifying")
		found, err := s.Verify(ctx, strings.Join(words, ""), bar.show)
		bar.end()
		if err != nil {
			return err
		}
		return a.showChecks(ctx, found)
	})
	c.Args = between(0, 1)
	return c
}

func (a *app) showChecks(ctx context.Context, found []images.Result) error {
	views, bad := []checkView{}, 0
	for _, r := range found {
		if r.Flaw != "" {
			bad++
		}
		views = append(views, checkView{r.Image, r.File, r.SHA256, r.Size, r.Flaw == "", r.Flaw})
	}
	if err := a.printChecks(ctx, views, bad == 0); err != nil || bad == 0 {
		return err
	}
	return &harmedImages{bad, len(found)}
}

func (a *app) printChecks(ctx context.Context, views []checkView, sound bool) error {
	if a.structured() {
		return a.value(ctx, "image.verify", must(map[string]any{"sound": sound, "files": views}))
	}
	if len(views) == 0 {
		a.note("none; stage one with `ingot image stage NAME --kernel FILE`")
		return nil
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "IMAGE\tFILE\tSIZE\tFOUND")
	for _, v := range views {
		what := "sound"
		if !v.Sound {
			what = clean(v.Flaw)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", v.Image, cmp.Or(v.File, "-"), bytesOf(v.Size), what)
	}
	_ = w.Flush()
	return a.print(a.heading(trimmed(b.String())))
}
