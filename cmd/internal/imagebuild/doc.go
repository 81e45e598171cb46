// Package imagebuild makes the files that machines boot, from a kernel, its modules and
// the agent: an initial RAM disk, and a unified kernel image. It needs no root, mounts
// nothing, and runs nothing of what it is given.
//
// The same inputs give the same bytes.
package imagebuild
