// Package bmcsim simulates BMCs: each is an http.Handler that answers Redfish as a
// recorded machine does, with power that changes, sessions that end, media that are
// fetched, and faults by rule.
package bmcsim
