// Package chaos holds tests of what must hold however badly things go: the
// reconciler is killed at any of its writes, its requests fail, hang, or are
// done without an answer, watches break off, and people change ratios, holds,
// nodes and pods meanwhile, and other programs resize single requests and limits. In the
// end, every pod has what follows from the sizes that it was created with and from what
// others set, and nothing else.
//
// The API server is a real one; its kubelets are played. What is right is
// computed here, from the specs as they were created, with exact fractions.
//
// What happens at random follows from a seed that is logged, and that -seed sets;
// how requests of one process interleave does not. With -short, fewer processes
// are killed.
//
// It must not know the insides of the reconciler, nor how it computes sizes.
package chaos
