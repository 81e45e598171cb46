// Package bmc sets ingot's Redfish driver beside gofish: polls of power by kept
// sessions, of simulated BMCs in a process of their own, over TLS on loopback. And
// it polls a fleet, with and without dead BMCs in it.
package bmc
