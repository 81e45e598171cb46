package booter_test

import (
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter"
)

func BenchmarkAnswer(b *testing.B) {
	p, rec, req := site(), enrolling(), request()
	b.ReportAllocs()
	for b.Loop() {
		if _, why := p.Answer(rec, req, now); why != "" {
			b.Fatal(why)
		}
	}
}

// Each packet is of another MAC, 1,000 a second.
func BenchmarkRecallAnswerNote(b *testing.B) {
	p, rec, req := site(), enrolling(), request()
	m := booter.NewMemory(p.Limits)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		req.MAC[3], req.MAC[4], req.MAC[5] = byte(n>>16), byte(n>>8), byte(n)
		at := now.Add(time.Duration(n) * time.Millisecond)
		req.Recent = m.Recall(&p, req, at)
		reply, why := p.Answer(rec, req, at)
		if why != "" {
			b.Fatal(why)
		}
		m.Note(req, reply, why, at)
	}
}
