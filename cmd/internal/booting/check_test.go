package booting

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
)

// A byte of an image that changes on the disk is noticed within a day, at the rate that
// was set: the image is not offered any more, its machines are silent with that reason,
// and it is told once.
func TestImagesAreChecked(t *testing.T) {
	s, blobs := storeAt(t)
	i, err := s.Image("enroll")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		d := NewDesk(place(), s, newKey(), time.Now)
		d.Change(func(*World) *World { return NewWorld(snapshot(enrolling())) })
		logs := &lines{}
		c := &Checker{Desk: d, Log: slog.New(slog.NewTextHandler(logs, nil)), Rate: 1}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { c.Run(ctx) })
		time.Sleep(firstCheck + time.Hour)
		f, _ := i.File("vmlinuz")
		path := filepath.Join(blobs, f.SHA256)
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Repeat("x", int(f.Size))), 0o600); err != nil {
			t.Fatal(err)
		}
		if len(d.wake) > 0 || d.harmed() != 0 {
			t.Error("an image that is whole was noticed")
		}
		takes := time.Duration(i.Size()) * time.Second
		time.Sleep(checkEvery - time.Hour + takes + takes/2)
		if d.harmed() != 0 {
			t.Errorf("%d bytes are read at once at a byte a second", i.Size())
		}
		time.Sleep(takes/2 + time.Second)
		synctest.Wait()
		if d.harmed() != 1 || d.policy.Staged["enroll"] || len(d.wake) != 1 {
			t.Errorf("%d harmed, staged %v", d.harmed(), d.policy.Staged)
		}
		if got := scrape(t, d); !strings.Contains(got, "ingot_booter_images_harmed 1") {
			t.Error("no metric")
		}
		if a := d.Why(mac(known)); len(a.Silences) != 1 || !strings.Contains(a.Silences[0].Means, "vmlinuz has other content") || a.Silences[0].Change != "Stage it again." {
			t.Errorf("%+v", a.Silences)
		}
		time.Sleep(3 * checkEvery)
		if n := strings.Count(logs.String(), "level=ERROR"); n != 1 || strings.Count(logs.String(), "\n") != 1 {
			t.Errorf("%d lines: %s", n, logs)
		}
		cancel()
		all.Wait()
	})
}

// A check that is stopped amid an image ends at once, and says nothing of it.
func TestACheckIsStopped(t *testing.T) {
	s, _ := storeAt(t)
	synctest.Test(t, func(t *testing.T) {
		logs := &lines{}
		c := &Checker{Desk: NewDesk(place(), s, newKey(), time.Now), Log: slog.New(slog.NewTextHandler(logs, nil)), Rate: 1}
		ctx, cancel := context.WithTimeout(t.Context(), firstCheck+5*time.Second)
		defer cancel()
		began := time.Now()
		c.Run(ctx)
		if took := time.Since(began); took != firstCheck+5*time.Second || logs.String() != "" || len(c.Desk.store.Staged()) != 1 {
			t.Errorf("%s, %s", took, logs)
		}
	})
}

// A booter with more images than a report may have tells those that the site names,
// and then the first by name; the report is valid, and the operator is told once.
func TestReportOfManyImages(t *testing.T) {
	p, logs := newPlane(), &lines{}
	d := newDesk(t, place(), still, with(enrolling(), func(b *api.ServedBoot) { b.Entry = &api.BootNext{Image: "zz-0999"} }))
	d.mu.Lock()
	for n := range 1500 {
		d.staged[fmt.Sprintf("zz-%04d", n)] = "x"
	}
	d.mu.Unlock()
	p.on(bootsPath, func([]byte) (any, error) { return api.BootsTaken{}, nil })
	r := &Reporter{Client: p.client(), Desk: d, Log: slog.New(slog.NewTextHandler(logs, nil))}
	for range 3 {
		if _, err := r.boots(t.Context(), true); err != nil {
			t.Fatal(err)
		}
	}
	got := toldOf[boots](t, p, bootsPath)
	told := map[string]bool{}
	for _, name := range got.Staged {
		told[name] = true
	}
	if len(got.Staged) != 1024 || len(told) != 1024 || !told["enroll"] || !told["rescue"] || !told["zz-0999"] || !told["zz-0000"] || told["zz-1400"] {
		t.Errorf("%d, %v", len(got.Staged), got.Staged[:8])
	}
	if n := strings.Count(logs.String(), "left_out=480"); n != 1 {
		t.Errorf("told %d times: %s", n, logs)
	}
	d.mu.Lock()
	d.restage()
	d.mu.Unlock()
	if _, err := r.boots(t.Context(), false); err != nil || len(toldOf[boots](t, p, bootsPath).Staged) != 4 {
		t.Errorf("%v, %d", err, len(toldOf[boots](t, p, bootsPath).Staged))
	}
}
