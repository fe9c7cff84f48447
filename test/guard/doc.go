// Package guard makes resizes hurt, and tests what comes of it. The containers of a real cluster
// work, the real server lowers them, and then they run out of memory, fail, or are never ready
// again. Each such pod must get its former size back within seconds, or show why it cannot. Pods
// that fare badly for other reasons keep their size. If too many resizes hurt, sizing must stop. It
// also kills servers at each of their writes, changes the leader, and stops the API server while a
// resize hurts.
//
// "make soak-guard" does so with many more pods.
//
// It must not know the internals of the server, nor how it judges a resize.
package guard
