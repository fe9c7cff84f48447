// Package benchmarks has the commands for measurements of node types: it sends measurements
// to the server, shows them and the resulting suggestions, and accepts suggestions. It builds
// on package ratios, because to accept a suggestion is to override a ratio.
//
// It must not know how a suggestion is computed.
//
// The verbs of package objects print all lists. Import does not use them, because it sends many files and
// prints what became of each, nor does accept, which is a write of package ratios.
package benchmarks
