package booting

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/liveness/session"
)

// deaf is a line that has ended.
type deaf struct{}

func (deaf) Do(func(*session.Server)) bool { return false }

// The bundles of a rack that is approved as one are drained some at a time: as many
// round trips as that takes, and no more at once.
func TestBundlesAreDrainedSomeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const machines, trip = 200, time.Second
		p := newPlane()
		s := &Setups{Client: p.client(), Desk: newDesk(t, place(), time.Now), Log: quiet}
		var now, most atomic.Int64
		var all []api.Approval
		for n := range machines {
			server := strings.Replace(uuid, "0001-4", "00"+hexOf([]byte{byte(n)})+"-4", 1)
			p.on("/v1/setup/"+server+"/drain", func([]byte) (any, error) {
				at := now.Add(1)
				for was := most.Load(); at > was && !most.CompareAndSwap(was, at); was = most.Load() {
				}
				time.Sleep(trip)
				now.Add(-1)
				return api.Bundle{Epoch: 1, Sealed: true}, nil
			})
			s.replace(&Machine{setups: s, server: server, told: true, hash: "h", line: deaf{}})
			all = append(all, api.Approval{Server: server, Epoch: 1, AgentKey: "h"})
		}
		began := time.Now()
		s.take(t.Context(), all)
		if took := time.Since(began); took > machines/drains*trip || most.Load() != drains || len(s.handed) != machines {
			t.Errorf("%s, %d at once, %d handed", took, most.Load(), len(s.handed))
		}
	})
}
