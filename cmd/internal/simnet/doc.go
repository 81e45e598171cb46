// Package simnet is a network inside a testing/synctest bubble: streams and
// packets between named hosts, with faults, and the same history for the same
// seed.
//
// # How order is made
//
// Nothing that is sent arrives by itself. One goroutine, which [New] starts and
// [Net.Close] waits for, repeats: wait until every other goroutine of the bubble
// is blocked; collect what was sent meanwhile, as one flight a direction; let
// one flight, deadline or fault that is due happen. Among those due at the same
// instant a hash of (seed, link, instant) chooses. Each draw of a fault is a
// hash of (seed, link, number of the flight), so one link's luck does not
// depend on another's traffic, nor on how a writer cuts its bytes.
//
// # What the code under test must do for it
//
// Go orders by chance the goroutines of a process that wake at the same instant
// by timers, the cases of a select that are ready together, and goroutines that
// wait for one lock. Where such an order shows on the wire, no network can
// repair it. So: one sweeper for all deadlines of a process, or timers that
// start at a seeded offset ([Net.Offset]); one goroutine that injects faults;
// for dials that one host makes to one address at the same instant, a
// [Host.Dialer] each, with labels that differ, because a connection is named
// for host, label, address and a counter.
//
// # Rules of the bubble
//
// One Net a bubble, made inside it, and with it what the code under test draws:
// testing/cryptotest.SetGlobalRandom, called before the bubble, fixes TLS, for
// dials are done one after the other. Some of the standard library draws where
// nothing fixes it: http.Server.Shutdown polls at random intervals as long as a
// connection is open, and HTTP/2 cuts its flushes by chance (see [Lengths]).
//
// Only the Net's goroutine may call synctest.Wait; everybody else calls
// [Net.Settle]. A goroutine that waits for the network must not hold a mutex that
// another one wants: the bubble would take the other for running, and time would
// stand still. It stands still as well when two sides answer each other for ever
// and the way has no latency; the Net then panics. Close the Net before the
// bubble ends.
package simnet
