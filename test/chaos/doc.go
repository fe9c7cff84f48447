// Package chaos tests the rules that apply no matter what fails. The reconciler is killed at
// any of its writes. Its requests fail, hang, or succeed without an answer, and its watches
// break. Meanwhile, users change ratios, holds, nodes and pods, and other programs resize
// single requests and limits. In the end, every pod has exactly the sizes and annotations
// that follow from the sizes that it was created with and from those that other actors set.
// A test of its own lets sizes follow usage, of which the source changes, fails, and ends.
//
// The API server is real; its kubelets are simulated. The package computes the correct
// sizes by itself, from the specs as created, with exact fractions.
//
// Random events follow from a seed, which is logged and which -seed sets. How the
// requests of one process interleave does not follow from it. With -short, fewer
// processes are killed.
//
// It must not know the internals of the reconciler, nor how it computes sizes.
package chaos
