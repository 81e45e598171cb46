// Package bmctest holds drivers of package bmc to what they promise.
//
// A vendor's whole conformance test is one call of [Run] with a [Subject]: the
// driver, and a way to set a [Scene]. For a driver that speaks Redfish, package
// bmcsim shows every scene; see its example. A driver of another protocol brings
// a [Stage] of its own, and shows the scenes that its protocol has: a law whose
// scene is missing is reported as not run, with the reason, and never as kept.
//
// [Laws] are numbered and named. Their levels say what they need: P nothing but
// the driver, S a simulated BMC, R recorded ones, L and D a live one, which D
// turns off, restarts and gives a new password. The kit is trusted since each law
// has a driver or BMC that breaks it, in the tests of this package.
package bmctest
