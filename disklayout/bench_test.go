package disklayout_test

import (
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
)

// BenchmarkRealize plans on 24 announced disks: all in mirrors, and one of them.
func BenchmarkRealize(b *testing.B) {
	disks := shelf(24)
	var names []string
	for _, d := range disks {
		names = append(names, d.Serial)
	}
	for name, req := range map[string]disklayout.Request{"mirror": mirrorOf(names...), "gpt": onOne("H07")} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := disklayout.Realize(req, disks, stamp()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
