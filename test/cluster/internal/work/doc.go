// Package work describes what the program of a simulated container does: how many cores and
// bytes it needs at any time, how it starts, when it is ready and when it ends. It
// counts cores of a node of speed 1; a node of speed 2 needs half as many for the same work.
//
// Times follow the work's clock, which may run faster than the clocks on the wall. The
// package has no clock: callers pass the time. The same work with the same seed needs the same
// at the same time.
//
// The package must not know what a container, a node or a limit is, only what the program got.
package work
