// Command resizectl shows people what workload-resizer knows and what it would
// do: the performance ratios of the node types, and the plan of a pod, of a
// namespace or of the cluster. It says which pods are not to be resized, and
// checks the server's configuration before it is applied.
//
// Every command has a file of its own: options that cobra fills, validate, run.
// What a command prints is in the file named after its output. The streams are
// injected, so that the tests see exactly what a person would.
//
// It must not know how a plan is made or where ratios come from: of this
// project it imports the client, the generated API and the parser of
// configurations, so that what it calls valid is valid for the server.
package main
