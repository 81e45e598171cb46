// Package ingot is the root of a library-first SDK for the life of bare-metal
// machines. It holds no types; see the packages below it.
package ingot
