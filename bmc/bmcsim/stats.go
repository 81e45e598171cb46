package bmcsim

import (
	"maps"
	"net/http"
	"slices"
	"time"
)

// Stats are what a BMC counted since it was made.
type Stats struct {
	Logins, FailedLogins int // sessions opened; wrong passwords, those of Basic too
	Sessions             int // open now
	MostSessions         int // open at once

	Requests        map[string]int // by method and path as they came, "GET /redfish/v1"; those after the first 1,024 kinds as "GET other"
	Total           int
	MostConcurrent  int
	ShortestSpacing time.Duration // between the starts of two requests; 0 before the second one

	Resets        map[string]int // requests to reset a system, by ResetType, accepted or not
	NMIs          int            // that reached a machine
	Fetched       int            // images read to their end
	FetchedBytes  int64
	EjectsWhileOn int // of a medium from a system that was on
}

// A Request is one that came. Headers, bodies and queries are not kept.
type Request struct {
	At     time.Time
	Method string
	Path   string
	Status int // 0: the connection was dropped, or it is not answered yet
	Took   time.Duration
}

const maxKinds = 1024

type statsState struct {
	Stats
	concurrent int
	last       time.Time
	log        []*visit // a ring
	oldest     int
}

// A visit is a request while it is there.
type visit struct {
	at           time.Time
	method, path string
	status       int
	took         time.Duration
	alone        int           // requests that are served now, with this one
	spacing      time.Duration // since the start of the one before; less than 0: there was none
}

// maxPath is what is kept of a path.
const maxPath = 512

func (b *BMC) enter(r *http.Request) *visit {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &b.stats
	v := &visit{at: time.Now(), method: r.Method, path: r.URL.Path, spacing: -1}
	v.path, v.method = v.path[:min(len(v.path), maxPath)], v.method[:min(len(v.method), 16)]
	s.concurrent++
	v.alone = s.concurrent
	s.MostConcurrent = max(s.MostConcurrent, s.concurrent)
	if s.Total > 0 {
		v.spacing = v.at.Sub(s.last)
		if s.Total == 1 || v.spacing < s.ShortestSpacing {
			s.ShortestSpacing = v.spacing
		}
	}
	s.last = v.at
	s.Total++
	s.count(v)
	if len(s.log) < b.o.LogSize {
		s.log = append(s.log, v)
	} else {
		s.log[s.oldest] = v
		s.oldest = (s.oldest + 1) % len(s.log)
	}
	return v
}

func (s *statsState) count(v *visit) {
	if s.Requests == nil {
		s.Requests = map[string]int{}
	}
	kind := v.method + " " + v.path
	if _, known := s.Requests[kind]; !known && len(s.Requests) >= maxKinds {
		kind = v.method + " other"
	}
	s.Requests[kind]++
}

func (b *BMC) leave(v *visit, status int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stats.concurrent--
	v.status, v.took = status, time.Since(v.at)
}

// Stats are the counts as they are now.
func (b *BMC) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(time.Now())
	out := b.stats.Stats
	out.Sessions = len(b.sessions)
	out.Requests, out.Resets = maps.Clone(out.Requests), maps.Clone(out.Resets)
	return out
}

// Log is the last requests, oldest first.
func (b *BMC) Log() []Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &b.stats
	var out []Request
	for _, v := range slices.Concat(s.log[s.oldest:], s.log[:s.oldest]) {
		out = append(out, Request{v.at, v.method, v.path, v.status, v.took})
	}
	return out
}
