// Package placement sets the predicate and the index of ingot's placement
// beside the taint matching of the Kubernetes scheduler, on a fleet of 100,000
// nodes.
package placement
