// Package benchmarks has the commands for measurements of node types: it sends measurements
// to the server, shows them and the resulting suggestions, and accepts suggestions. It builds
// on package ratios, because to accept a suggestion is to override a ratio.
//
// It must not know how a suggestion is computed.
package benchmarks
