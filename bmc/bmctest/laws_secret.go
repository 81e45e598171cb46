package bmctest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// passwordHidden runs what reads, what changes and what fails, and looks for the
// passwords wherever a driver may leave them. The process's default logger is
// listened to meanwhile.
func passwordHidden(ctx context.Context, t *try) error {
	var log bytes.Buffer
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	defer slog.SetDefault(was)
	began := time.Now()

	said := []string{}
	say := func(v any) {
		raw, _ := json.Marshal(v)
		said = append(said, fmt.Sprintf("%v %+v %#v %s", v, v, v, raw))
	}
	for _, c := range []bmc.Credentials{t.stage.Credentials(), t.wrong()} {
		t.creds.set(c)
		s, err := t.open(ctx)
		say(err)
		if err != nil {
			continue
		}
		say(s)
		p, err := s.Probe(ctx)
		say(p)
		say(err)
		say(every(ctx, s))
		if p, ok := bmc.As[bmc.Power](s); ok {
			r, err := p.SendPower(ctx, bmc.SendOff)
			say(r)
			say(err)
		}
		say(s.Close(ctx))
	}
	said = append(said, log.String(), strings.Join(os.Args, " "), strings.Join(os.Environ(), " "))
	for _, secret := range []string{t.stage.Credentials().Password.Show(), t.wrong().Password.Show()} {
		for _, text := range said {
			if strings.Contains(text, secret) {
				return errors.New("a password stands in clear in: " + strings.ReplaceAll(text, secret, "[here]"))
			}
		}
		if name := fileWith(secret, began); name != "" {
			return errors.New("a password stands in the file " + name)
		}
	}
	return nil
}

// fileWith is a file of the temporary folder that was written since and holds a
// text.
func fileWith(text string, since time.Time) (found string) {
	root, left := os.TempDir(), 10_000
	_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		left--
		switch info, _ := fsInfo(d); {
		case left < 0:
			return fs.SkipAll
		case err != nil, found != "":
			return fs.SkipDir
		case d.IsDir() && strings.Count(strings.TrimPrefix(name, root), "/") > 2:
			return fs.SkipDir
		case info == nil || !info.Mode().IsRegular() || info.Size() > 1<<20 || info.ModTime().Before(since):
			return nil
		}
		if raw, _ := os.ReadFile(name); bytes.Contains(raw, []byte(text)) {
			found = name
		}
		return nil
	})
	return found
}

func fsInfo(d fs.DirEntry) (fs.FileInfo, error) {
	if d == nil {
		return nil, fs.ErrNotExist
	}
	return d.Info()
}

// allocated is how much memory the process has asked for since it began, in bytes.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
