package tftp

import "testing"

// What a TFTP server for network boot must do over a transfer, in words; with the
// other tests named TestChecklistOf...: go test -v -run Checklist ./booter/...
func TestChecklistOfTransfers(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"mode in any case, name with a backslash; the answer comes from the address asked, at a port of its own": fetch,
		"answers come from the address that was asked, of several":                                               answersFromTheAddressAsked,
		"tsize probe ended by ERROR 8 is no failure; then the fetch without tsize":                               probeThenFetch,
		"an ERROR after the size is a probe, later an abort":                                                     endings,
		"a repeated ACK sends no DATA again in lockstep":                                                         lockstep,
		"the Sorcerer's Apprentice: a packet doubled doubles nothing":                                            sorcerersApprentice,
		"a gap in a window: sent again from the last ACK + 1":                                                    windows,
		"gaps are mended soon":                              holesAreMendedSoon,
		"block numbers wrap to 0":                           blockNumbersWrap,
		"a wrong TID gets ERROR 5, and the session goes on": wrongTID,
		"the same request from the same port is one session, and the OACK is sent again": requestTwice,
		"the same request after a silence begins anew":                                   requestAnew,
		"another request from the same port goes before":                                 anotherRequest,
		"blksize at most the MTU less 32, for IPv6 less 52":                              mtu,
		"a stranger hears nothing, whatever it asks":                                     strangers,
		"a request to a group or to all is silent":                                       groups,
		"a client that falls silent times out":                                           silentClient,
		"a client that repeats one ACK forever ends":                                     repeatingClientEnds,
		"hundreds of clients at once, where 50 sessions stall":                           manyClients,
		"1,024 sessions by default, 16 for a client":                                     defaultSessions,
	} {
		t.Run(name, test)
	}
}

func defaultSessions(t *testing.T) {
	if d := newDesk(&Server{}); d.Limits != (Limits{Sessions: 1024, PerClient: 16}) {
		t.Errorf("%+v", d.Limits)
	}
}
