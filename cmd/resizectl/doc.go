// Command resizectl shows people what workload-resizer knows, does and would do:
// the performance ratios of the node types, the plans of pods and why they are so,
// and what was done, also as it happens. It has measurements kept, changes ratios
// after it has shown what that means, says which pods are not to be resized, and
// checks the server's configuration before it is applied.
//
// There is a package per noun, with a file per verb: options that cobra fills, validate,
// run. This one puts their commands together, and has kubectl offer the program as a
// command of its own, if it goes by the name of a plugin. The streams are injected, so
// that the tests see exactly what a person would.
//
// It must not know how a plan is made or where ratios come from: of this
// project it imports the client and the generated API, and for those who have no
// server the parsers of configurations and feeds, so that what it calls valid is
// valid for the server, and the standalone server, so that there is one planner.
package main
