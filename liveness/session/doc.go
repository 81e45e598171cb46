// Package session is the protocol between an agent and a server that holds its live
// connection: a booter before the machine is approved, the control plane after it.
//
// It is sans-IO. A [Server] and an [Agent] are the two ends as values: each takes the
// frames that came ([Server.Receive]), gives those to send ([Server.Next]), and says
// by when it wants to be asked again ([Server.Deadline]). Sockets, clocks and entropy
// stay with the caller; a value is not safe for concurrent use.
//
// # Frames
//
// A frame is one JSON object of at most [MaxFrame] bytes with a member "type" and
// what that type says. Members and types that an end does not know it ignores, so
// either may be newer; a frame that is no frame, that comes out of turn or whose
// values are out of range ends the session with *[Broken].
//
//	agent                                 server
//	hello    version, server, key, macs
//	                                      challenge  sealed      where the hello names a key
//	proof    nonce
//	                                      welcome    time, beat
//	announce sysinfo
//	                                      announced  state
//	                                      setup      epoch, bundle, order
//	progress epoch, step, done, total
//	sentinel epoch                        or failed: epoch, why
//	                                      done       epoch, state
//	                                      root       hash        of the control plane alone
//	beat                                  beat
//	                                      bye        code, why
//
// The challenge is sealed to the agent's key, and the proof is what was in it: who
// cannot open what is sealed to a key does not hold its session, so nobody makes a
// booter drain a bundle (SET-17) by naming another's key.
//
// A root password's hash travels here because nothing else that reaches a machine is
// both its own and unreadable to its segment (BOOT-3): who welcomes a machine must have
// proved it before it sends one.
//
// Only a sentinel says that a setup is written (SET-8). The end of a connection says
// nothing: an agent that lost it says so again on its next session, and the epoch
// tells whose word it is.
package session
