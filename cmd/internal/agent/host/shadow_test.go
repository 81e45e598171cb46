package host

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

// may is 2026-05-01, day 20574.
var may = time.Date(2026, 5, 1, 23, 59, 0, 0, time.UTC)

const newHash = "$6$salt$digest"

func TestReplaced(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"locked":                {"root:*:19000:0:99999:7:::\nada:!:19000::::::\n", "root:$6$salt$digest:20574:0:99999:7:::\nada:!:19000::::::\n"},
		"another password":      {"root:$y$x$y$z:1:2:3:4:5:6:7\n", "root:$6$salt$digest:20574:2:3:4:5:6:7\n"},
		"none, and not first":   {"daemon:*:1::::::\nroot::::::::\n", "daemon:*:1::::::\nroot:$6$salt$digest:20574::::::\n"},
		"no end of line":        {"a:*:1::::::\nroot:x:1::::::", "a:*:1::::::\nroot:$6$salt$digest:20574::::::"},
		"root it is":            {"root:$6$salt$digest:1::::::\n", ""},
		"odd lines stay":        {"\n#root:x\n+::::::::\nxroot:a:1\nroot:x:0::::::\n\x00\xff\r\n", "\n#root:x\n+::::::::\nxroot:a:1\nroot:$6$salt$digest:20574::::::\n\x00\xff\r\n"},
		"an aged one, kept day": {"root:$6$salt$digest:0:0:1:::: \n", ""},
	} {
		got, err := replaced([]byte(c.file), newHash, may)
		if err != nil || string(got) != c.want || (got == nil) != (c.want == "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestReplacedRefuses(t *testing.T) {
	for name, file := range map[string]string{
		"empty": "", "no root": "ada:x:1::::::\nroots:x:1::::::\n", "twice": "root:x:1::::::\nroot:y:1::::::\n", "a passwd file": "root:x:0:0:root:/root:/bin/bash\n",
		"bare": "root:\n", "ten fields": "root:x:1:::::::\n", "a long entry": "root:" + strings.Repeat("x", maxEntry) + ":1::::::\n", "a huge file": strings.Repeat("#\n", maxShadow/2) + "root:x:1::::::\n",
	} {
		got, err := replaced([]byte(file), newHash, may)
		if no, ok := errors.AsType[*NoShadow](err); !ok || got != nil || no.Code() != "UNAVAILABLE" {
			t.Errorf("%s: %.40q, %v", name, got, err)
		}
	}
}

// Whatever the file is: what comes out has root's new password, every other byte as it
// was, and asks for no further change.
func FuzzShadow(f *testing.F) {
	for _, seed := range []string{"root:*:19000:0:99999:7:::\nada:!:19000::::::\n", "root:x:1::::::", "", "\n\nroot::::::::\n#", "root:\x00:1::::::\nroot", "root:a:1:::::::\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		given := bytes.Clone(file)
		out, err := replaced(file, newHash, may)
		if !bytes.Equal(file, given) {
			t.Fatal("the file was changed in place")
		}
		if err != nil || out == nil {
			return
		}
		was, is := bytes.Split(file, []byte("\n")), bytes.Split(out, []byte("\n"))
		if len(was) != len(is) {
			t.Fatalf("%d lines, then %d", len(was), len(is))
		}
		changed := 0
		for i := range was {
			if bytes.Equal(was[i], is[i]) {
				continue
			}
			changed++
			a, b := bytes.Split(was[i], []byte(":")), bytes.Split(is[i], []byte(":"))
			if string(b[0]) != "root" || string(b[1]) != newHash || string(b[2]) != "20574" || len(a) != len(b) || !bytes.Equal(bytes.Join(a[3:], nil), bytes.Join(b[3:], nil)) {
				t.Errorf("%q became %q", was[i], is[i])
			}
		}
		if again, err := replaced(out, newHash, may); changed != 1 || again != nil || err != nil {
			t.Errorf("%d lines changed; again: %q, %v", changed, again, err)
		}
	})
}
