//go:build !race

package simnet_test

// raceDetector says that runs are some ten times slower.
const raceDetector = false
