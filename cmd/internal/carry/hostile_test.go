package carry

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/xtaci/smux"
)

// A booter that breaks the protocol gives an error in bounded time, and what it says
// cannot break a line of a log.
func TestHostileBooter(t *testing.T) {
	for name, answer := range map[string]string{
		"nonsense": "hello\n", "endless": strings.Repeat("x", 4096), "nothing": "", "a reason with lines": refused + "a\tb\x1b[31mc\xff\n", "a long reason": refused + strings.Repeat("y", 400) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				s, err := smux.Server(theirs, rhythm())
				if err != nil {
					t.Fatal(err)
				}
				var d Desk
				var all sync.WaitGroup
				ctx, cancel := context.WithCancel(t.Context())
				all.Go(func() { _ = d.Serve(ctx, "b1", ours) })
				all.Go(func() {
					st, err := s.AcceptStream()
					if err != nil {
						return
					}
					_, _ = readLine(st)
					_, _ = io.WriteString(st, answer)
				})
				synctest.Wait()
				within, stop := context.WithTimeout(ctx, time.Minute)
				c, err := d.Dial(within, "b1", "10.0.0.7:443")
				stop()
				e, refusedSo := errors.AsType[*NotCarried](err)
				if c != nil || !refusedSo && !errors.Is(err, context.DeadlineExceeded) || refusedSo && (!utf8.ValidString(e.Error()) || strings.ContainsAny(e.Error(), "\t\n\x1b")) || err != nil && len(err.Error()) > 700 {
					t.Errorf("%q", err)
				}
				cancel()
				all.Wait()
				_ = s.Close()
				synctest.Wait()
			})
		})
	}
}

// A connection that speaks no protocol ends, and leaves nothing behind.
func TestNoProtocol(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		var d Desk
		var all sync.WaitGroup
		all.Go(func() { _ = d.Serve(t.Context(), "b1", ours) })
		_, _ = io.WriteString(theirs, "GET / HTTP/1.1\r\n\r\n")
		_ = theirs.SetReadDeadline(time.Now().Add(time.Minute))
		_, _ = io.Copy(io.Discard, theirs)
		_ = theirs.Close()
		all.Wait()
		if _, err := d.Dial(t.Context(), "b1", "10.0.0.7:443"); !absent(err, "b1") {
			t.Errorf("it carries: %v", err)
		}
	})
}

func FuzzLine(f *testing.F) {
	for _, s := range []string{"", "\n", "connected\n", "refused: no\nrest", strings.Repeat("a", maxLine) + "\n", strings.Repeat("a", maxLine+1) + "\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := strings.NewReader(text)
		line, err := readLine(r)
		want, _, whole := strings.Cut(text, "\n")
		switch {
		case whole && len(want) <= maxLine:
			if rest, _ := io.ReadAll(r); err != nil || line != want || want+"\n"+string(rest) != text {
				t.Errorf("%q: %q, %v, and then %q", text, line, err, rest)
			}
		case err == nil || line != "":
			t.Errorf("%q: %q", text, line)
		}
		if p := plain(text); len(p)+len(refused)+1 > maxLine || strings.ContainsAny(p, "\n\r\x1b") {
			t.Errorf("%q", p)
		}
	})
}
