package liveness_test

// The tests name the laws they hold by these numbers.
//
//	L1  A wall clock that jumps, anywhere, changes no verdict.
//	L2  An age is a difference of one observer's monotonic instants, and is
//	    stored as an age.
//	L3  What passes while the observer is suspended counts against nobody.
//	L4  A paused node becomes unreachable; its next beat makes it connected.
//	L6  Unreachable keeps new work away, and does only that.
//	L7  One beat clears unreachable, in one step with its wake edge.
//	L8  A lost gateway is worth 120 s to its own sessions and no others.
//	L9  Controller or store away for more than 20 s is worth 5 min from then on.
//	L10 Graces combine by the longest; they are not summed and never shorten.
//	L11 A fault that repeats for ever is bounded and reported.
//	L12 A late flush never counts against a node.
//	L13 A node that joined and has not said hello has a lease from its issue.
//	L14 Last seen never moves back within an epoch.
//	L15 The higher epoch wins; beats and flushes of a lower one are refused.
//	L17 The takeover of a half-open session by its own machine is no switch.
//	L18 More than 3 switches in 10 min quarantine; one machine never is.
//	L19 Counts of switches survive restarts and other gateways.
//	L23 A failure domain silent at once is frozen and reported.
//	L27 A late beat or flush brings no deleted node back.
//	L28 Outside of a grace a death is marked within lease, flush and sweep.
//
// That no verdict releases anything (L5) shows in a Change, which names two
// states and no more. The rest is kept where sessions and commits are: one live
// session a node (L16), revoked generations (L20), the storm of handshakes (L21,
// L22), the live read before a bad verdict (L24), what a cut rack replays (L25)
// and two controllers at once (L26).
