// Package bmcsim simulates BMCs that speak Redfish, many in one process. Each is an
// http.Handler that answers as a recorded machine does, and is alive: power changes and
// takes time, sessions end, an override of the boot source is spent by a start, images of
// virtual media are really fetched.
//
// A [Tree] is what a machine answers; the package
// [github.com/ingotmetal/ingot/bmc/bmcsim/trees] has eighteen. A [BMC] is made of a tree
// and [Options], whose zero value is a BMC without faults. It keeps only what it changed,
// so that thousands over one tree are cheap.
//
// What real BMCs do wrong comes in three ways: as options (such as [Power].Stale), as
// [Rule]s that spoil requests by method, path and number (a lost reply, a body that does
// not end, a link to another host), and as [Quirk]s: options under a name, each with the
// public report that it is about.
//
// What is behind a system is a [Backend]; [Memory] is power and nothing else. [BMC.Stats]
// and [BMC.Log] say what a client did, without credentials.
//
// Time is that of package time, so a BMC lives in a bubble of testing/synctest, and hours
// pass at once. A [Fleet] serves many, with TLS of every kind that clients have to refuse.
//
// It knows nothing of schemas: it does not check what is in a tree, ignores queries such as
// $expand, and answers only the actions to reset systems, chassis and managers, to insert
// and eject media, and to clear a log. There are no subscriptions to events: logs are
// polled.
package bmcsim
