package demo

import (
	"context"
	"strings"

	"github.com/ingotmetal/ingot/cmd/api"
)

// follow shows what the site's log tells of machines, as any program may follow it.
func (l *lab) follow(ctx context.Context) {
	in := api.EventStream{}
	for e, err := range api.Follow(ctx, l.operator, &in) {
		if err != nil {
			return // the demo ends
		}
		l.event(e)
	}
}

// following follows until it is stopped.
func (l *lab) following(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.follow(ctx)
	}()
	return func() error {
		cancel()
		<-done
		return nil
	}
}

// shownEvents are the facts that become a line of the timeline.
var shownEvents = map[string]string{
	"boot.discovered":     "is seen, and not admitted",
	"boot.enrolling":      "boots the enrollment image from now on",
	"boot.enrolled":       "boots the image that it was given",
	"boot.decommissioned": "gets no answer any more",
}

func (l *lab) event(e api.Event) {
	means, ok := shownEvents[e.Type]
	if !ok {
		return
	}
	for _, m := range l.machines {
		if mac := m.mac.String(); strings.Contains(e.Subject+string(e.Body), mac) {
			l.say(m.name(), strings.TrimPrefix(e.Type, "boot."), mac+" "+means)
		}
	}
}
