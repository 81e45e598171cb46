// Package agent is the node agent: it tells a booter what its machine is, writes what
// was approved, keeps the key that it got, and shows that key to the control plane
// from then on.
//
// # Before approval
//
// An [Agent] draws a key when it starts (SET-17), opens a session with the booter,
// proves that it holds the key, and sets the machine's clock to the booter's before
// anything else, or does nothing (SET-7). It announces the inventory on each connection
// and whenever it changes. A setup is one at a time: the order is held against the
// machine as it is then (SET-14), package apply repeats the checks on the opened disk
// (RUN-4) and writes, the key is kept, and only then the sentinel is sent, again on
// each session until the booter says that it is done. Then the machine restarts. What
// goes wrong is told as a failure, and the agent announces again.
//
// # After it
//
// A machine that finds a kept key refreshes its row with it (REG-15), which also
// promotes a setup whose sentinel was lost (SET-13), and beats on a session with the
// control plane. Where the power went before the site's answer was heard, it restarts
// once more, so that it does not stay in the image that sets machines up. A key that is dead ends that, with a line in the log, and the agent
// announces again.
//
// That session also tells the hash of the root password that an operator set (BOOT-3,
// REG-16), which goes to [Agent.SetRoot] and nowhere else.
//
// A hand-installed machine registers (REG-2): see [Agent.Register].
//
// Everything from outside is an argument: the [Machine], the dialer, the clock and
// the entropy. Keys and bundles reach neither logs nor errors nor progress.
package agent
