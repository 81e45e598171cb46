package bmctest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// passwordHidden runs what reads, what changes and what fails, and looks for the
// passwords wherever a driver may leave them. The process's default loggers are
// listened to meanwhile, so that the law is checked alone.
func passwordHidden(ctx context.Context, t *try) error {
	var logged heard
	defer listen(&logged)()
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
	said = append(said, logged.text(), strings.Join(os.Args, " "), strings.Join(os.Environ(), " "))
	secrets := slices.Concat(forms(t.stage.Credentials()), forms(t.wrong()))
	for _, secret := range secrets {
		for _, text := range said {
			if strings.Contains(text, secret) {
				return errors.New("a password stands in clear in: " + blanked(text, secrets))
			}
		}
		if name := fileWith(secret, began); name != "" {
			return errors.New("a password stands in the file " + name)
		}
	}
	return nil
}

// forms are a password as it is and as Basic authentication writes it.
func forms(c bmc.Credentials) []string {
	pair := []byte(c.Username + ":" + c.Password.Show())
	return []string{c.Password.Show(), base64.StdEncoding.EncodeToString(pair), base64.URLEncoding.EncodeToString(pair)}
}

// blanked is a text without secrets.
func blanked(text string, secrets []string) string {
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, "[here]")
	}
	return text
}

// heard is what the process's loggers were told.
type heard struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write adds to it.
func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all.Write(p)
}

func (h *heard) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all.String()
}

// listen has the default loggers of packages log and log/slog write to w, until the
// function that it returns is called: then they are as they were.
func listen(w io.Writer) (restore func()) {
	was, to, flags, prefix := slog.Default(), log.Writer(), log.Flags(), log.Prefix()
	slog.SetDefault(slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})))
	log.SetOutput(w) // not by way of slog, which would give no more than its message
	return func() {
		slog.SetDefault(was)
		log.SetOutput(to)
		log.SetFlags(flags)
		log.SetPrefix(prefix)
	}
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
