package cli

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
)

func TestSize(t *testing.T) {
	for text, want := range map[string]uint64{
		"0": 0, "1": 1, "1B": 1, "1KiB": 1024, "64GiB": 64 << 30, "100GB": 100e9, "5M": 5 << 20, "2 TiB": 2 << 40, "18446744073709551615": 1<<64 - 1, "16383PiB": 16383 << 50,
	} {
		if got, ok := size(text); !ok || got != want {
			t.Errorf("%q: %d, %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "-1", "+1", "1.5GiB", "GiB", "1gib", "16384PiB", "18446744073709551616", "0x10", "1e3", "1 1", "1GiBB", "99999999999999GB"} {
		if got, ok := size(text); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
}

func TestInstant(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	r := reader{func() time.Time { return now }}
	for text, want := range map[string]time.Time{"+2h": now.Add(2 * time.Hour), "-90s": now.Add(-90 * time.Second), "+0s": now, "2026-05-01T14:00:00+02:00": now} {
		if got, err := r.instant(text); err != nil || !got.Equal(want) {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "2h", "+", "+2", "tomorrow", "2026-05-01", "2026-05-01 12:00:00Z"} {
		if got, err := r.instant(text); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}

// FuzzFlags gives every flag of the table any text: it is taken or refused as usage,
// what is taken keeps the table's bounds, and a refusal does not tell a secret.
func FuzzFlags(f *testing.F) {
	for _, text := range []string{"", "a", "a=b", "a=b,c=d", "1GiB", "+2h", "serial=S1,min-size=1GB,rotational=true", "2026-05-01T12:00:00Z", "on", "rest", "=", ",", "\x00", "1h", mac0, "offset=1,type=x"} {
		f.Add(uint16(3), text)
	}
	var all []*param
	for _, op := range api.All() {
		for _, field := range api.Fields(op) {
			all = append(all, newParam(op.Info().Name, field, reader{func() time.Time { return time.Unix(0, 0) }}))
		}
	}
	f.Fuzz(func(t *testing.T, n uint16, text string) {
		for i := range all {
			if i%64 != int(n)%64 && n != 3 {
				continue
			}
			p := *all[i]
			err := p.Set(text)
			if err == nil && p.how != byFile && check(p.field, p.made) != nil {
				t.Errorf("%s --%s took %q", p.op, p.name, text)
			}
			if err != nil && exitOf(err) != BadUsage {
				t.Errorf("%s --%s: %v", p.op, p.name, err)
			}
		}
	})
}

const mac0 = "02:00:00:00:00:01"

// FuzzFile reads any file as any body: it is taken whole or refused as usage.
func FuzzFile(f *testing.F) {
	f.Add([]byte("hostname: n1\nlayout: {layout: gpt, disks: [{serial: S1}]}\n"))
	f.Add([]byte(`{"auto_enroll":true}`))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte(strings.Repeat("[", 200)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, op := range api.All() {
			body, ok := op.In().FieldByName("Body")
			if !ok {
				continue
			}
			if err := strict("f", raw, reflect.New(body.Type).Interface()); err != nil && exitOf(err) != BadUsage {
				t.Errorf("%v", err)
			}
		}
	})
}
