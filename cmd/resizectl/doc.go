// Command resizectl shows what workload-resizer knows, does and would do: the performance
// ratios of the node types, the plans of pods with their reasons, and what was done, including as
// it happens. It imports measurements, changes ratios after showing what that means, restores
// and pauses pods, and checks the server's configuration before it is applied.
//
// There is a package per noun, with a file per verb: options that cobra fills, validate, run.
// This package combines their commands. If it has the name of a plugin, kubectl offers the
// program as one of its own commands. The streams are injected, so that the tests see exactly
// what a user would.
//
// It must not know how a plan is made or where ratios come from. Of this project, it imports
// the client and the generated API. For users without a server, it also imports the parsers
// of configurations and feeds, so that what it calls valid is valid for the server, and the
// server's planner of manifests, so that only one planner exists.
package main
