package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
)

// Whatever is sent, the answer is a problem of ours, quotes nothing, and changes
// nothing.
func TestHostileBodies(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	m.announces()
	bodies := map[string]string{
		"nothing": "", "null": "null", "list": "[]", "text": `"CANARY"`, "number": "1e999", "cut": `{"a":`, "two": `{}{}`,
		"deep": strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000), "deep list": strings.Repeat("[", 60_000),
		"unknown": `{"CANARY":1}`, "doubled": `{"code":"AAA-AAA","code":"BBB-BBB"}`, "case": `{"CODE":"AAA-AAA"}`,
		"wrong types": `{"code":7,"server_id":[],"sysinfo":"x","booter":{},"sightings":7,"ends":"never","layout":[],"set":[],"on":"yes","bytes":-1,"mode":3}`,
		"not UTF-8":   "{\"code\":\"\xff\xfe\"}", "large": `{"code":"` + strings.Repeat("CANARY", 200_000) + `"}`,
		"a null field": `{"code":null,"server_id":null,"sysinfo":null,"booter":null,"sightings":null,"mode":null,"epoch":null,"why":null}`,
	}
	before := s.rows()
	for _, a := range api.All() {
		d := a.Info()
		if _, has := a.In().FieldByName("Body"); !has {
			continue
		}
		for name, body := range bodies {
			for _, c := range []*api.Client{s.ada, s.host, m.booter, m.enroll} {
				status, said := s.raw(d, c, body)
				if status < 400 || status >= 500 || strings.Contains(said, "CANARY") || !strings.Contains(said, `"code"`) {
					t.Errorf("%s with %s: %d %.300s", d.Name, name, status, said)
				}
			}
		}
	}
	s.check(len(harm(before, s.rows())) == 0, "what was written", harm(before, s.rows()))
}

// Names in paths and queries that no client of ours sends.
func TestHostileNames(t *testing.T) {
	s := newSite(t)
	names := []string{"..", ".", "%2e%2e", "a%2fb", "%00", "%0a", "6b1f2c3d-0001-4000-8000-00000000000", "{6b1f2c3d-0001-4000-8000-000000000001}",
		"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "03000200-0400-0500-0006-000700080009", "02:00:00:00:00:0g",
		"01:00:5e:00:00:01", "ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00", "node_", "node_ILOU0000000000000000000000", strings.Repeat("a", 5000), "é", "%ff", "$%7Bx%7D", "'--"}
	before := s.rows()
	for _, a := range api.All() {
		d := a.Info()
		if !strings.Contains(d.Path, "{") || d.Auth == api.Host {
			continue
		}
		for _, name := range names {
			path := d.Path[:strings.Index(d.Path, "{")] + name + d.Path[strings.Index(d.Path, "}")+1:]
			req, err := http.NewRequestWithContext(t.Context(), d.Method, s.url, nil)
			must(t, err)
			req.URL = &url.URL{Scheme: "http", Host: strings.TrimPrefix(s.url, "http://"), Opaque: "//" + strings.TrimPrefix(s.url, "http://") + path}
			req.Header.Set("Authorization", "Bearer "+secretOf(s.ada))
			res, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				continue // the client's own library refuses to send it
			}
			raw, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			absent := res.StatusCode == http.StatusOK && d.Name == "boot.show"
			if !absent && (res.StatusCode < 400 || res.StatusCode >= 500) {
				t.Errorf("%s %.60s: %d %.200s", d.Name, name, res.StatusCode, raw)
			}
		}
	}
	s.check(len(harm(before, s.rows())) == 0, "what was written", harm(before, s.rows()))
}

// A body that comes slowly, or not to its end, is given up, and holds nothing.
func TestCutAndSlowBodies(t *testing.T) {
	t.Parallel() // it waits for a real clock
	s := newSite(t)
	settle := goroutines()
	before := s.head()
	host := strings.TrimPrefix(s.url, "http://")
	var conns []net.Conn
	for i := range 50 {
		c, err := net.Dial("tcp", host)
		must(t, err)
		_, err = fmt.Fprintf(c, "POST /v1/register HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 400000\r\n\r\n{\"server_id\":")
		must(t, err)
		if i%2 == 0 {
			_ = c.Close()
			continue
		}
		conns = append(conns, c)
	}
	answer := make([]byte, 200)
	_ = conns[0].SetReadDeadline(time.Now().Add(30 * time.Second))
	n, err := conns[0].Read(answer)
	s.check(err == nil && bytes.Contains(answer[:n], []byte(" 400 ")), "the slow one", string(answer[:n]), err)
	for _, c := range conns {
		_ = c.Close()
	}
	waitFor(t, "all are gone", func() bool { return goroutines() < settle+20 })
	s.check(s.head() == before, "rows", s.head(), before)
}

// A flood of announces with foreign sysinfos keeps memory where it was.
func TestFloodOfStrangers(t *testing.T) {
	s := newSite(t)
	ask(s, api.PolicySet, s.ada, &api.SetPolicy{Body: api.Policy{AutoEnroll: true, MaxUnapproved: 50}})
	big := func(n int) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"uuid":%q,"nics":[],"disks":[],"pad":%q}`, uuidOf(n), strings.Repeat("x", 100_000)))
	}
	var first, last runtime.MemStats
	var wg sync.WaitGroup
	for round := range 2 {
		for i := range 8 {
			wg.Go(func() {
				for j := range 15 {
					in := &api.Register{}
					n := 1 + round*10_000 + i*1000 + j
					in.Body.Server, in.Body.Sysinfo = uuidOf(n), big(n)
					_, err := api.RegistrationRegister.Call(context.Background(), s.as(""), in)
					if code := codeOf(err); err != nil && code != "RATE_LIMITED" {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		runtime.GC()
		if runtime.ReadMemStats(&last); round == 0 {
			first = last
		}
	}
	n := 0
	for key := range s.rows() {
		if strings.HasPrefix(key, "registration/") {
			n++
		}
	}
	s.check(n == 50, "rows", n)
	s.check(last.HeapAlloc < first.HeapAlloc+8<<20, "memory", first.HeapAlloc, last.HeapAlloc)
}
