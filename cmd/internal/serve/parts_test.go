package serve

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/serve/servetest"
)

func TestStalledReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		r := start(t, func(w http.ResponseWriter, r *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					ended <- err
					return
				}
			}
		}, &Server{})
		c := r.dial("198.51.100.1:9")
		begin := time.Now()
		fmt.Fprint(c, get)
		<-ended
		if took := time.Since(begin); took != 30*time.Second {
			t.Errorf("held for %s", took)
		}
		c.Close()
		if err := r.end(); err != nil {
			t.Error(err)
		}
	})
}

// A connection that was accepted while the server was being cut gets nowhere.
func TestGateStaysShut(t *testing.T) {
	s := &Server{}
	s.prepare()
	l := servetest.Listen("192.0.2.1:80")
	in := func() *conn {
		go l.Dial(context.Background(), "198.51.100.1:9")
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return s.gate.enter(c)
	}
	if in() == nil || s.gate.count() != 1 {
		t.Fatal("the open gate is shut")
	}
	s.gate.cut()
	if in() != nil || s.gate.count() != 0 {
		t.Error("the gate lets in what comes after the cut")
	}
}

func TestTally(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var y tally
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		y.follow(nil, http.StateNew)
		leave, ok := y.enter()
		if n := y.wait(short); n != 2 || !ok {
			t.Errorf("%d are in, want 2", n)
		}
		waited := make(chan int)
		go func() { waited <- y.wait(t.Context()) }()
		y.follow(nil, http.StateIdle)
		y.follow(nil, http.StateHijacked)
		synctest.Wait()
		select {
		case n := <-waited:
			t.Errorf("waited for one of two: %d", n)
		default:
		}
		leave()
		if n := <-waited; n != 0 {
			t.Error(n)
		}
		if y.close(); y.count() != 0 {
			t.Error(y.count())
		}
		if _, ok := y.enter(); ok {
			t.Error("a closed tally lets in")
		}
	})
}
